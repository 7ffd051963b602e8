// What stands beside a tokenizer's file: tokenizer_config.json, special_tokens_map.json, added_tokens.json,
// config.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/added_tokens.h"
#include "text/json_field.h"

namespace qkv::text {

/// Special tokens by the names of these files and of chat templates, and by those of GGUF.
struct SpecialTokenName {
  const char* of_files;
  const char* of_gguf;
};
inline constexpr std::array<SpecialTokenName, 7> kSpecialTokenNames = {{{"bos_token", "bos"},
                                                                        {"eos_token", "eos"},
                                                                        {"unk_token", "unknown"},
                                                                        {"sep_token", "seperator"},
                                                                        {"pad_token", "padding"},
                                                                        {"cls_token", "cls"},
                                                                        {"mask_token", "mask"}}};

/// Files that are not there are empty objects.
struct FilesBeside {
  std::string folder = {};
  Json config = Json::object();    // tokenizer_config.json
  Json specials = Json::object();  // special_tokens_map.json
  Json added = Json::object();     // added_tokens.json
  std::string model_type = {};     // of config.json; empty if there is none
  std::string model_class = {};    // its tokenizer_class, likewise
  bool any = false;                // one of the four files is there
  std::vector<std::string>* cautions = nullptr;

  /// tokenizer_class without "Fast" at its end, or what `transformers` takes for the model_type; empty if unknown.
  [[nodiscard]] std::string tokenizer_class() const;
  [[nodiscard]] std::optional<bool> flag(const char* name) const;
  [[nodiscard]] bool flag(const char* name, bool usual) const { return flag(name).value_or(usual); }
  /// The text of a special token: a string, or an object with "content".
  [[nodiscard]] std::optional<std::string> token(const char* name) const;
  /// These, but for names that no file says with tokens of `usual`: pairs of a name and a text.
  [[nodiscard]] FilesBeside with_usual(std::initializer_list<std::pair<const char*, const char*>> usual) const;
  /// Tells whoever opened the folder, if somebody listens.
  void caution(const std::string& what) const;
};

/// Throws Error naming a file that is no object of JSON; config.json is left to whoever reads the model.
[[nodiscard]] FilesBeside read_files_beside(const std::filesystem::path& file, std::vector<std::string>* cautions);

/// The pieces that a tokenizer has without the files beside it.
struct KnownPieces {
  std::function<std::optional<std::int32_t>(const std::string& piece)> find;
  std::int32_t size = 0;
};

/// Of a "vocab" of tokenizer.json: numbers by pieces, or pieces with their scores.
[[nodiscard]] KnownPieces known_pieces(const Json& vocab);

/// `had`, and behind them the tokens that the files add, as `transformers` adds them: added_tokens_decoder, or without
/// it added_tokens.json; then special tokens by their name, additional_special_tokens and extra_special_tokens. A token
/// that is a piece has its number, another the next one, whatever number the file says; a difference is named.
[[nodiscard]] std::vector<AddedToken> with_tokens_beside(const FilesBeside& files, std::vector<AddedToken> had,
                                                         const std::function<KnownPieces()>& pieces);

[[nodiscard]] Json json_of(const AddedToken& token);

}  // namespace qkv::text
