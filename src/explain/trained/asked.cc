#include "explain/trained/asked.h"

#include <fmt/format.h>

#include <algorithm>

#include "insight/asked_text.h"
#include "qkv/model/chat.h"
#include "qkv/model/speech.h"

namespace qkv::explain_detail {
namespace {

// A captioner begins to write; else the picture stands alone, unless, of two towers, a caption comes to it.
Example image_example(const TextModel& trained, const TensorView& picture) {
  Example example;
  example.image = trained.image_of(picture);
  if (is_pair(trained) || trained.traits().sees) return example;
  example.tokens = {trained.tokenizer().id("<s>")};
  example.labels.resize(1);
  example.scored.resize(1);
  return example;
}

// The text as a message that is to be answered.
Example chat_example(const TextModel& trained, const std::string& text, std::vector<std::string>& sources) {
  const std::vector<ChatMessage> messages = {{.role = "user", .content = text}};
  const ChatTokens read = ChatForm(trained).read(messages, ChatEnd::for_answer);
  Example example;
  example.tokens = read.ids;
  example.labels.resize(read.ids.size());
  example.scored.resize(read.ids.size());
  for (const auto& message : read.messages) sources.emplace_back(message ? "user" : "template");
  return example;
}

Example given_example(const TextModel& trained, const ModelQuestion& question) {
  const bool reads_images = trained.lengths().image_side > 0;
  const bool is_text = question.text.has_value();
  const bool is_picture = !question.picture.empty();
  if (trained.traits().reads_sound) {
    if (!question.sound) refuse("sound", "a sound", is_text ? "a text" : is_picture ? "a picture" : "none");
    return example_of_sound(trained, *question.sound);
  }
  if (question.sound) refuse("sound", "a text or a picture: this model reads no sound", "a sound");
  if (question.example) {
    if (is_text || is_picture) refuse("example", "it without a text or a picture", "both");
    if (!trained.has_examples())
      refuse("example", "a text in its place, since this model comes without examples",
             fmt::format("{}", *question.example));
    return trained.examples().example(Split::test, *question.example);
  }
  if (is_pair(trained) && is_text && is_picture) refuse("text", "none beside a picture: `captions` take it", "one");
  if (reads_images && !(is_pair(trained) && is_text)) {
    if (!is_picture) refuse("picture", "a picture, or an example", is_text ? "a text" : "none");
    return image_example(trained, question.picture);
  }
  if (is_picture) refuse("picture", "a text: this model reads no images", "a picture");
  if (!is_text) refuse("text", "a text, or an example", "none");
  return trained.example_of(*question.text);
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
  if (question.chat && !question.text) refuse("chat", "a text beside it", "none");
  Asked asked;
  asked.shown = question.chat ? chat_example(trained, *question.text, asked.sources) : given_example(trained, question);
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

qkv::Example qkv::shown_example(const TextModel& model, const ModelQuestion& question) {
  return explain_detail::asked_of(model, question).shown;
}
