// The vocabulary of a GGUF file (llama.cpp's format), as a tokenizer.json that says the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace qkv::tests {

struct GgufVocabulary {
  std::string model;  // "bert", "gpt2", "llama"
  std::vector<std::string> tokens;
  std::vector<std::string> merges = {};
  std::vector<double> scores = {};
  std::vector<std::int32_t> types = {};  // as SentencePiece numbers them
};

/// Throws Error for a file that is none.
[[nodiscard]] GgufVocabulary read_gguf_vocabulary(const std::filesystem::path& path);

[[nodiscard]] nlohmann::json tokenizer_json(const GgufVocabulary& vocabulary);

}  // namespace qkv::tests
