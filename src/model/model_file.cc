// A model's file: safetensors, whose metadata hold the config and the tokenizers.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/number_text.h"
#include "files/checksum.h"
#include "files/mapped_file.h"
#include "files/place.h"
#include "model/families/folder.h"
#include "model/families/gguf.h"
#include "model/families/sentence_files.h"
#include "model/weights.h"
#include "model/words.h"
#include "qkv/model/model.h"

namespace qkv {
namespace {

constexpr std::string_view kModel = "model";
constexpr std::string_view kTokenizer = "tokenizer";
constexpr std::string_view kSourceTokenizer = "source_tokenizer";
constexpr const char* kEnds = "writing.ends";  // "2,5"
constexpr const char* kPadding = "reading.padding";
constexpr const char* kChatTemplate = "reading.chat_template";
constexpr std::string_view kClasses = "classes";               // "classes.0"
constexpr std::string_view kSpecialTokens = "special_tokens";  // "special_tokens.eos_token"

// For config.json, or a file beside it.
std::string folder_hint(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!files::is_there((folder / "config.json").string())) return "";
  return ": give its folder, " + (folder.empty() ? "." : folder.string());
}

void require_safetensors(std::span<const std::byte> bytes, const std::string& path) {
  const std::string_view other = files::other_than_safetensors(bytes, path);
  if (other.empty()) return;
  const std::string hint = other == files::kAnotherFile ? folder_hint(path) : "";
  throw FileError(path, files::expected_weights() + std::string(other) + hint);
}

std::shared_ptr<const Tokenizer> tokenizer_in(const Words& words) {
  return words.empty() ? nullptr : make_tokenizer(words);
}

std::vector<std::int64_t> ends_in(const Words& metadata, std::int64_t vocabulary) {
  const auto found = metadata.find(kEnds);
  if (found == metadata.end()) return {};
  const auto ends = core::numbers_from<std::int64_t>(found->second);
  const auto is_token = [&](std::int64_t end) { return end >= 0 && end < vocabulary; };
  if (ends && std::ranges::all_of(*ends, is_token)) return *ends;
  throw InvalidArgument("Model::open", kEnds, "tokens with commas between them", "\"" + found->second + "\"");
}

std::optional<std::int64_t> padding_in(const Words& metadata, std::int64_t vocabulary) {
  const auto found = metadata.find(kPadding);
  if (found == metadata.end()) return std::nullopt;
  const auto padding = core::number_from<std::int64_t>(found->second);
  if (padding && *padding >= 0 && *padding < vocabulary) return padding;
  throw InvalidArgument("Model::open", kPadding, "a token", "\"" + found->second + "\"");
}

std::vector<std::string> classes_in(const Words& metadata) {
  std::vector<std::string> classes;
  const Words words = words_of(kClasses, metadata);
  for (auto found = words.find("0"); found != words.end(); found = words.find(std::to_string(classes.size()))) {
    classes.push_back(found->second);
  }
  return classes;
}

Model undrawn(const Safetensors& file) {
  const Words& metadata = file.metadata();
  ModelTokenizers tokenizers{.tokens = tokenizer_in(words_of(kTokenizer, metadata)),
                             .source = tokenizer_in(words_of(kSourceTokenizer, metadata))};
  if (tokenizers.tokens) {
    tokenizers.ends = ends_in(metadata, tokenizers.tokens->size());
    tokenizers.padding = padding_in(metadata, tokenizers.tokens->size());
  }
  if (metadata.contains(kChatTemplate)) tokenizers.chat_template = metadata.at(kChatTemplate);
  tokenizers.classes = classes_in(metadata);
  tokenizers.special_tokens = words_of(kSpecialTokens, metadata);
  return {words_of(kModel, metadata), Init::undrawn(), DType::f32, std::move(tokenizers)};
}

// Each parameter in the dtype in which the file has it: models of others have norms of f32 beside weights of bf16.
void take_dtypes(const Safetensors& file, const Parameters& parameters) {
  for (const Parameter& parameter : parameters) {
    if (!file.contains(parameter.name)) continue;
    Tensor tensor = file.load(parameter.name);
    const bool fits = is_floating(tensor.dtype()) && tensor.shape() == parameter.value.shape();
    if (fits && tensor.dtype() != DType::f32) parameter.value.replace_value(held_weight(std::move(tensor)));
  }
}

}  // namespace

Words words_under(std::string_view name, const Words& words) {
  Words all;
  for (const auto& [word, what] : words) all[std::string(name) + "." + word] = what;
  return all;
}

Words words_of(std::string_view name, const Words& metadata) {
  const std::string start = std::string(name) + ".";
  Words all;
  for (const auto& [word, what] : metadata) {
    if (word.starts_with(start)) all[word.substr(start.size())] = what;
  }
  return all;
}

Model Model::of_file(const Safetensors& file, const std::string& path) {
  if (words_of(kModel, file.metadata()).empty()) {
    throw FileError(path, "expected a model with its config, as qkv writes it, got tensors alone" + folder_hint(path));
  }
  files::require_sound(file);
  Model model = [&] {
    try {
      return undrawn(file);
    } catch (const InvalidArgument& damaged) {
      throw FileError(path, damaged.what());
    }
  }();
  take_dtypes(file, model.parameters());
  load_parameters(file, model.parameters(), Differences(path));
  model.file_ = std::make_shared<const Safetensors>(file);
  return model;
}

Model Model::open(const std::string& path, QuantisedWeights quantised) {
  if (files::is_folder(path)) return families::open_folder(families::transformer_folder(path), quantised);
  files::SharedBytes bytes = files::map_file(path);
  if (families::is_gguf(bytes.bytes)) return families::model_of_gguf(Gguf::read(std::move(bytes), path), quantised);
  require_safetensors(bytes.bytes, path);
  return of_file({std::move(bytes), path}, path);
}

std::map<std::string, std::string> Model::metadata() const {
  Words all = words_under(kModel, config());
  if (tokenizers_.tokens) all.merge(words_under(kTokenizer, tokenizers_.tokens->config()));
  for (const std::int64_t end : tokenizers_.ends) {
    std::string& ends = all[kEnds];
    ends += (ends.empty() ? "" : ",") + std::to_string(end);
  }
  if (tokenizers_.padding) all[kPadding] = std::to_string(*tokenizers_.padding);
  if (!tokenizers_.chat_template.empty()) all[kChatTemplate] = tokenizers_.chat_template;
  for (std::size_t n = 0; n < tokenizers_.classes.size(); ++n) {
    all[std::string(kClasses) + "." + std::to_string(n)] = tokenizers_.classes[n];
  }
  all.merge(words_under(kSpecialTokens, tokenizers_.special_tokens));
  if (tokenizers_.source) all.merge(words_under(kSourceTokenizer, tokenizers_.source->config()));
  return all;
}

void Model::save(const std::string& path, const std::map<std::string, std::string>& more) const {
  Words words = metadata();
  words.insert(more.begin(), more.end());
  write_file(path, encode_safetensors(views_of(parameters()), words));
}

}  // namespace qkv
