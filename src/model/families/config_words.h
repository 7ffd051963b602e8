// Words of a config.json that change nothing in what qkv computes, and what is said of those that nobody knows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/config_file.h"

namespace qkv::families {

/// A word that is not read, because it changes nothing here.
struct IgnoredWord {
  std::string_view word;
  std::string_view only = {};  // with this value alone, as JSON; another one is not ignored
};

/// Words of one kind, and why they change nothing. docs/model-configs.md has the same lists.
struct IgnoredWords {
  std::string_view family;  // model_type; empty: of all families
  std::string_view why;
  std::span<const IgnoredWord> words;
};

[[nodiscard]] std::span<const IgnoredWords> ignored_words();

/// Whether a gpt-oss has its experts in blocks of MXFP4, which are read.
[[nodiscard]] bool has_mxfp4(const ConfigFile& config, std::string_view family);

/// After a network was made of the config: sentences for Model::add_caution(). What was said of words that are read
/// otherwise, and one that names all words that were neither read nor are ignored. Throws Error as
/// ConfigFile::refuse() for a word that is known to change the computation.
[[nodiscard]] std::vector<std::string> cautions_of(const ConfigFile& config, std::string_view family);

}  // namespace qkv::families
