// What a sentence transformer does with its states: modules.json, and the config of its pooling.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/families/config_file.h"
#include "qkv/error.h"
#include "qkv/model/embed.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;
using families::ConfigFile;

// The words of 1_Pooling/config.json that are ours.
constexpr std::pair<const char*, Pooling> kPoolingModes[] = {{"pooling_mode_mean_tokens", Pooling::mean},
                                                             {"pooling_mode_cls_token", Pooling::first},
                                                             {"pooling_mode_lasttoken", Pooling::last},
                                                             {"pooling_mode_max_tokens", Pooling::max}};

Pooling pooling_in(const ConfigFile& config) {
  std::optional<Pooling> pooling;
  for (const std::string& word : config.words()) {
    if (!word.starts_with("pooling_mode_") || !config.flag(word, false)) continue;
    const auto* mode =
        std::ranges::find(kPoolingModes, word, [](const auto& known) { return std::string_view(known.first); });
    if (mode == std::end(kPoolingModes)) config.refuse(word, "false: a pooling that is not known");
    if (pooling) config.refuse(word, "false: one pooling at a time");
    pooling = mode->second;
  }
  return pooling.value_or(Pooling::mean);
}

std::optional<std::int64_t> longest_in(const fs::path& path) {
  constexpr const char* kWord = "max_seq_length";
  if (!fs::exists(path)) return std::nullopt;
  const ConfigFile config(path.string());
  if (!config.has(kWord)) return std::nullopt;
  const std::int64_t length = config.integer(kWord);
  if (length < 1) config.refuse(kWord, "1 or more");
  return length;
}

}  // namespace

EmbedOptions embed_options_of(const std::string& folder) {
  EmbedOptions options;
  const fs::path path = fs::path(folder) / "modules.json";
  if (!fs::is_directory(folder) || !fs::exists(path)) return options;
  std::ifstream file(path);
  const nlohmann::json modules = nlohmann::json::parse(file, nullptr, false);
  if (!modules.is_array()) throw Error(path.string() + ": expected a list of JSON, got other bytes");
  options.length = longest_in(fs::path(folder) / "sentence_bert_config.json");
  for (const nlohmann::json& module : modules) {
    const ConfigFile one(module.is_object() ? module : nlohmann::json::object(), path.string());
    const std::string type = one.text("type");
    const std::string name = type.substr(type.rfind('.') + 1);
    if (name == "Pooling") {
      options.pooling = pooling_in(ConfigFile((fs::path(folder) / one.text("path") / "config.json").string()));
    } else if (name == "Normalize") {
      options.normalised = true;
    } else if (name != "Transformer") {
      one.refuse("type", "a module Transformer, Pooling or Normalize");
    }
  }
  return options;
}

}  // namespace qkv
