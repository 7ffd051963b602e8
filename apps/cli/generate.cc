// qkv generate: a model goes on with texts, or answers them.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chat.h"
#include "commands.h"
#include "common_options.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "qkv/api/models.h"
#include "qkv/api/texts.h"
#include "qkv/model/box.h"
#include "saying.h"

namespace qkv::cli {
namespace {

struct GenerateArguments : GenerateRequest, ThreadsFlag {
  FileOfTexts file;
  bool json = false;
};

// Each text as often as there are samples, with its line.
Texts prompts_of(const GenerateArguments& arguments) {
  const Texts given = texts_from(arguments.text, arguments.file);
  const auto samples = static_cast<std::size_t>(arguments.samples);
  Texts prompts{.texts = {}, .file = given.file};
  for (const std::string& text : given.texts) prompts.texts.insert(prompts.texts.end(), samples, text);
  for (const std::size_t line : given.line_numbers) {
    prompts.line_numbers.insert(prompts.line_numbers.end(), samples, line);
  }
  return prompts;
}

// The default is the likeliest text, also where the model's authors ask for a draw.
void say_what_authors_ask(const std::string& path, const GenerateOptions& asked) {
  const std::string theirs = options_for(draw_options_of(path));
  if (theirs.empty() || !options_for(asked).empty()) return;
  complain("qkv generate", "this is the likeliest text; its generation_config.json asks for" + theirs);
}

void say_what_is_left_out(const std::string& path) {
  const std::vector<std::string> words = unheeded_in_generation(path);
  if (words.empty()) return;
  complain("qkv generate", fmt::format("careful: its generation_config.json asks for what is not done here: {}",
                                       fmt::join(words, ", ")));
}

void say_how_weights_are_read(const std::string& weights) {
  if (!weights.empty()) complain("qkv generate", weights + "; --dtype f32 takes the numbers of both");
}

// A line for all texts together.
void warn_of_limits(const TextModel& model, std::span<const WrittenText> written) {
  const auto say = [](const std::string& what) { complain("qkv generate", "careful: " + what); };
  const auto count = [&](const auto& holds) { return std::ranges::count_if(written, holds); };
  const bool is_one = written.size() == 1;
  const auto unread = count([](const WrittenText& text) { return text.unread > 0; });
  if (unread > 0) {
    const std::string without =
        is_one ? fmt::format("the end was written without the first {}", written.front().unread)
               : fmt::format("the ends of {} of {} texts were written without the beginning", unread, written.size());
    say(fmt::format("it reads at most {} tokens at once: {}", *model.window(), without));
  }
  const auto cut = count([](const WrittenText& text) { return text.end == WriteEnd::positions; });
  if (cut > 0) {
    const std::string ends = is_one ? "the text ends" : fmt::format("{} of {} texts end", cut, written.size());
    say(fmt::format("it has positions for {} tokens: {} there", *model.positions(), ends));
  }
}

void run_generate(GenerateArguments& arguments, const Given& given) {
  require_effect(arguments, given);
  const Texts prompts = arguments.chat ? Texts{} : prompts_of(arguments);
  const std::string path = trained_model_path(arguments.model);
  const Saying saying = saying_of("qkv generate");
  const OpenedModel opened = open_model(arguments.model, saying, weights_for(arguments));
  const TextModel& model = *opened;
  const std::string weights = model.model().quantised_words();
  if (arguments.chat) {
    say_what_is_left_out(path);
    say_how_weights_are_read(weights);
    return run_chat({.request = arguments, .given = given, .model = model, .path = path, .json = arguments.json});
  }
  WriteOptions write = write_options(arguments, model.model());
  // One text is shown as it grows. A model that reads a source, or images, does not go on with it.
  const std::vector<std::string>& texts = prompts.texts;
  const bool streams = texts.size() == 1 && !arguments.json;
  const bool goes_on = model.traits().goes_on && model.lengths().source == 0;
  bool has_begun = false;
  // Not before the first token: until then the request may be refused.
  const auto begin = [&] {
    if (std::exchange(has_begun, true)) return;
    say_what_authors_ask(path, write.draw);
    say_what_is_left_out(path);
    say_how_weights_are_read(weights);
    if (texts.size() == 1) say_outside(model, texts.front(), saying);
    if (streams && goes_on) print(texts.front());
  };
  if (streams) {
    write.said = [&](std::int64_t, std::string_view part) {
      begin();
      print(part);
      flush_output();
    };
  }
  const std::vector<WrittenText> written = write_given(model, prompts, write);
  begin();
  if (streams) print("\n");
  flush_output();
  warn_of_limits(model, written);
  if (streams) return;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const std::string text = (goes_on ? texts[n] : "") + written[n].text + "\n";
    print(arguments.json ? reply_as_line(generate_figures(texts[n], written[n], weights)) : text);
  }
}

Fields<GenerateArguments> fields_of_generate() {
  Fields<GenerateArguments> fields;
  fields.add(generate_fields());
  fields.info("text").meaning = "What to go on with; - reads it from standard input";
  fields.info("chat").needs_one.clear();  // a conversation at the terminal
  fields.add(&GenerateArguments::file, file_fields("A text on each line of a file"));
  fields.info("text").one_of.emplace_back("file");
  fields.add(threads_flag());
  fields.add(&GenerateArguments::json, json_field("Print an object of JSON a text: prompt, text, tokens, end"));
  return fields;
}

}  // namespace

void add_generate(Commands& commands) {
  commands.add({.name = "generate",
                .group = "Models",
                .footer = "MODEL is one of the box, a model file of your own, or a folder as models are\n"
                          "published. One text is shown as it grows.\n"
                          "Examples:\n  qkv generate sort hello\n"
                          "  qkv generate gpt2 \"The cat sat\" --tokens 40 --temperature 0.8 --top-p 0.95\n"
                          "  qkv generate t5 \"translate English to German: The cat sat.\" --beams 4\n"
                          "  qkv generate gpt2 --file prompts.txt --stop . --json\n"
                          "  qkv generate smollm2.gguf --chat\n"
                          "  qkv generate smollm2.gguf --chat --user \"What is the capital of France?\"",
                .places = {"model", "text"}},
               fields_of_generate(), run_generate);
}

}  // namespace qkv::cli
