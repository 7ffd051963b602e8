// qkv generate: a model goes on with texts, or answers them.
#include "chat.h"
#include "commands.h"

namespace qkv::cli {
namespace {

// Each text, of one of them as it grows. A model that reads a source, or images, does not go on with it.
void write_after(const Asked<GenerateRequest>& asked, Writing& writing) {
  const Manner& how = asked.how;
  const std::vector<std::string>& texts = writing.prompts.texts;
  const bool streams = (texts.size() == 1 || !asked.sound.empty()) && !how.json;
  const bool goes_on = writing.model->traits().goes_on && writing.model->lengths().source == 0;
  std::size_t told = 0;
  WritingWatch watch{.begins = [&] {
    say_before(how, writing);
    told = writing.cautions.size();
    if (streams && goes_on) print(texts.front());
  }};
  if (streams) watch.said = [](std::int64_t, std::string_view part) { print_now(part); };
  const std::vector<GenerateFigures> written = generate(asked, writing, watch);
  if (streams) print("\n");
  flush_output();
  for (; told < writing.cautions.size(); ++told) how.careful(writing.cautions[told]);
  if (streams) return;
  for (const GenerateFigures& one : written) {
    print(how.json ? reply_as_line(one) : (goes_on ? one.prompt : "") + one.text + "\n");
  }
}

void run_generate(Asked<GenerateRequest>& asked, const Given& given) {
  Writing writing = writing_of(asked, given);
  asked.chat ? run_chat(asked, asked.how, writing) : write_after(asked, writing);
}

Fields<Asked<GenerateRequest>> fields_of_generate() {
  Fields<GenerateRequest> own;
  own.add(generate_fields());
  own.info("chat").needs_one.clear();  // a conversation at the terminal
  auto fields = asked(own, {"json", "threads"});
  fields.info("json").meaning = "Print an object of JSON a text; docs/api.md has its members";
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
