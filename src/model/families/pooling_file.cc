// config.json of a Pooling: `pooling_mode`, a word or a list of them, or the flags of before.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "model/families/sentence_files.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

// In the order in which the vectors of several flags stand end to end.
constexpr std::array<std::pair<std::string_view, Pooling>, 6> kPoolingFlags = {{
    {"pooling_mode_cls_token", Pooling::first},
    {"pooling_mode_max_tokens", Pooling::max},
    {"pooling_mode_mean_tokens", Pooling::mean},
    {"pooling_mode_mean_sqrt_len_tokens", Pooling::mean_sqrt_len_tokens},
    {"pooling_mode_weightedmean_tokens", Pooling::weightedmean},
    {"pooling_mode_lasttoken", Pooling::last},
}};
constexpr std::array<std::string_view, 10> kPoolingWords = {
    "pooling_mode",         "include_prompt",       "embedding_dimension",  "word_embedding_dimension",
    kPoolingFlags[0].first, kPoolingFlags[1].first, kPoolingFlags[2].first, kPoolingFlags[3].first,
    kPoolingFlags[4].first, kPoolingFlags[5].first};
constexpr std::string_view kMode = "pooling_mode";

Pooling pooling_of_word(const nlohmann::json& word, const ConfigFile& config) {
  constexpr std::array<std::string_view, 6> kWords = {"cls",          "max",      "mean", "mean_sqrt_len_tokens",
                                                      "weightedmean", "lasttoken"};
  const bool is_known = word.is_string() && std::ranges::find(kWords, word.get<std::string>()) != kWords.end();
  if (!is_known) {
    config.refuse(kMode, "one of cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken, or a list of them");
  }
  return pooling_named(word.get<std::string>());
}

std::vector<Pooling> poolings_of_mode(const nlohmann::json& mode, const ConfigFile& config) {
  if (!mode.is_array() || mode.empty()) return {pooling_of_word(mode, config)};
  std::vector<Pooling> all;
  for (const nlohmann::json& word : mode) all.push_back(pooling_of_word(word, config));
  return all;
}

std::vector<Pooling> poolings_of_flags(const ConfigFile& config) {
  std::vector<Pooling> all;
  for (const auto& [flag, pooling] : kPoolingFlags) {
    if (config.flag(flag, false)) all.push_back(pooling);
  }
  for (const std::string& word : config.words()) {
    const bool is_known = std::ranges::find(kPoolingWords, word) != kPoolingWords.end();
    if (word.starts_with("pooling_mode_") && !is_known && config.flag(word, false)) {
      config.refuse(word, "false: a pooling that is not known");
    }
  }
  return all.empty() ? std::vector{Pooling::mean} : all;
}

}  // namespace

void read_pooling(const std::filesystem::path& module, EmbedOptions& options) {
  const std::filesystem::path path = module / "config.json";
  const ConfigFile config(path.string());
  const auto mode = config.json().find(kMode);
  options.pooling = mode == config.json().end() ? poolings_of_flags(config) : poolings_of_mode(*mode, config);
  options.pools_prompt = config.flag("include_prompt", true);
  options.steps.clear();  // a second Pooling begins anew
  name_other_words(config, kPoolingWords, options);
}

}  // namespace qkv::families
