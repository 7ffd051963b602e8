#include "qkv/text/read_tokenizer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "core/listed.h"
#include "files/file_kind.h"
#include "files/place.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/gguf.h"
#include "text/config_words.h"
#include "text/files_beside.h"
#include "text/gguf_tokenizer.h"
#include "text/json_field.h"
#include "text/marian.h"
#include "text/older_files.h"
#include "text/pipeline_tokenizer.h"
#include "text/sentence_piece.h"
#include "text/tokenizer_class.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

// In the order in which they are looked for.
constexpr std::array<const char*, 7> kNames = {
    "tokenizer.json",         "vocab.txt", "source.spm", "vocab.json", "tokenizer.model", "spiece.model",
    "sentencepiece.bpe.model"};

std::string text_of(const fs::path& path) { return files::read_text(path.string()); }

// The bytes of a file that is not of another known kind.
std::string content_of(const fs::path& path, std::string_view wanted) {
  std::string content = files::read_bytes(path.string());
  files::refuse_other_kind(content, path.string(), wanted);
  return content;
}

// add_bos_token and add_eos_token beside a tokenizer.json, whose own template counts.
void name_other_ends(const text::FilesBeside& files, const Tokenizer& tokenizer) {
  for (const auto& [word, name] : {std::pair("add_bos_token", "bos_token"), {"add_eos_token", "eos_token"}}) {
    const auto wanted = files.flag(word);
    const auto token = files.token(name);
    const auto id = token ? tokenizer.find(*token) : std::nullopt;
    if (!wanted || !id) continue;
    const std::vector<std::int32_t> around = tokenizer.encode("").ids;
    if ((std::ranges::find(around, *id) != around.end()) == *wanted) continue;
    files.caution(std::string("tokenizer_config.json says ") + word + (*wanted ? " true" : " false") +
                  "; tokenizer.json, which counts, puts " + (*wanted ? "no " : "") + *token + " around a text");
  }
}

std::shared_ptr<const Tokenizer> read_tokenizer_json(const fs::path& path, const text::FilesBeside& files) {
  std::string content =
      content_of(path, "a file of a tokenizer (tokenizer.json, vocab.txt, vocab.json, .model, .spm, .gguf)");
  text::Json json = text::parse_json(content, path.string());
  if (text::follow_files_beside(json, files)) content = json.dump();
  auto tokenizer = text::pipeline_of(json, std::move(content), path.string());
  name_other_ends(files, *tokenizer);
  return tokenizer;
}

std::shared_ptr<const Tokenizer> read_older(text::Json json, const fs::path& path, const text::FilesBeside& files) {
  static_cast<void>(text::follow_files_beside(json, files));
  std::string content = json.dump();
  return text::pipeline_of(json, std::move(content), path.string());
}

std::shared_ptr<const Tokenizer> read_pair_of_files(const fs::path& vocab, const text::FilesBeside& files) {
  const fs::path merges = vocab.parent_path() / "merges.txt";
  const text::Json pieces = text::parse_json(text_of(vocab), vocab.string());
  if (!pieces.is_object()) text::JsonField(pieces, vocab.string()).fail("an object of pieces and their numbers");
  return read_older(text::json_of_vocab_and_merges(pieces, text_of(merges), files), vocab, files);
}

std::shared_ptr<const Tokenizer> read_gguf(const fs::path& path, std::vector<std::string>* cautions) {
  const Gguf file = Gguf::read(path.string());
  std::vector<std::string> told;
  auto tokenizer = text::fitted_gguf_tokenizer(files::GgufKeys(file), told);
  if (!tokenizer) throw FileError(path.string(), "expected a tokenizer in its metadata, got none");
  if (cautions != nullptr) cautions->insert(cautions->end(), told.begin(), told.end());
  return tokenizer;
}

std::shared_ptr<const Tokenizer> read_one_file(const fs::path& path, std::vector<std::string>* cautions) {
  if (path.extension() == ".gguf") return read_gguf(path, cautions);  // which has all of it
  const text::FilesBeside files = text::read_files_beside(path, cautions);
  if (path.extension() == ".txt") {
    text::require_known_class(files, text::OlderFile::word_piece, path.string());
    return read_older(text::json_of_vocab_text(text_of(path), files, path.string()), path, files);
  }
  if (path.extension() == ".model") {
    text::require_known_class(files, text::OlderFile::sentence_piece, path.string());
    return text::read_sentence_piece(content_of(path, "a model of SentencePiece"), files, path.string());
  }
  if (path.extension() == ".spm") return text::read_marian(path, files);
  if (path.filename() == "vocab.json") {
    text::require_known_class(files, text::OlderFile::byte_level, path.string());
    return read_pair_of_files(path, files);
  }
  return read_tokenizer_json(path, files);
}

// Empty where there is none.
fs::path tokenizer_in(const std::string& folder) {
  for (const char* name : kNames) {
    if (files::is_there((fs::path(folder) / name).string())) return fs::path(folder) / name;
  }
  return {};
}

}  // namespace

bool has_tokenizer(const std::string& folder) { return !tokenizer_in(folder).empty(); }

std::shared_ptr<const Tokenizer> read_tokenizer(const std::string& path, std::vector<std::string>* cautions) {
  if (!files::is_folder(path)) {
    require_readable(path);
    return read_one_file(path, cautions);
  }
  if (const fs::path file = tokenizer_in(path); !file.empty()) return read_one_file(file, cautions);
  throw FileError(path, "expected a folder with one of " + core::joined(kNames) + ", got one without");
}

}  // namespace qkv
