// A text question made ready: what the model reads, where it is looked at, and which tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qkv/insight/change.h"

namespace qkv::insight {

/// What stands for a function in the messages of questions.
inline constexpr const char* kQuestion = "TextQuestion";

struct ReadText {
  HeadText text;
  std::vector<std::string> tokens;        // of text.ids
  std::vector<std::string> sources = {};  // likewise, of a conversation
  std::int64_t place = 0;                 // likewise
  std::optional<std::int32_t> expected = std::nullopt;
};

/// Throws as read_shown(), and InvalidArgument naming query.
[[nodiscard]] ReadText read_question(const TextModel& trained, const TextQuestion& question);

/// The text or example that the question takes from; none if it names none. Throws InvalidArgument naming from_text or
/// from_example.
[[nodiscard]] std::optional<ReadText> read_other(const TextModel& trained, const ChangeQuestion& question);

/// The one token that the reader's text is. Throws InvalidArgument of `argument`.
[[nodiscard]] std::int32_t token_named(const TextModel& trained, const char* argument, const std::string& text);
/// The same of `against`. Throws InvalidArgument naming it for the answer itself.
[[nodiscard]] std::int32_t contrast_named(const TextModel& trained, const std::string& text, std::int32_t answer);

/// The token that is looked at, of the scores at its place: the reader's, the expected one, or the likeliest. Throws as
/// token_named().
[[nodiscard]] std::int32_t answer_to(const TextModel& trained, const TextQuestion& question, const ReadText& read,
                                     const std::vector<double>& scores);

/// A token among all of one place.
[[nodiscard]] TokenScore score_of(std::span<const double> scores, std::span<const double> probabilities,
                                  std::int32_t token);

/// The first of the largest that is a token of the vocabulary.
[[nodiscard]] std::int32_t likeliest(const TextModel& trained, std::span<const double> scores);

}  // namespace qkv::insight
