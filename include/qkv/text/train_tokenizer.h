// Learning a tokenizer from a text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace qkv {

struct TrainTokenizerOptions {
  std::int64_t size = 8000;      // pieces: 256 bytes, the merges, and "<|endoftext|>"
  std::int64_t least_count = 2;  // how often a pair must stand in the text to be merged
  /// Called now and then with how many pieces there are; may be empty.
  std::function<void(std::int64_t pieces)> progress = {};
};

/// A byte-level BPE with GPT-2's pattern, as the content of a tokenizer.json that `tokenizers` reads, too. The most
/// frequent pair of neighbours within words becomes a piece, over and over (Sennrich, Haddow and Birch 2016); of pairs
/// that are as frequent, the one whose pieces have the lower numbers. The same text gives the same tokenizer
/// everywhere. Memory holds each different word of the text once, and where each pair stands. The result has fewer
/// pieces than asked for if no pair is left. Throws InvalidArgument for a size below 257 or above 2^24, or a count
/// below 1.
[[nodiscard]] std::string train_tokenizer(std::string_view text, const TrainTokenizerOptions& options = {});

}  // namespace qkv
