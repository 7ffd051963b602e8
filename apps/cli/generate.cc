// qkv generate: a model goes on with texts, or answers them.
#include <utility>

#include "chat.h"
#include "commands.h"
#include "lines.h"

namespace qkv::cli {
namespace {

struct GenerateArguments : GenerateRequest {
  FileOfTexts file;
};

// Each text, of one of them as it grows. A model that reads a source, or images, does not go on with it.
void write_after(const Asked<GenerateArguments>& asked, const Texts& prompts, Writing& writing) {
  const Manner& how = asked.how;
  const TextModel& model = *writing.model;
  const std::vector<std::string>& texts = prompts.texts;
  const bool streams = texts.size() == 1 && !how.json;
  const bool goes_on = model.traits().goes_on && model.lengths().source == 0;
  bool has_begun = false;
  // Not before the first token: until then the request may be refused.
  const auto begin = [&] {
    if (std::exchange(has_begun, true)) return;
    if (texts.size() == 1) say_outside(model, texts.front(), writing.heard());
    say_before(how, writing);
    if (streams && goes_on) print(texts.front());
  };
  if (streams) {
    writing.options.said = [&](std::int64_t, std::string_view part) {
      begin();
      print(part);
      flush_output();
    };
  }
  const std::vector<WrittenText> written = write_given(model, prompts, writing.options);
  begin();
  if (streams) print("\n");
  flush_output();
  for (const std::string& met : limits_met(asked, model, written)) {
    how.careful(met);
    writing.cautions.push_back(met);
  }
  for (std::size_t n = 0; n < texts.size() && !streams; ++n) {
    print(how.json ? reply_as_line(generate_figures(texts[n], written[n], writing))
                   : (goes_on ? texts[n] : "") + written[n].text + "\n");
  }
}

void run_generate(Asked<GenerateArguments>& asked, const Given& given) {
  require_effect(asked, given);
  if (!asked.chat) read_input(asked.text, asked.file);
  const Texts prompts = asked.chat ? Texts{} : prompts_of(asked, asked.file);
  Writing writing = writing_of(asked, given);
  asked.chat ? run_chat(asked, asked.how, writing) : write_after(asked, prompts, writing);
}

Fields<Asked<GenerateArguments>> fields_of_generate() {
  Fields<GenerateArguments> own;
  own.add(generate_fields());
  own.info("text").meaning = "What to go on with; - reads it from standard input";
  own.info("chat").needs_one.clear();  // a conversation at the terminal
  own.add(&GenerateArguments::file, file_fields("A text on each line of a file"));
  own.info("text").one_of.emplace_back("file");
  auto fields = asked(own, {"json", "threads"});
  fields.info("json").meaning = "Print an object of JSON a text: prompt, text, tokens, end";
  return fields;
}

}  // namespace

void add_generate(Commands& commands) {
  commands.add({.name = "generate",
                .group = "Models",
                .footer = std::string(kModelIs) +
                          "One text is shown as it grows.\n"
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
