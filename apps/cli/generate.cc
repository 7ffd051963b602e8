// qkv generate: a model goes on with texts, or answers them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "outside.h"
#include "qkv/threads.h"
#include "qkv/train/write_text.h"
#include "token_text.h"

namespace qkv::cli {
namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 20;
constexpr std::int64_t kMostBeams = 1024;

struct GenerateArguments {
  std::string model;
  std::optional<std::string> text;
  std::string file;
  std::int64_t samples = 1;
  std::string seed = "0";
  std::string dtype = "f32";
  std::optional<int> threads;
  bool json = false;
  WriteOptions write;
};

std::vector<std::string> prompts_of(const GenerateArguments& arguments) {
  std::vector<std::string> prompts;
  for (const std::string& text : texts_from(arguments.text, arguments.file)) {
    prompts.insert(prompts.end(), static_cast<std::size_t>(arguments.samples), text);
  }
  return prompts;
}

// What the library says of a prompt, or of an option, in the reader's words.
[[noreturn]] void say_of_option(const GenerateArguments& arguments, const InvalidArgument& error) {
  std::string option = "--" + error.argument();
  std::ranges::replace(option, '_', '-');
  if (error.argument().starts_with("prompts[")) {
    option = arguments.file.empty() ? "TEXT" : arguments.file + ", text " + error.argument().substr(7);
  } else if (error.argument() == "most") {
    option = "--tokens";
  } else if (error.argument() == "stops") {
    option = "--stop";
  } else if (error.argument() == "model") {
    option = "MODEL";
  } else if (error.argument() == "ids" || error.argument() == "prompt") {
    option = "TEXT";
  }
  misuse(option, error.expected(), error.got());
}

nlohmann::json json_of(const std::string& prompt, const WrittenText& written) {
  return {{"prompt", shown_text(prompt)},
          {"text", shown_text(written.text)},
          {"tokens", written.tokens},
          {"end", name_of(written.end)}};
}

void run(GenerateArguments arguments) {
  if (arguments.threads) set_threads(*arguments.threads);
  const std::vector<std::string> prompts = prompts_of(arguments);
  const TrainedModel model = TrainedModel::read(trained_model_path(arguments.model));
  WriteOptions& write = arguments.write;
  write.draw.seed = seed_of(arguments.seed);
  write.draw.dtype = arguments.dtype == "bf16" ? DType::bf16 : DType::f32;
  if (model.model().dtype() == DType::f64) write.draw.dtype = std::nullopt;
  // One text is shown as it grows. A model that reads a source, or images, does not go on with it.
  const bool streams = prompts.size() == 1 && !arguments.json;
  const bool goes_on = model.kind() == ModelKind::decoder && model.task().lengths().source == 0;
  if (streams) {
    if (goes_on) print(prompts.front());
    write.said = [](std::int64_t, std::string_view part) {
      print(part);
      flush_output();
    };
  }
  const std::vector<WrittenText> written = [&] {
    try {
      return write_texts(model, prompts, write);
    } catch (const InvalidArgument& error) {
      if (error.function() == "threads") throw;
      say_of_option(arguments, error);
    }
  }();
  if (streams) print("\n");
  if (prompts.size() == 1) warn_outside("qkv generate", model, prompts.front());
  if (streams) return;
  for (std::size_t n = 0; n < prompts.size(); ++n) {
    const std::string text = (goes_on ? prompts[n] : "") + written[n].text + "\n";
    print(arguments.json ? json_of(prompts[n], written[n]).dump() + "\n" : text);
  }
}

void add_draw_options(CLI::App& command, GenerateArguments& arguments) {
  const std::string group = "The draw";
  GenerateOptions& draw = arguments.write.draw;
  const auto number = [&](const char* name, double& value, const char* meaning) {
    command.add_option(name, value, meaning)->type_name("X")->check(a_number())->capture_default_str()->group(group);
  };
  number("--temperature", draw.temperature, "Probabilities to the power 1 / X; 0: the likeliest token");
  command.add_option("--top-k", draw.top_k, "Draw from the N likeliest; 0: from all")
      ->type_name("N")
      ->check(a_whole_number())
      ->capture_default_str()
      ->group(group);
  number("--top-p", draw.top_p, "Of them from the fewest with a share of X together");
  number("--min-p", draw.min_p, "Of them from those with X of the likeliest's share");
  number("--repetition-penalty", draw.repetition_penalty, "Scores of tokens that the text has, divided by X");
  add_seed_option(command, arguments.seed, "Of the draws")->capture_default_str()->group(group);
  command.add_option("--beams", draw.beams, "Follow the N likeliest texts, give the best")
      ->type_name("N")
      ->check(between(1, kMostBeams))
      ->capture_default_str()
      ->group(group);
  number("--length-penalty", draw.length_penalty, "Of beams: scores divided by their length to the power X");
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "A model goes on with a text, or answers it");
  command->group("Learn");
  command->footer(
      "MODEL is one of the box, a model file of your own, or a folder as models are\n"
      "published. One text is shown as it grows.\n"
      "Examples:\n  qkv generate sort hello\n"
      "  qkv generate gpt2 \"The cat sat\" --tokens 40 --temperature 0.8 --top-p 0.95\n"
      "  qkv generate t5 \"translate English to German: The cat sat.\" --beams 4\n"
      "  qkv generate gpt2 --file prompts.txt --stop . --json");
  const auto arguments = std::make_shared<GenerateArguments>();
  command->add_option("MODEL", arguments->model, "Whose text")->required();
  command->add_option("TEXT", arguments->text, "What to go on with");
  command->add_option("--file", arguments->file, "A text on each line of a file")->type_name("FILE");
  command->add_option("--tokens", arguments->write.draw.most, "New tokens, at most")
      ->type_name("N")
      ->check(between(0, kMostTokens))
      ->capture_default_str();
  command->add_option("--stop", arguments->write.stops, "End a text before this; may be given again")
      ->type_name("TEXT")
      ->expected(1)
      ->take_all();
  command->add_option("--samples", arguments->samples, "Texts after each prompt")
      ->type_name("N")
      ->check(between(1, kMostBeams))
      ->capture_default_str();
  command->add_option("--dtype", arguments->dtype, "What is computed in: f32 or bf16")
      ->type_name("TYPE")
      ->check(one_of({"f32", "bf16"}))
      ->capture_default_str();
  add_draw_options(*command, *arguments);
  add_threads_option(*command, arguments->threads);
  command->add_flag("--json", arguments->json, "Print an object of JSON a text: prompt, text, tokens, end");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace qkv::cli
