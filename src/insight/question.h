// A text question made ready: what the model reads, where it is looked at, and which tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/insight/change.h"

namespace qkv::insight {

/// What stands for a function in the messages of questions.
inline constexpr const char* kQuestion = "TextQuestion";

struct ReadText {
  HeadText text;
  std::vector<std::string> tokens;  // of text.ids
  std::int64_t place = 0;           // likewise
  std::optional<std::int32_t> expected = std::nullopt;
};

/// Throws InvalidArgument naming text, example, query or model.
[[nodiscard]] ReadText read_question(const TrainedModel& trained, const TextQuestion& question);

/// The one token that the reader's text is. Throws InvalidArgument of `argument`.
[[nodiscard]] std::int32_t token_named(const TrainedModel& trained, const char* argument, const std::string& text);

/// Whether the model says tokens; else it gives states.
[[nodiscard]] bool has_scores(const TrainedModel& trained);
/// Where a trace has the scores of the vocabulary, [1, T, vocabulary], and the last states, [1, T, d].
[[nodiscard]] std::string logits_name(const Model& model);
[[nodiscard]] std::string last_state_name(const Model& model);

/// Of a token whose number may be of a joined text's source.
[[nodiscard]] std::string shown_answer(const TrainedModel& trained, std::int32_t token);
/// The first of the largest that is a token of the vocabulary.
[[nodiscard]] std::int32_t likeliest(const TrainedModel& trained, const std::vector<double>& scores);

}  // namespace qkv::insight
