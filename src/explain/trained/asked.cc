#include "explain/trained/asked.h"

#include <algorithm>

#include "qkv/image.h"

namespace qkv::explain_detail {
namespace {

TaskExample image_example(const TrainedModel& trained, const TensorView& picture) {
  TaskExample example;
  example.image = image_of(picture, trained.task().lengths().image_side);
  example.tokens = {trained.task().vocabulary().id("<s>")};
  example.labels.resize(1);
  example.scored.resize(1);
  return example;
}

TaskExample given_example(const TrainedModel& trained, const ModelQuestion& question) {
  const bool reads_images = trained.task().lengths().image_side > 0;
  const bool is_text = question.text.has_value();
  const bool is_picture = !question.picture.empty();
  if (question.example) {
    if (is_text || is_picture) refuse("example", "no text beside it", "one");
    if (!trained.has_examples()) refuse("example", "a text: this model's examples are not here", "a number");
    return trained.task().example(Split::test, *question.example);
  }
  if (reads_images) {
    if (!is_picture) refuse("picture", "a picture, or an example", is_text ? "a text" : "none");
    return image_example(trained, question.picture);
  }
  if (is_picture) refuse("picture", "a text: this model reads no images", "a picture");
  if (!is_text) refuse("text", "a text, or an example", "none");
  return said_of("text", [&] { return trained.example_of(*question.text); });
}

// Lets the model write as many tokens as the question or the task wants. The last token of a sum is said, but the
// examples do not hold it, nor need a model have a vector for its place.
void write_answer(const TrainedModel& trained, const ModelQuestion& question, Asked& asked) {
  std::int64_t most = question.answer.value_or(0);
  if (!question.answer && trained.task().vocabulary().find("</s>")) {
    most = trained.task().lengths().tokens - static_cast<std::int64_t>(asked.shown.tokens.size());
  } else if (!question.answer) {
    const std::int64_t length = trained.answer_length(asked.shown.tokens.back());
    asked.is_open = length > 0;
    most = length - 1;
  }
  trained.answer(asked.shown, {.most = std::max<std::int64_t>(most, 0)});
}

std::vector<TaskExample> pairs_of(const TrainedModel& trained, const ModelQuestion& question,
                                  const TaskExample& example) {
  std::vector<TaskExample> pairs;
  if (question.example) pairs.push_back(example);
  for (const std::string& caption : question.captions) {
    TaskExample& pair = pairs.emplace_back(said_of("captions", [&] { return trained.example_of(caption); }));
    pair.image = example.image;
  }
  if (pairs.empty()) {
    refuse("captions", "what the image may show, such as \"a red circle\": this model says how near a text is", "none");
  }
  return pairs;
}

}  // namespace

void refuse(const char* argument, const std::string& expected, const std::string& got) {
  throw InvalidArgument(kExplainModel, argument, expected, got);
}

bool is_pair(const TrainedModel& trained) { return trained.kind() == ModelKind::two_tower; }

Asked asked_of(const TrainedModel& trained, const ModelQuestion& question) {
  const std::string kind(name_of(trained.kind()));
  if (!question.captions.empty() && !is_pair(trained)) refuse("captions", "a two-tower model", "one of kind " + kind);
  if (question.answer && (is_pair(trained) || trained.kind() == ModelKind::encoder)) {
    refuse("answer", "a model that writes", "one of kind " + kind);
  }
  if (question.answer && question.example) refuse("answer", "a text: an example brings its answer", "an example");
  Asked asked{.shown = given_example(trained, question)};
  asked.prompt = asked.shown.tokens.size();
  if (is_pair(trained)) {
    asked.pairs = pairs_of(trained, question, asked.shown);
    asked.shown = asked.pairs.front();
  } else if (!question.example && trained.kind() != ModelKind::encoder) {
    said_of("text", [&] { write_answer(trained, question, asked); });
  }
  return asked;
}

}  // namespace qkv::explain_detail
