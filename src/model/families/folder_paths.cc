#include "model/families/folder_paths.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "files/place.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";

// Whatever of a folder is read, be it there or not.
constexpr std::array<std::string_view, 19> kRead = {kConfig,
                                                    "added_tokens.json",
                                                    "chat_template.jinja",
                                                    "config_sentence_transformers.json",
                                                    "generation_config.json",
                                                    "merges.txt",
                                                    "modules.json",
                                                    "preprocessor_config.json",
                                                    "sentence_bert_config.json",
                                                    "sentencepiece.bpe.model",
                                                    "source.spm",
                                                    "special_tokens_map.json",
                                                    "spiece.model",
                                                    "target.spm",
                                                    "tokenizer.json",
                                                    "tokenizer.model",
                                                    "tokenizer_config.json",
                                                    "vocab.json",
                                                    "vocab.txt"};

bool is_read(const std::string& name) {
  return name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") ||
         std::ranges::find(kRead, name) != kRead.end();
}

// In the order of their names; none where the folder cannot be listed.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

bool has_config(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / kConfig, none);
}

}  // namespace

void refuse_dangling_links(const std::string& folder) {
  for (const fs::path& path : entries_of(folder)) {
    std::error_code none;
    if (!is_read(path.filename().string()) || !fs::is_symlink(path, none)) continue;
    if (files::is_there(path.string())) continue;
    throw FileError(path.string(), "expected a file, got a link to " + fs::read_symlink(path, none).string() +
                                       ", where there is none: fetch the model again");
  }
}

void refuse_folder_above(const std::string& folder) {
  constexpr std::size_t kMost = 3;
  if (has_config(folder)) return;
  std::vector<fs::path> below = entries_of(fs::path(folder) / "snapshots");
  std::ranges::copy(entries_of(folder), std::back_inserter(below));
  std::erase_if(below, [](const fs::path& path) { return !has_config(path); });
  if (below.empty()) return;
  std::string names;
  for (std::size_t n = 0; n < std::min(kMost, below.size()); ++n) {
    names += (n == 0 ? "" : ", or ") + below[n].lexically_normal().string();
  }
  throw FileError(folder, "expected a folder with config.json, got one without: give " + names);
}

}  // namespace qkv::families
