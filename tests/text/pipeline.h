// Small tokenizers for tests.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "qkv/text/read_tokenizer.h"

namespace qkv::tests {

using nlohmann::json;

/// A WordLevel model of one piece, so that each word is a token: what is under test are the other stages.
inline std::shared_ptr<const Tokenizer> cutting(const json& stages) {
  json all = {{"model", {{"type", "WordLevel"}, {"vocab", {{"?", 0}}}, {"unk_token", "?"}}}};
  all.update(stages);
  return parse_tokenizer_json(all.dump(), "tokenizer.json");
}

inline std::shared_ptr<const Tokenizer> with_model(const json& model, const json& stages = json::object()) {
  json all = stages;
  all["model"] = model;
  return parse_tokenizer_json(all.dump(), "tokenizer.json");
}

/// The parts of a text that tokens stand for.
inline std::vector<std::string> parts_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> parts;
  for (const auto& [begin, end] : tokenizer.encode(text).offsets) parts.emplace_back(text.substr(begin, end - begin));
  return parts;
}

inline std::vector<std::string> pieces_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> pieces;
  for (const std::int32_t id : tokenizer.encode(text).ids) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

}  // namespace qkv::tests
