#include "qkv/text/read_tokenizer.h"

#include <array>
#include <filesystem>

#include "qkv/error.h"
#include "qkv/files.h"
#include "text/json_field.h"
#include "text/older_files.h"
#include "text/pipeline_tokenizer.h"
#include "text/sentence_piece.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

// In the order in which they are looked for.
constexpr std::array<const char*, 4> kNames = {"tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model"};

std::string text_of(const fs::path& path) {
  const std::vector<std::byte> bytes = read_file(path.string());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// tokenizer_config.json beside a file: an empty object where there is none.
text::Json config_beside(const fs::path& file) {
  const fs::path path = file.parent_path() / "tokenizer_config.json";
  if (!fs::exists(path)) return text::Json::object();
  text::Json config = text::parse_json(text_of(path), path.string());
  if (!config.is_object()) text::JsonField(config, path.string()).fail("an object");
  return config;
}

std::shared_ptr<const Tokenizer> read_pair_of_files(const fs::path& vocab) {
  const fs::path merges = vocab.parent_path() / "merges.txt";
  const text::Json pieces = text::parse_json(text_of(vocab), vocab.string());
  const text::Json json =
      text::json_of_vocab_and_merges(pieces, text_of(merges), config_beside(vocab), merges.string());
  return text::pipeline_from_json(json.dump(), vocab.string());
}

std::shared_ptr<const Tokenizer> read_one_file(const fs::path& path) {
  const std::string name = path.filename().string();
  if (path.extension() == ".txt") {
    const text::Json json = text::json_of_vocab_text(text_of(path), config_beside(path), path.string());
    return text::pipeline_from_json(json.dump(), path.string());
  }
  if (path.extension() == ".model") {
    const text::Json config = config_beside(path);
    return text::read_sentence_piece(text_of(path), text::ends_in(config, path.string()), path.string());
  }
  if (name == "vocab.json") return read_pair_of_files(path);
  return text::pipeline_from_json(text_of(path), path.string());
}

// Empty where there is none.
fs::path tokenizer_in(const std::string& folder) {
  for (const char* name : kNames) {
    if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return {};
}

}  // namespace

bool has_tokenizer(const std::string& folder) { return !tokenizer_in(folder).empty(); }

std::shared_ptr<const Tokenizer> read_tokenizer(const std::string& path) {
  if (!fs::is_directory(path)) return read_one_file(path);
  if (const fs::path file = tokenizer_in(path); !file.empty()) return read_one_file(file);
  std::string names;
  for (const char* name : kNames) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(path + ": expected a folder with one of " + names + ", got one without");
}

}  // namespace qkv
