#include "explain/trained/asked.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "insight/asked_text.h"
#include "qkv/model/shown.h"

namespace qkv::explain_detail {
namespace {

Shown shown_in(const ModelQuestion& question) {
  return {.text = question.text,
          .messages = question.messages,
          .picture = question.picture,
          .sound = question.sound,
          .example = question.example};
}

// Positions are learned for the text and for its answer, but for the answer's last token, which is said and not read.
void require_answer_fits(const TextModel& trained, const Example& example) {
  const std::optional<std::int64_t> positions = trained.positions();
  const std::int64_t answer = std::max<std::int64_t>(trained.answer_length(example.tokens.back()) - 1, 0);
  const std::int64_t most = positions.value_or(0) - answer;
  if (!positions || most < 1 || std::ssize(example.tokens) <= most) return;
  refuse("text",
         fmt::format("a text of at most {} tokens, for which there are learned positions{}", most,
                     answer > 1 ? fmt::format(" beside the {} of its answer", answer) : ""),
         fmt::format("{} tokens", example.tokens.size()));
}

std::vector<Example> pairs_of(const TextModel& trained, const ModelQuestion& question, const Example& example) {
  std::vector<Example> pairs;
  if (example.image.empty() && !question.captions.empty()) refuse("captions", "a picture beside them", "a text");
  if (question.example) pairs.push_back(example);
  for (const std::string& caption : question.captions) {
    Example& pair = pairs.emplace_back(trained.example_of(caption, {kExplainModel, "captions"}));
    pair.image = example.image;
  }
  return pairs;
}

}  // namespace

void refuse(const char* argument, const std::string& expected, const std::string& got) {
  throw InvalidArgument(kExplainModel, argument, expected, got);
}

bool is_pair(const TextModel& trained) { return trained.traits().is_pair; }

Asked asked_of(const TextModel& trained, const ModelQuestion& question) {
  const std::string kind(name_of(trained.kind()));
  if (!question.captions.empty() && !is_pair(trained)) refuse("captions", "a two-tower model", "one of kind " + kind);
  if (question.answer && !insight::is_writer(trained)) {
    refuse("answer", "a model that writes", trained.labels_tokens() ? "one that labels tokens" : "one of kind " + kind);
  }
  if (question.answer && question.example) refuse("answer", "a text: an example brings its answer", "an example");
  Asked asked;
  ReadExample read = read_shown(trained, shown_in(question), kExplainModel);
  asked.shown = std::move(read.example);
  asked.sources = std::move(read.sources);
  asked.prompt = asked.shown.tokens.size();
  if (is_pair(trained)) {
    asked.pairs = pairs_of(trained, question, asked.shown);
    if (!asked.pairs.empty()) asked.shown = asked.pairs.front();
  } else if (!question.example && !trained.traits().sees) {
    if (asked.shown.source.empty()) require_answer_fits(trained, asked.shown);
    if (insight::is_writer(trained)) {
      asked.is_open = insight::write_answer(trained, question.answer, asked.shown);
    }
    trained.mark(asked.shown);
  }
  return asked;
}

}  // namespace qkv::explain_detail

qkv::ReadExample qkv::shown_example(const TextModel& model, const ModelQuestion& question) {
  explain_detail::Asked asked = explain_detail::asked_of(model, question);
  if (!asked.sources.empty()) asked.sources.resize(asked.shown.tokens.size(), "answer");
  return {.example = std::move(asked.shown), .sources = std::move(asked.sources)};
}
