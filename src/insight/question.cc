#include "insight/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/listed.h"
#include "core/said_of.h"
#include "insight/asked_text.h"
#include "insight/find_token.h"

namespace qkv::insight {
namespace {

[[noreturn]] void refuse_question(const char* argument, const std::string& expected, const std::string& got) {
  throw InvalidArgument(kQuestion, argument, expected, got);
}

ReadExample asked_example(const TextModel& trained, const TextQuestion& question) {
  if (trained.traits().is_pair && !question.example) {
    refuse_question(question.text ? "text" : "picture", "an example: two towers are asked of a picture and a text",
                    question.text ? "\"" + *question.text + "\"" : "a picture alone");
  }
  ReadExample read = read_shown(trained, question.shown(), kQuestion);
  if (question.example || trained.traits().sees) return read;
  if (is_writer(trained)) write_answer(trained, std::nullopt, read.example);
  trained.mark(read.example);
  if (!read.sources.empty()) read.sources.resize(read.example.tokens.size(), "answer");
  return read;
}

std::string without_marks(std::string text) {
  constexpr std::string_view kSpace = "␣";
  for (std::size_t at = text.find(kSpace); at != std::string::npos; at = text.find(kSpace, at)) {
    text.replace(at, kSpace.size(), " ");
  }
  return text;
}

}  // namespace

ReadText read_question(const TextModel& trained, const TextQuestion& question) {
  const ReadExample asked = asked_example(trained, question);
  const Example& example = asked.example;
  ReadText read{.text = head_text_of(trained, example), .tokens = {}, .sources = asked.sources};
  read.tokens = shown_tokens(trained, read.text);
  if (trained.traits().sees) {  // it says one thing, of the whole picture
    read.tokens = {"picture"};
    if (question.query) read.place = find_token(kQuestion, "query", *question.query, read.tokens).index;
    return read;
  }
  const auto before = static_cast<std::int64_t>(read.text.ids.size() - example.tokens.size());
  if (question.query) {
    read.place = find_token(kQuestion, "query", *question.query, read.tokens).index;
  } else {
    read.place = before + static_cast<std::int64_t>(asked_place(trained, example));
  }
  const std::int64_t own = read.place - before;
  if (own >= 0 && own < std::ssize(example.labels)) read.expected = example.labels[static_cast<std::size_t>(own)];
  return read;
}

std::optional<ReadText> read_other(const TextModel& trained, const ChangeQuestion& question) {
  if (question.from_text && question.from_example) refuse_question("from_text", "no `from_example` beside it", "both");
  if (!question.from_messages.empty()) {
    return core::said_of(kQuestion, "from_text",
                         [&] { return read_question(trained, {.messages = question.from_messages}); });
  }
  if (!question.from_text && !question.from_example) return std::nullopt;
  return core::said_of(kQuestion, question.from_text ? "from_text" : "from_example", [&] {
    return read_question(trained, {.text = question.from_text, .example = question.from_example});
  });
}

std::int32_t token_named(const TextModel& trained, const char* argument, const std::string& text) {
  const Tokenizer& vocabulary = trained.tokenizer();
  if (const auto token = vocabulary.find(text)) return *token;
  const std::vector<std::int32_t> ids = core::said_of(kQuestion, argument, [&] {
    return vocabulary.encode(without_marks(text), {.special = SpecialTokens::without}).ids;
  });
  if (ids.size() == 1) return ids.front();
  const std::string parts = core::joined(ids, [&](std::int32_t id) { return shown_token(vocabulary, id); });
  refuse_question(argument, "one token of the model",
                  fmt::format("\"{}\", which is {}{}", text, ids.size(), parts.empty() ? "" : ": " + parts));
}

std::int32_t contrast_named(const TextModel& trained, const std::string& text, std::int32_t answer) {
  const std::int32_t token = token_named(trained, "against", text);
  if (token != answer) return token;
  refuse_question("against", "a token other than the answer, with which it is contrasted",
                  fmt::format("\"{}\", which is the answer", text));
}

std::int32_t answer_to(const TextModel& trained, const TextQuestion& question, const ReadText& read,
                       const std::vector<double>& scores) {
  if (question.token) return token_named(trained, "token", *question.token);
  return read.expected ? *read.expected : likeliest(trained, scores);
}

TokenScore score_of(std::span<const double> scores, std::span<const double> probabilities, std::int32_t token) {
  const auto at = static_cast<std::size_t>(token);
  const auto above = std::ranges::count_if(scores, [&](double score) { return score > scores[at]; });
  return {.logit = scores[at], .probability = probabilities[at], .rank = 1 + above};
}

std::int32_t likeliest(const TextModel& trained, std::span<const double> scores) {
  const std::int64_t named = trained.traits().sees ? std::ssize(scores) : trained.tokenizer().size();
  const auto own = std::min<std::int64_t>(named, std::ssize(scores));
  return static_cast<std::int32_t>(std::max_element(scores.begin(), scores.begin() + own) - scores.begin());
}

}  // namespace qkv::insight
