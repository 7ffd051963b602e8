// What a model writes after a text, or answers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "api/fields/refuse.h"
#include "api/models/pass_bounds.h"
#include "api/models/seen_and_heard.h"
#include "api/texts/each_once.h"
#include "core/dtype_named.h"
#include "qkv/api/texts.h"
#include "qkv/model/box.h"
#include "qkv/model/speech.h"

namespace qkv {
namespace {

using api_detail::refuse;

// " `temperature` 0.7 `top_k` 50": what is not as it is by default.
std::string draw_in_words(const GenerateOptions& draw) {
  const GenerateOptions plain;
  std::string text;
  const auto add = [&](const char* name, auto value, auto usual) {
    if (value != usual) text += fmt::format(" `{}` {}", name, value);
  };
  add("temperature", draw.temperature, plain.temperature);
  add("top_k", draw.top_k, plain.top_k);
  add("top_p", draw.top_p, plain.top_p);
  add("min_p", draw.min_p, plain.min_p);
  add("repetition_penalty", draw.repetition_penalty, plain.repetition_penalty);
  add("beams", draw.beams, plain.beams);
  if (draw.beams > 1) add("length_penalty", draw.length_penalty, plain.length_penalty);
  return text;
}

// The default is the likeliest text, also where the model's authors ask for a draw; in a conversation they have it.
void add_what_authors_ask(const GenerateRequest& request, const std::string& path, Writing& writing) {
  const std::string asked = draw_in_words(request.draw);
  const std::string done = draw_in_words(writing.options.draw);
  if (request.chat) {
    if (done != asked) writing.notes.push_back("drawn as its " + draw_options_source(path) + " asks:" + done);
    return;
  }
  const std::string theirs = draw_in_words(draw_options_of(path));
  if (theirs.empty() || !asked.empty()) return;
  writing.notes.push_back("this is the likeliest text; its " + draw_options_source(path) + " asks for" + theirs);
}

// What would change nothing, or its reader would believe that it did.
void require_effect(const GenerateRequest& request, const Given& given) {
  const GenerateOptions& draw = request.draw;
  if (given.has("length_penalty") && draw.beams == 1) refuse("length_penalty", "several `beams` beside it", "1");
  if (request.chat) {
    if (draw.beams > 1) {
      refuse("beams", "1 of a conversation, of which one answer is followed", std::to_string(draw.beams));
    }
    return;
  }
  const auto require_draws = [&](const char* field) {
    if (draw.temperature == 0) refuse(field, "a `temperature` above 0 beside it", "none");
  };
  if (given.has("seed")) require_draws("seed");
  if (request.samples > 1) require_draws("samples");
}

// Cautions for what the model did not read or could not write.
std::vector<std::string> limits_met(const GenerateRequest& request, const TextModel& model,
                                    std::span<const WrittenText> written) {
  std::vector<std::string> met;
  const auto cut =
      std::ranges::count_if(written, [](const WrittenText& text) { return text.end == WriteEnd::positions; });
  if (request.chat && cut > 0) {
    met.push_back(
        fmt::format("the model reads at most {} tokens at once, and the conversation has as many: the answer was cut; "
                    "begin a new one",
                    *model.window()));
  }
  if (request.chat) return met;
  const bool is_one = written.size() == 1;
  const auto unread = std::ranges::count_if(written, [](const WrittenText& text) { return text.unread > 0; });
  if (unread > 0) {
    const std::string without =
        is_one ? fmt::format("the end was written without the first {}", written.front().unread)
               : fmt::format("the ends of {} of {} texts were written without the beginning", unread, written.size());
    met.push_back(fmt::format("it reads at most {} tokens at once: {}", *model.window(), without));
  }
  if (cut > 0 && !request.sound.empty()) {
    met.push_back(
        fmt::format("it has positions for {} tokens, which one piece of the sound took: its end may be missing",
                    *model.positions()));
  } else if (cut > 0) {
    const std::string ends = is_one ? "the text ends" : fmt::format("{} of {} texts end", cut, written.size());
    met.push_back(fmt::format("it has positions for {} tokens: {} there", *model.positions(), ends));
  }
  return met;
}

// What is said in the sound.
GenerateFigures transcribed(const GenerateRequest& request, Writing& writing, const WritingWatch& watch) {
  if (!writing.model->traits().reads_sound) {
    refuse("sound", "a model that reads sound beside it", "one of kind " + std::string(name_of(writing.model->kind())));
  }
  const Sound sound = api_detail::sound_in("sound", request.sound, writing.model->log_mel_options().rate);
  bool has_begun = false;
  WriteOptions options = writing.options;
  if (watch.said) {
    options.said = [&](std::int64_t text, std::string_view part) {
      if (!std::exchange(has_begun, true)) watch.begins();
      watch.said(text, part);
    };
  }
  const SpeechOptions asked{.language = request.language, .translate = request.translate};
  const WrittenText written = transcribe(*writing.model, sound, asked, options);
  if (!has_begun) watch.begins();
  std::ranges::move(limits_met(request, *writing.model, {&written, 1}), std::back_inserter(writing.cautions));
  return generate_figures(api_detail::media_name(request.sound), written, writing);
}

// Each text as often as there are samples, with its line.
Texts prompts_of(const GenerateRequest& request) {
  const auto samples = static_cast<std::size_t>(request.samples);
  const Texts given = given_texts(request.text, request.texts, request.file);
  Texts prompts{.texts = {}, .file = given.file, .field = given.field};
  for (const std::string& text : given.texts) prompts.texts.insert(prompts.texts.end(), samples, text);
  for (const std::size_t line : given.line_numbers) {
    prompts.line_numbers.insert(prompts.line_numbers.end(), samples, line);
  }
  return prompts;
}

}  // namespace

WriteOptions write_options(const WriteRequest& request, const Model& model) {
  api_detail::require_each_once<std::string>("stop", request.stops, request.stops);
  WriteOptions options{.draw = request.draw, .stops = request.stops};
  options.draw.dtype = core::dtype_named(request.dtype).value_or(DType::f32);  // "file" is f32 as well
  options.draw.cache_dtype = core::dtype_named(request.cache_type.value_or(""));
  if (model.dtype() == DType::f64) options.draw.dtype = std::nullopt;
  return options;
}

Writing writing_of(const GenerateRequest& request, const Given& given) {
  require_effect(request, given);
  Writing writing;
  if (!request.chat && request.sound.empty()) writing.prompts = prompts_of(request);
  const auto numbers = request.dtype == "file" ? ModelNumbers::file : ModelNumbers::f32;
  writing.model = open_model(request.model, writing.heard(), numbers);
  writing.options = write_options(request, writing.model->model());
  if (!request.sound.empty() && !given.has("tokens")) writing.options.draw.most = kMostNewTokens;
  writing.weights = writing.model->model().quantised_words();
  const std::string path = trained_model_path(request.model);
  if (request.chat) writing.options.draw = chat_draw(writing.options.draw, given, path);
  add_what_authors_ask(request, path, writing);
  if (!writing.weights.empty()) {
    writing.notes.push_back(writing.weights + "; `dtype` f32 computes with both as f32");
  }
  if (const std::vector<std::string> words = unheeded_in_generation(path); !words.empty()) {
    writing.cautions.push_back(
        fmt::format("its {} asks for what is not done here: {}", draw_options_source(path), fmt::join(words, ", ")));
  }
  api_detail::require_passes(writing.prompts, *writing.model, api_detail::PassKeeps::layers, writing.model->window());
  return writing;
}

std::vector<GenerateFigures> generate(const GenerateRequest& request, Writing& writing, const WritingWatch& watch) {
  if (!request.sound.empty()) return {transcribed(request, writing, watch)};
  const TextModel& model = *writing.model;
  const Texts& prompts = writing.prompts;
  bool has_begun = false;
  const auto begin = [&] {
    if (std::exchange(has_begun, true)) return;
    say_outside(model, prompts, writing.heard());
    watch.begins();
  };
  WriteOptions options = writing.options;
  if (watch.said) {
    options.said = [&](std::int64_t text, std::string_view part) {
      begin();
      watch.said(text, part);
    };
  }
  const std::vector<WrittenText> written =
      api_detail::of_places(prompts.places(), [&] { return write_texts(model, prompts.texts, options); });
  begin();
  std::ranges::move(limits_met(request, model, written), std::back_inserter(writing.cautions));
  std::vector<GenerateFigures> all;
  for (std::size_t n = 0; n < written.size(); ++n) {
    all.push_back(generate_figures(prompts.texts[n], written[n], writing));
  }
  return all;
}

GenerateFigures answer_in_chat(const GenerateRequest& request, const Writing& writing, Chat& chat,
                               const std::function<void(std::string_view part)>& said) {
  WriteOptions options = writing.options;
  if (said) options.said = [&](std::int64_t, std::string_view part) { said(part); };
  const WrittenText written = chat.answer(options);
  GenerateFigures figures = chat_figures(chat, written, writing);
  std::ranges::move(limits_met(request, *writing.model, {&written, 1}), std::back_inserter(figures.cautions));
  return figures;
}

std::vector<GenerateFigures> answer(const GenerateRequest& request, const Given& given,
                                    const decltype(WriteOptions::said)& said) {
  generate_fields().require_company(request);
  const std::vector<ChatMessage> messages = request.chat ? conversation_in(request) : std::vector<ChatMessage>{};
  Writing writing = writing_of(request, given);
  if (!request.chat) return generate(request, writing, {.said = said});
  Chat chat(*writing.model);
  for (const ChatMessage& message : messages) chat.say(message);
  const auto of_answer = [&](std::string_view part) { said(0, part); };
  return {said ? answer_in_chat(request, writing, chat, of_answer) : answer_in_chat(request, writing, chat)};
}

}  // namespace qkv
