#include "model/families/speech_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "files/place.h"
#include "model/families/config_file.h"

namespace qkv::families {
namespace {

constexpr const char* kForced = "forced_decoder_ids";

std::map<std::string, std::int64_t> tokens_named(const ConfigFile& config, const char* word) {
  std::map<std::string, std::int64_t> all;
  if (!config.has(word)) return all;
  const ConfigFile object = config.object(word);
  for (const std::string& name : object.words()) all.emplace(name, object.integer(name));
  return all;
}

// [[1, 50259], [2, null], …], from place 1 on without a gap.
std::vector<std::optional<std::int64_t>> forced_in(const ConfigFile& config) {
  std::vector<std::optional<std::int64_t>> all;
  if (!config.has(kForced)) return all;
  const auto& list = config.json().at(kForced);
  const auto refuse = [&] { config.refuse(kForced, "pairs of a place, from 1 on, and a token"); };
  if (!list.is_array()) refuse();
  for (const nlohmann::json& pair : list) {
    const bool is_pair = pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() &&
                         (pair[1].is_null() || pair[1].is_number_integer());
    if (!is_pair || pair[0].get<std::int64_t>() != std::ssize(all) + 1) refuse();
    all.push_back(pair[1].is_null() ? std::nullopt : std::optional(pair[1].get<std::int64_t>()));
  }
  return all;
}

std::map<std::string, std::int64_t> languages_in(const ConfigFile& config) {
  std::map<std::string, std::int64_t> all;
  for (const auto& [name, token] : tokens_named(config, "lang_to_id")) all.emplace(language_code(name), token);
  return all;
}

}  // namespace

std::string_view language_code(std::string_view name) {
  const bool is_token = name.starts_with("<|") && name.ends_with("|>") && name.size() > 4;
  return is_token ? name.substr(2, name.size() - 4) : name;
}

SpeechWords speech_words_in(const std::string& folder) {
  if (!files::is_folder(folder)) return {};
  const std::filesystem::path own = std::filesystem::path(folder) / "generation_config.json";
  const std::filesystem::path usual = std::filesystem::path(folder) / "config.json";
  const ConfigFile config((files::is_there(own.string()) ? own : usual).string());
  SpeechWords words{.languages = languages_in(config),
                    .tasks = tokens_named(config, "task_to_id"),
                    .language = config.has("language") ? config.text("language") : "",
                    .task = config.has("task") ? config.text("task") : "",
                    .forced = forced_in(config)};
  if (words.forced.empty() && config.path() != usual.string()) words.forced = forced_in(ConfigFile(usual.string()));
  constexpr const char* kStart = "decoder_start_token_id";
  constexpr const char* kNoTimes = "no_timestamps_token_id";
  if (config.has(kStart)) words.start = config.integer(kStart);
  if (config.has(kNoTimes)) words.no_times = config.integer(kNoTimes);
  return words;
}

}  // namespace qkv::families
