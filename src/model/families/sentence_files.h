// The files of a sentence transformer: modules.json, the configs of its modules, and what they say of texts.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/config_file.h"
#include "qkv/model/embed.h"

namespace qkv::families {

/// A module of modules.json.
struct SentenceModule {
  std::string type;            // "sentence_transformers.models.Pooling"
  std::string kind;            // its last word
  std::filesystem::path path;  // of its files
  ConfigFile entry;
};

/// Those of a folder in their order, or none if it has no modules.json. Throws Error naming the file for a path that
/// leads out of the folder.
[[nodiscard]] std::vector<SentenceModule> sentence_modules(const std::filesystem::path& folder);

/// Where config.json and the weights of a folder lie: the path of its module Transformer ("0_Transformer" in older
/// ones), else the folder itself. Throws Error as sentence_modules(), and for modules that begin with another kind and
/// have no config.json beside them.
[[nodiscard]] std::string transformer_folder(const std::string& folder);

/// A caution for each word of a file that is not among the known ones.
void name_other_words(const ConfigFile& config, std::span<const std::string_view> known, EmbedOptions& options);

/// config.json of a Pooling.
void read_pooling(const std::filesystem::path& module, EmbedOptions& options);
/// sentence_bert_config.json of a module, and of tokenizer_config.json what cuts texts.
void read_text_config(const std::filesystem::path& transformer, bool has_modules, EmbedOptions& options);
/// config_sentence_transformers.json.
void read_prompts(const std::filesystem::path& folder, EmbedOptions& options);

/// The modules Dense and LayerNorm, with their weights in f64.
[[nodiscard]] VectorStep dense_step(const std::filesystem::path& module, EmbedOptions& options);
[[nodiscard]] VectorStep layer_norm_step(const std::filesystem::path& module, EmbedOptions& options);

}  // namespace qkv::families
