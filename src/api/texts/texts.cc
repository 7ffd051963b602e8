// Texts as vectors, gaps, and what is written after a text.
#include "qkv/api/texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/models/pass_bounds.h"
#include "api/texts/each_once.h"
#include "core/dtype_named.h"
#include "qkv/api/explain.h"
#include "qkv/api/models.h"
#include "qkv/model/box.h"
#include "qkv/model/match.h"

namespace qkv {
namespace {

using api_detail::refuse;
using api_detail::shared_field;

// "file" is f32 as well.
DType computed_in(std::string_view name) { return core::dtype_named(name).value_or(DType::f32); }

// The folder's own, and what the request says beside it.
EmbedOptions embed_options(const EmbedRequest& request, const std::string& path) {
  EmbedOptions options = embed_options_of(path);
  if (!request.pooling.empty()) {
    const std::string names = fmt::format("{}", fmt::join(request.pooling, ","));
    options.pooling = poolings_named(names);
    // One text may hold several.
    if (options.pooling.size() == request.pooling.size()) {
      api_detail::require_each_once<Pooling>("pooling", request.pooling, options.pooling);
    } else {
      api_detail::require_each_once<Pooling>("pooling", std::vector(options.pooling.size(), names), options.pooling);
    }
  }
  if (request.normalise && !*request.normalise) {
    std::erase_if(options.steps, [](const VectorStep& step) { return step.normalises; });
  }
  options.normalised = request.normalise.value_or(options.normalised);
  options.dtype = computed_in(request.dtype);
  if (request.prompt_name) options.prompt = prompt_named(options, *request.prompt_name);
  if (request.prompt) options.prompt = *request.prompt;
  return options;
}

// Towers that learnt a task read the mark with which its texts begin.
EmbeddedTexts embedded_by_towers(const EmbedRequest& request, const TextModel& model, std::vector<std::string> texts) {
  if (!request.pooling.empty()) refuse("pooling", "an encoder or a decoder, whose states are pooled", "two towers");
  if (request.prompt_name) refuse("prompt_name", "none: two towers have no prompts", *request.prompt_name);
  const std::string prompt = request.prompt.value_or("");
  for (std::string& text : texts) text.insert(0, prompt);
  EmbeddedTexts embedded;
  embedded.rows = embed_texts(model, texts, computed_in(request.dtype));
  embedded.prompt = prompt;
  return embedded;
}

EmbeddedTexts embedded_by(const EmbedRequest& request, const TextModel& model, const std::vector<std::string>& texts) {
  if (model.traits().is_pair) return embedded_by_towers(request, model, texts);
  EmbedOptions options = embed_options(request, trained_model_path(request.model));
  EmbeddedTexts embedded;
  embedded.prompt = options.prompt;
  embedded.cautions = options.cautions;
  embedded.longest = options.length;
  embedded.is_default_prompt = !request.prompt_name && !request.prompt && !options.prompt.empty();
  embedded.cut_at = options.cut_at;
  options.cut = [&](std::size_t, std::int64_t) { ++embedded.cut; };
  embedded.rows = embed_texts(model.model(), texts, options);
  return embedded;
}

// As a JSON text.
std::string quoted(const std::string& text) {
  std::string line = reply_as_line(text);
  line.pop_back();  // the line break
  return line;
}

// What whoever reads the vectors should know of them.
void say_of(const EmbeddedTexts& embedded, std::size_t texts, const Saying& saying) {
  for (const std::string& what : embedded.cautions) saying.careful(what);
  if (embedded.is_default_prompt) {
    saying.careful(fmt::format("the model's default prompt {} stands before each text; an empty prompt leaves it out",
                               quoted(embedded.prompt)));
  }
  if (embedded.cut == 0) return;
  saying.careful(fmt::format("{} longer than its max_seq_length of {} tokens: the {} is left out",
                             texts == 1 ? "the text is" : fmt::format("{} of {} texts are", embedded.cut, texts),
                             *embedded.longest, embedded.cut_at == CutAt::end ? "rest" : "beginning"));
}

// What every question of a model that reads texts has.
template <class Request>
void add_texts(Fields<Request>& fields) {
  fields.add(&Request::model, shared_field("model"));
  fields.info("model").required = true;
  fields.add(&Request::text, shared_field("text"));
  fields.add(&Request::texts, texts_field());
  fields.add(&Request::file, file_fields());
}

FieldInfo dtype_field() {
  return {.name = "dtype", .form = "TYPE", .meaning = "What is computed in: f32 or bf16", .words = {"f32", "bf16"}};
}

FieldInfo dtype_or_file_field() {
  FieldInfo field = dtype_field();
  field.words.insert(field.words.begin(), "file");
  field.meaning =
      "f32 or bf16: computed in that type, quantised weights too; file: in f32, with quantised weights as the file "
      "has them and activations in 8 bits";
  return field;
}

// The number of new tokens first.
Fields<GenerateOptions> draw_fields() {
  using O = GenerateOptions;
  const std::string group = "The draw";
  Fields<O> fields;
  fields.add(&O::most,
             {.name = "tokens", .form = "N", .meaning = "New tokens, at most", .least = 0, .most = kMostNewTokens});
  const auto number = [&](const char* name, double O::* value, const char* meaning) {
    fields.add(value, {.name = name, .form = "X", .meaning = meaning, .group = group});
  };
  number("temperature", &O::temperature, "Probabilities to the power 1 / X; 0: the likeliest token");
  fields.add(&O::top_k,
             {.name = "top_k", .form = "N", .meaning = "Draw from the N likeliest; 0: from all", .group = group});
  number("top_p", &O::top_p, "Draw from the fewest likeliest tokens whose probabilities add up to X or more");
  number("min_p", &O::min_p, "Draw from tokens at least X times as probable as the likeliest");
  number("repetition_penalty", &O::repetition_penalty, "Scores of tokens that the text has, divided by X");
  fields.add(&O::seed, {.name = "seed", .form = "N", .meaning = "Of the draws", .group = group});
  fields.add(&O::beams, {.name = "beams",
                         .form = "N",
                         .meaning = "Follow the N likeliest texts, give the best",
                         .group = group,
                         .least = 1,
                         .most = kMostBeams});
  number("length_penalty", &O::length_penalty, "Of beams: scores divided by their length to the power X");
  for (const char* const drawn : {"top_k", "top_p", "min_p", "seed"}) {
    fields.info(drawn).needs = {"temperature"};
  }
  fields.info("length_penalty").needs = {"beams"};
  fields.tell_arguments({{"tokens", {"most"}}});
  fields.give_bounds({{"temperature", 0, kAnyNumber},
                      {"top_k", 0, kAnyCount},
                      {"top_p", above(0), 1},
                      {"min_p", 0, 1},
                      {"repetition_penalty", above(0), kAnyNumber},
                      {"length_penalty", -kAnyNumber, kAnyNumber}});
  return fields;
}

}  // namespace

const Fields<EmbedRequest>& embed_fields() {
  static const Fields<EmbedRequest> kFields = [] {
    using R = EmbedRequest;
    Fields<R> fields;
    add_texts(fields);
    fields.info("text").one_of = {"texts", "file"};
    fields.add(&R::pooling,
               {.name = "pooling",
                .form = "NAMES",
                .meaning = "mean, first, last, max, weightedmean or mean_sqrt_len_tokens of the states, or several "
                           "with commas between them, end to end"});
    fields.add(&R::prompt_name,
               {.name = "prompt_name", .form = "NAME", .meaning = "The folder's prompt of this name before each text"});
    fields.add(&R::prompt, {.name = "prompt",
                            .form = "[TEXT]",
                            .meaning = "Before each text; \"\" leaves out the folder's default",
                            .may_be_empty = true});
    fields.exclude({"prompt"}, {"prompt_name"}, "one of them stands before a text");
    fields.add(&R::normalise,
               {.name = "normalise", .meaning = "Scale vectors to length 1, or do not, whatever the folder says"});
    fields.add(&R::dtype, dtype_or_file_field());
    fields.give_otherwise({{"pooling", "the folder's, or mean"},
                           {"prompt_name", "its default, or none"},
                           {"normalise", "as the folder says"}});
    fields.give_examples({{"model", "english"},
                          {"text", "the cats are small"},
                          {"pooling", "max"},
                          {"prompt_name", "query"},
                          {"prompt", "query: "},
                          {"dtype", "bf16"}});
    return fields;
  }();
  return kFields;
}

const Fields<WriteRequest>& write_fields() {
  static const Fields<WriteRequest> kFields = [] {
    using R = WriteRequest;
    Fields<R> fields;
    fields.add(&R::draw, draw_fields());
    fields.add(&R::stops, {.name = "stop", .form = "TEXT", .meaning = "End a text before this"});
    fields.add(&R::dtype, dtype_field());
    fields.add(&R::cache_type, {.name = "cache_type",
                                .form = "TYPE",
                                .meaning = "What keys and values are kept in: f32, bf16, f16 or i8",
                                .words = {"f32", "bf16", "f16", "i8"}});
    fields.give_otherwise({{"cache_type", "the dtype"}});
    fields.give_examples({{"stop", "."}, {"cache_type", "bf16"}});
    fields.tell_arguments({{"stop", {"stops"}}});
    return fields;
  }();
  return kFields;
}

const Fields<GenerateRequest>& generate_fields() {
  static const Fields<GenerateRequest> kFields = [] {
    using R = GenerateRequest;
    constexpr std::int64_t kMostSamples = 1024;
    Fields<R> fields;
    add_texts(fields);
    fields.info("text").meaning = "What it goes on with";
    fields.info("text").may_be_empty = true;  // a model of a task begins one
    fields.add(&R::sound, shared_field("sound"));
    fields.info("sound").meaning += "; without `tokens` all that is said is written";
    fields.add(&R::language, {.name = "language",
                              .form = "CODE",
                              .meaning = "The language that is spoken in the sound, such as de",
                              .otherwise = "the model's, or what it hears",
                              .example = "en"});
    fields.add(&R::translate, {.name = "translate", .meaning = "Write in English what is said"});
    for (const char* const of_sound : {"language", "translate"}) fields.info(of_sound).needs = {"sound"};
    fields.exclude({"sound"}, {"chat", "samples"}, "what is said in a sound is written once");
    fields.add(chat_fields());
    fields.exclude({"chat"}, {"samples"}, "a conversation goes on in one way");
    fields.add(write_fields());
    fields.add(
        &R::samples,
        {.name = "samples", .form = "N", .meaning = "Texts after each prompt", .least = 1, .most = kMostSamples});
    for (const char* const drawn : {"top_k", "top_p", "min_p", "seed"}) {
      fields.info(drawn).needs = {};
      fields.info(drawn).needs_one = {"temperature", "chat"};  // whose model may have one of its own
    }
    fields.info("samples").needs = {"temperature"};
    fields.exclude({"samples"}, {"beams"}, "beams draw nothing");
    fields.info("text").one_of = {"texts", "chat", "file", "sound"};
    fields.info("chat").needs_one = {"user", "messages"};
    fields.info("dtype").words = dtype_or_file_field().words;
    fields.info("dtype").meaning = dtype_or_file_field().meaning;
    fields.info("dtype").fallback = "file";
    fields.give_examples({{"model", "gpt"}, {"text", "The cat"}});
    fields.tell_arguments({{"text", {"ids", "prompt", "prompts"}}, {"texts", {"ids", "prompts"}}});
    return fields;
  }();
  return kFields;
}

const Fields<FillRequest>& fill_fields() {
  static const Fields<FillRequest> kFields = [] {
    using R = FillRequest;
    Fields<R> fields;
    fields.add(&R::model,
               {.name = "model", .meaning = "An encoder that learned to: a folder or a file", .required = true});
    fields.add(&R::text, {.name = "text",
                          .meaning = "With [MASK] or <mask>, as the model has it; of english <be> and the like",
                          .required = true});
    fields.add(&R::count,
               {.name = "count", .form = "N", .meaning = "Pieces to show for each mask", .least = 1, .most = 1 << 20});
    fields.tell_arguments({{"text", {"ids"}}});
    fields.give_examples({{"model", "english"}, {"text", "the cats <be> small"}});
    return fields;
  }();
  return kFields;
}

EmbedReply embed(const EmbedRequest& request, const Saying& saying) {
  embed_fields().require_company(request);
  Texts given = given_texts(request.text, request.texts, request.file);
  const OpenedModel model = api_detail::open_in_dtype(request.model, request.dtype == "file" ? "file" : "f32", saying);
  const bool is_cut = !model->traits().is_pair;
  api_detail::require_passes(given, *model, api_detail::PassKeeps::nothing,
                             is_cut ? embed_options_of(trained_model_path(request.model)).length : std::nullopt);
  EmbeddedTexts embedded =
      api_detail::of_places(given.places(), [&] { return embedded_by(request, *model, given.texts); });
  if (!embedded.longest) {  // which a text may have more tokens than
    Texts read = given;
    for (std::string& text : read.texts) text.insert(0, embedded.prompt);
    say_outside(*model, read, saying);
  }
  say_of(embedded, given.texts.size(), saying);
  return {.texts = std::move(given.texts), .embedded = std::move(embedded)};
}

EmbedFigures embed_figures(const EmbedReply& reply, std::size_t n) {
  const auto width = static_cast<std::size_t>(reply.embedded.rows.dim(1));
  const auto row = reply.embedded.rows.values<float>().subspan(n * width, width);
  return {.text = reply.texts[n], .prompt = reply.embedded.prompt, .vector = {row.begin(), row.end()}, .cautions = {}};
}

AnyReply answer(const EmbedRequest& request, const Saying& saying) {
  const EmbedReply reply = embed(request, saying);
  if (request.text) return any_reply(embed_figures(reply, 0));
  std::vector<EmbedFigures> all;
  for (std::size_t n = 0; n < reply.texts.size(); ++n) all.push_back(embed_figures(reply, n));
  return any_reply(std::move(all));
}

FillFigures answer(const FillRequest& request, const Saying& saying) {
  const OpenedModel model = open_model(request.model, saying);
  api_detail::require_pass("text", *model, request.text, api_detail::PassKeeps::nothing);
  const std::vector<FilledMask> masks = fill_gaps(*model, request.text, request.count);
  say_outside(*model, request.text, saying);
  return fill_figures(request.text, masks, model->tokenizer());
}

}  // namespace qkv
