#include "api/models/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/learn/model_examples.h"
#include "api/models/pass_bounds.h"
#include "core/counted.h"
#include "qkv/api/models.h"
#include "qkv/train/english_trees.h"
#include "qkv/train/trained_model.h"

namespace qkv {
namespace {

constexpr std::string_view kNumbers[] = {"f32", "f64", "file"};  // in the order of ModelNumbers

thread_local const OpensModels::Open* opener_of_thread = nullptr;

// Of pictures the tasks themselves know what they learned from.
bool says_of_texts(const TextModel& model) {
  const TextLengths lengths = model.lengths();
  return lengths.image_side == 0 && (model.has_examples() || lengths.tokens > 0 || lengths.source > 0);
}

}  // namespace

OpensModels::OpensModels(Open open) : open_(std::move(open)), outer_(opener_of_thread) { opener_of_thread = &open_; }

OpensModels::~OpensModels() { opener_of_thread = outer_; }

std::vector<AboutModel> api_detail::models_of_the_box() {
  std::vector<AboutModel> models;
  for (const std::string& name : trained_model_names()) {
    const auto task = std::ranges::find(tasks(), name, &TaskInfo::name);
    models.push_back({name, task == tasks().end() ? "" : task->description, examples_of_model(name)});
  }
  return models;
}

FieldInfo api_detail::numbers_field(const std::string& group) {
  FieldInfo field = shared_field("dtype", group);
  field.words.assign(std::begin(kNumbers), std::end(kNumbers));
  return field;
}

std::optional<ModelNumbers> model_numbers_named(std::string_view dtype) {
  const auto* const found = std::ranges::find(kNumbers, dtype);
  if (found == std::end(kNumbers)) return std::nullopt;
  return static_cast<ModelNumbers>(found - std::begin(kNumbers));
}

OpenedModel api_detail::read_model(const std::string& name, ModelNumbers numbers) {
  const auto quantised = numbers == ModelNumbers::f32 ? QuantisedWeights::as_f32 : QuantisedWeights::as_stored;
  const TrainedModel model = TrainedModel::read(trained_model_path(name), quantised);
  return std::make_shared<const TrainedModel>(numbers == ModelNumbers::f64 ? model.to(DType::f64) : model);
}

OpenedModel open_model(const std::string& name, const Saying& saying, std::optional<ModelNumbers> numbers) {
  return api_detail::open_named("model", name, saying, numbers);
}

OpenedModel api_detail::open_in_dtype(const std::string& name, std::string_view dtype, const Saying& saying) {
  const OpenedModel opened = open_model(name, saying, model_numbers_named(dtype));
  if (const std::string words = opened->model().quantised_words(); !words.empty()) saying.careful(words);
  return opened;
}

OpenedModel api_detail::open_named(std::string_view field, const std::string& name, const Saying& saying,
                                   std::optional<ModelNumbers> numbers) {
  const auto* const open = opener_of_thread;
  const OpenedModel opened = of_path(field, [&] {
    return open != nullptr ? (*open)(name, numbers) : read_model(name, numbers.value_or(ModelNumbers::f32));
  });
  for (const std::string& what : opened->model().cautions()) saying.careful(what);
  return opened;
}

void say_outside(const TextModel& model, const std::string& text, const Saying& saying) {
  if (!saying.caution || !says_of_texts(model)) return;
  Example example = model.example_of(text);
  model.mark(example);
  for (const std::string& what : model.outside(example)) saying.careful(what);
}

std::vector<std::string> api_detail::cautions_of(const TextModel& model, const Example& example) {
  std::vector<std::string> cautions = model.model().cautions();
  if (std::string words = model.model().quantised_words(); !words.empty()) cautions.push_back(std::move(words));
  if (says_of_texts(model)) std::ranges::move(model.outside(example), std::back_inserter(cautions));
  return cautions;
}

void say_outside(const TextModel& model, const Texts& texts, const Saying& saying) {
  if (!saying.caution || !says_of_texts(model)) return;
  std::vector<std::size_t> own;  // of those that are repeated the first
  for (std::size_t n = 0; n < texts.texts.size(); ++n) {
    if (n == 0 || texts.texts[n] != texts.texts[n - 1]) own.push_back(n);
  }
  if (own.size() == 1) return say_outside(model, texts.texts.front(), saying);
  std::size_t outside = 0;
  for (const std::size_t n : own) {
    std::vector<std::string> said;
    say_outside(model, texts.texts[n], {.caution = [&](const std::string& what) { said.push_back(what); }});
    if (said.empty() || ++outside > 1) continue;
    const std::string place = texts.place_of(fmt::format("texts[{}]", n)).value_or("text");
    for (const std::string& what : said) saying.careful(place + ": " + what);
  }
  if (outside > 1) saying.careful(fmt::format("{} of {} texts are such as it did not learn from", outside, own.size()));
}

EmbedOptions vectors_without_prompt(const std::string& path, const Saying& saying) {
  EmbedOptions options = embed_options_of(path);
  for (const std::string& what : options.cautions) saying.careful(what);
  if (!options.prompt.empty()) {
    saying.careful("the model's default prompt \"" + options.prompt +
                   "\" is not put before the text: write it there if it is meant");
  }
  if (options.similarity != "cosine") {
    saying.careful("the model's vectors are compared by " + options.similarity +
                   " (similarity_fn_name); what is shown are cosines");
  }
  return options;
}

HeadTexts texts_of_lines(const TextModel& trained, const FileOfTexts& file, const Saying& saying) {
  const Texts lines = texts_of(file, EmptyLines::left_out);
  api_detail::require_passes(lines, trained, api_detail::PassKeeps::layers_and_scores);
  HeadTexts read = api_detail::of_places(lines.places(), [&] { return head_texts(trained, lines.texts); });
  say_outside(trained, lines, saying);
  return read;
}

HeadTexts texts_to_look_at(const TextModel& trained, const std::vector<std::string>& texts, const Saying& saying) {
  for (const std::string& text : texts) {
    api_detail::require_pass("texts", trained, text, api_detail::PassKeeps::layers_and_scores);
  }
  HeadTexts read = head_texts(trained, texts);
  say_outside(trained, given_texts({}, texts, {}), saying);
  return read;
}

std::vector<ParsedSentence> trees_to_look_at(std::int64_t count) { return english_trees(count); }

HeadTexts texts_to_look_at(const TextModel& trained, std::int64_t count) {
  if (count < 1 || trained.has_examples()) return head_texts(trained, count);
  const bool sees = trained.traits().reads_images && !trained.traits().is_pair;
  if (sees || trained.traits().reads_sound) {
    const char* const other = trained.traits().reads_sound ? ", or sounds beside it"
                              : trained.traits().sees      ? ", or pictures beside it"
                                                           : "";
    throw InvalidArgument("head_texts", "trained",
                          std::string("a model that reads texts, or has examples of its own") + other,
                          "one of kind " + std::string(name_of(trained.kind())) + " without");
  }
  std::vector<std::string> sentences;
  for (ParsedSentence& sentence : english_trees(count)) sentences.push_back(std::move(sentence.text));
  HeadTexts texts = head_texts(trained, sentences);
  texts.described = core::counted(count, "sentence") + " of the task english";
  return texts;
}

}  // namespace qkv
