// A tokenizer that was trained, as a tokenizer.json.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace qkv::text {

/// Of pieces by their numbers, behind which comes <|endoftext|>, and the pairs that were merged.
[[nodiscard]] std::string json_of_training(std::span<const std::string> pieces,
                                           std::span<const std::pair<std::string, std::string>> merges);

}  // namespace qkv::text
