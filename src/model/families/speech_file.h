// How a folder of a transcriber says what it is asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::families {

struct SpeechWords {
  std::optional<std::int64_t> start = std::nullopt;      // decoder_start_token_id
  std::map<std::string, std::int64_t> languages = {};    // lang_to_id, by codes: "en" for "<|en|>"
  std::map<std::string, std::int64_t> tasks = {};        // task_to_id: "transcribe"
  std::optional<std::int64_t> no_times = std::nullopt;   // no_timestamps_token_id
  std::string language = {};                             // that the authors ask for
  std::string task = {};                                 // likewise
  std::vector<std::optional<std::int64_t>> forced = {};  // forced_decoder_ids from place 1 on; null: the model's choice
};

/// "en" of "<|en|>"; another text is itself.
[[nodiscard]] std::string_view language_code(std::string_view name);

/// generation_config.json, else config.json, of a folder; nothing for a file. Throws Error naming the file and the word
/// of another type.
[[nodiscard]] SpeechWords speech_words_in(const std::string& folder);

}  // namespace qkv::families
