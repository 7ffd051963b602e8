// How the authors of a folder, or of a GGUF file, mean its model to write.
#include "model/families/generation_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "files/place.h"
#include "model/families/config_file.h"
#include "model/families/gguf.h"
#include "model/families/gguf_sampling.h"
#include "qkv/model/generate.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;
using families::ConfigFile;
using families::UnreadWord;

// What is read where the folder is opened, and what changes no token: names, caches, outputs, and ways to the same
// text.
constexpr std::array<std::string_view, 31> kChangesNothing = {"_from_model_config",
                                                              "assistant_confidence_threshold",
                                                              "assistant_early_exit",
                                                              "assistant_ensemble_weight",
                                                              "assistant_lookbehind",
                                                              "bos_token_id",
                                                              "cache_config",
                                                              "cache_implementation",
                                                              "compile_config",
                                                              "continuous_batching_config",
                                                              "decoder_start_token_id",
                                                              "disable_compile",
                                                              "eos_token_id",
                                                              "is_assistant",
                                                              "low_memory",
                                                              "max_cache_len",
                                                              "max_matching_ngram_size",
                                                              "num_assistant_tokens",
                                                              "num_assistant_tokens_schedule",
                                                              "output_attentions",
                                                              "output_hidden_states",
                                                              "output_logits",
                                                              "output_scores",
                                                              "pad_token_id",
                                                              "prefill_chunk_size",
                                                              "prompt_lookup_num_tokens",
                                                              "return_dict_in_generate",
                                                              "return_legacy_cache",
                                                              "target_lookbehind",
                                                              "transformers_version",
                                                              "use_cache"};

// Values with which a word asks for nothing, as JSON; the defaults of `transformers`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kUsual = {
    {{"diversity_penalty", "0.0"},
     {"early_stopping", "false"},
     {"encoder_no_repeat_ngram_size", "0"},
     {"encoder_repetition_penalty", "1.0"},
     {"epsilon_cutoff", "0.0"},
     {"eta_cutoff", "0.0"},
     {"guidance_scale", "1.0"},
     {"min_length", "0"},
     {"min_new_tokens", "0"},
     {"no_repeat_ngram_size", "0"},
     {"num_beam_groups", "1"},
     {"num_return_sequences", "1"},
     {"penalty_alpha", "0.0"},
     {"remove_invalid_values", "false"},
     {"renormalize_logits", "false"},
     {"token_healing", "false"},
     {"trust_remote_code", "false"},
     {"typical_p", "1.0"},
     {"use_mtp", "false"},
     {"num_beams", "1"}}};

// Where the likeliest text is written, nothing is drawn; where one text is followed, no beams are compared.
constexpr std::array<std::string_view, 8> kOfDraws = {"temperature", "top_k",          "top_p",      "min_p",
                                                      "typical_p",   "epsilon_cutoff", "eta_cutoff", "top_h"};
constexpr std::array<std::string_view, 5> kOfBeams = {"early_stopping", "length_penalty", "num_beam_groups",
                                                      "diversity_penalty", "renormalize_logits"};

constexpr const char* kGenerationFile = "generation_config.json";
constexpr const char* kNeverFirst = "begin_suppress_tokens";
// Read where a sound is (speech_file.h), or of times, which are not asked for.
constexpr std::array<std::string_view, 12> kOfSpeech = {"alignment_heads",
                                                        "forced_decoder_ids",
                                                        "is_multilingual",
                                                        "lang_to_id",
                                                        "language",
                                                        "max_length",
                                                        "max_initial_timestamp_index",
                                                        "no_timestamps_token_id",
                                                        "prev_sot_token_id",
                                                        "return_timestamps",
                                                        "task",
                                                        "task_to_id"};

bool is_one_of(std::span<const std::string_view> words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

bool asks_for_nothing(const std::string& word, const nlohmann::json& value) {
  if ((value.is_array() || value.is_object()) && value.empty()) return true;
  const auto usual = std::ranges::find(kUsual, word, &std::pair<std::string_view, std::string_view>::first);
  return usual != kUsual.end() && nlohmann::json::parse(usual->second) == value;
}

std::optional<ConfigFile> generation_in(const std::string& folder) {
  const fs::path path = fs::path(folder) / kGenerationFile;
  if (!files::is_folder(folder) || !files::is_there(path.string())) return std::nullopt;
  return ConfigFile(path.string());
}

// Those of one token each; the end of a text is left out, as in `transformers`. The word counts as read only then.
std::vector<std::int64_t> bad_words_in(const ConfigFile& config) {
  constexpr const char* kWord = "bad_words_ids";
  const auto found = config.json().find(kWord);
  if (found == config.json().end() || !found->is_array()) return {};
  std::vector<std::int64_t> words;
  for (const nlohmann::json& word : *found) {
    const bool is_one = word.is_array() && word.size() == 1 && word.front().is_number_unsigned();
    if (!is_one) return {};
    words.push_back(word.front().get<std::int64_t>());
  }
  static_cast<void>(config.has(kWord));
  for (const std::int64_t end : config.integers("eos_token_id")) std::erase(words, end);
  return words;
}

std::vector<std::int64_t> never_in(const ConfigFile& config) {
  std::vector<std::int64_t> never = config.integers("suppress_tokens");
  std::ranges::copy(bad_words_in(config), std::back_inserter(never));
  return never;
}

GenerateOptions draw_options_in(const ConfigFile& config) {
  constexpr std::int64_t kUsualTopK = 50;
  GenerateOptions draw;
  draw.repetition_penalty = config.number("repetition_penalty", 1);
  if (config.flag("do_sample", false)) {
    draw.temperature = config.number("temperature", 1);
    draw.top_k = config.integer("top_k", kUsualTopK);
    draw.top_p = config.number("top_p", 1);
    draw.min_p = config.number("min_p", 0);
    return draw;
  }
  draw.beams = config.integer("num_beams", 1);
  draw.length_penalty = config.number("length_penalty", 1);
  return draw;
}

}  // namespace

GenerateOptions draw_options_of(const std::string& folder) {
  if (families::is_gguf(folder)) return families::gguf_draw_options(folder);
  const std::optional<ConfigFile> config = generation_in(folder);
  return config ? draw_options_in(*config) : GenerateOptions();
}

std::vector<std::int64_t> families::never_written_in(const std::string& folder) {
  const std::optional<ConfigFile> config = generation_in(folder);
  return config ? never_in(*config) : std::vector<std::int64_t>();
}

std::vector<std::int64_t> families::never_written_first_in(const std::string& folder) {
  const std::optional<ConfigFile> config = generation_in(folder);
  return config ? config->integers(kNeverFirst) : std::vector<std::int64_t>();
}

std::string draw_options_source(const std::string& folder) {
  return families::is_gguf(folder) ? "metadata" : kGenerationFile;
}

std::vector<std::string> unheeded_in_generation(const std::string& folder) {
  if (families::is_gguf(folder)) return families::unheeded_in_gguf(folder);
  const std::optional<ConfigFile> config = generation_in(folder);
  if (!config) return {};
  const GenerateOptions draw = draw_options_in(*config);
  static_cast<void>(never_in(*config));
  static_cast<void>(config->has(kNeverFirst));
  const bool is_of_speech = config->has("no_timestamps_token_id") || config->has("is_multilingual");
  for (const std::string_view word : kOfSpeech) {
    if (is_of_speech) config->mark_read(word);
  }
  const bool draws = draw.temperature > 0;
  const bool has_beams = config->integer("num_beams", 1) > 1;
  std::vector<std::string> all;
  if (draws && has_beams) all.push_back("num_beams " + config->shown("num_beams") + " of a draw");
  for (const UnreadWord& found : config->unread()) {
    const std::string& word = found.place;
    if (is_one_of(kChangesNothing, word) || asks_for_nothing(word, *found.value)) continue;
    if ((!draws && is_one_of(kOfDraws, word)) || (!has_beams && is_one_of(kOfBeams, word))) continue;
    all.push_back(word + " " + config->shown(word));
  }
  return all;
}

}  // namespace qkv
