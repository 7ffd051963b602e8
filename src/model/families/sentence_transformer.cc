// What a folder of a sentence transformer makes of the states of a text: modules.json and the modules it names.
#include <algorithm>
#include <array>

#include "files/json_text.h"
#include "files/place.h"
#include "model/families/gguf.h"
#include "model/families/sentence_files.h"
#include "qkv/error.h"

namespace qkv {
namespace families {
namespace {

namespace fs = std::filesystem;

// Below the folder, in POSIX's way of writing and in that of Windows.
bool leads_below(const std::string& path) {
  const bool has_drive = path.size() > 1 && path[1] == ':';
  if (path.starts_with('/') || path.starts_with('\\') || has_drive || path.find('\0') != std::string::npos) {
    return false;
  }
  std::string slashes = path;
  std::ranges::replace(slashes, '\\', '/');
  return std::ranges::none_of(fs::path(slashes), [](const fs::path& part) { return part == ".."; });
}

SentenceModule module_of(const nlohmann::json& json, const fs::path& folder, const std::string& file) {
  const ConfigFile entry(json.is_object() ? json : nlohmann::json::object(), file);
  const std::string type = entry.text("type");
  const std::string path = entry.text("path", "");
  if (!leads_below(path)) entry.refuse("path", "a path below the folder");
  return {.type = type, .kind = type.substr(type.rfind('.') + 1), .path = folder / path, .entry = entry};
}

void normalise_after(const SentenceModule& module, EmbedOptions& options) {
  const fs::path config = module.path / "config.json";
  if (module.path.has_filename() && files::is_there(config.string())) {
    const ConfigFile file(config.string());
    for (const char* word : {"module_input_name", "module_output_name"}) {
      if (file.text(word, "sentence_embedding") != "sentence_embedding") file.refuse(word, "\"sentence_embedding\"");
    }
  }
  options.steps.push_back({.module = module.path.filename().string(), .normalises = true});
}

void read_module(const SentenceModule& module, bool has_pooling, EmbedOptions& options) {
  constexpr const char* kComputed =
      "Transformer, Pooling, Dense, LayerNorm, Dropout or Normalize of sentence_transformers";
  constexpr std::array<std::string_view, 4> kBehind = {"Dense", "LayerNorm", "Dropout", "Normalize"};
  if (!module.type.starts_with("sentence_transformers.")) module.entry.refuse("type", kComputed);
  if (module.kind == "Pooling") return read_pooling(module.path, options);
  if (std::ranges::find(kBehind, module.kind) == kBehind.end()) module.entry.refuse("type", kComputed);
  if (!has_pooling) module.entry.refuse("type", "a Pooling before it");
  if (module.kind == "Dense") options.steps.push_back(dense_step(module.path, options));
  if (module.kind == "LayerNorm") options.steps.push_back(layer_norm_step(module.path, options));
  if (module.kind == "Normalize") normalise_after(module, options);
}

// Of a folder without modules.json: what goes on with a text has read all of it at its last token.
Pooling usual_pooling(const fs::path& folder) {
  constexpr const char* kWord = "architectures";
  const fs::path path = folder / "config.json";
  if (!files::is_there(path.string())) return Pooling::mean;
  const ConfigFile config(path.string());
  const std::vector<std::string> names = config.has(kWord) ? config.texts(kWord) : std::vector<std::string>();
  const bool goes_on = !names.empty() && names.front().ends_with("ForCausalLM") && config.flag("is_causal", true);
  return goes_on ? Pooling::last : Pooling::mean;
}

}  // namespace

void name_other_words(const ConfigFile& config, std::span<const std::string_view> known, EmbedOptions& options) {
  for (const std::string& word : config.words()) {
    if (std::ranges::find(known, word) != known.end() || !config.has(word)) continue;
    options.cautions.push_back(config.path() + ": " + word + " is not known to qkv: it is left out");
  }
}

std::vector<SentenceModule> sentence_modules(const fs::path& folder) {
  const fs::path path = folder / "modules.json";
  if (!files::is_there(path.string())) return {};
  const nlohmann::json json = files::read_json(path.string());
  if (!json.is_array() || json.empty())
    throw FileError(path.string(), "expected a list of JSON with a module or more, got other bytes");
  std::vector<SentenceModule> modules;
  for (const nlohmann::json& module : json) modules.push_back(module_of(module, folder, path.string()));
  return modules;
}

std::string transformer_folder(const std::string& folder) {
  const std::vector<SentenceModule> modules = sentence_modules(folder);
  if (modules.empty()) return folder;
  const SentenceModule& first = modules.front();
  if (first.kind == "Transformer") return first.path == fs::path(folder) / "" ? folder : first.path.string();
  if (files::is_there((fs::path(folder) / "config.json").string())) return folder;
  first.entry.refuse("type", "a module Transformer");
}

}  // namespace families

EmbedOptions embed_options_of(const std::string& folder) {
  using families::SentenceModule;
  constexpr std::array<std::string_view, 5> kWords = {"idx", "name", "path", "type", "kwargs"};
  EmbedOptions options;
  if (families::is_gguf(folder)) return families::gguf_embed_options(folder);
  if (!std::filesystem::is_directory(folder)) return options;
  const std::vector<SentenceModule> modules = families::sentence_modules(folder);
  families::read_text_config(families::transformer_folder(folder), !modules.empty(), options);
  if (modules.empty()) {
    options.pooling = {families::usual_pooling(folder)};
    return options;
  }
  families::read_prompts(folder, options);
  bool has_pooling = false;
  for (const SentenceModule& module : modules) {
    families::name_other_words(module.entry, kWords, options);
    const bool is_first = &module == &modules.front();
    if (is_first && module.kind == "Transformer" && module.type.starts_with("sentence_transformers.")) continue;
    families::read_module(module, has_pooling, options);
    has_pooling = has_pooling || module.kind == "Pooling";
  }
  if (!has_pooling)
    throw FileError((std::filesystem::path(folder) / "modules.json").string(), "expected a module Pooling, got none");
  return options;
}

}  // namespace qkv
