// qkv lens: what a model would say after each layer, and what adds up to a logit.
#include "qkv/insight/lens.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "opened_model.h"
#include "output.h"
#include "outside.h"
#include "pictures.h"
#include "qkv/threads.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct LensArguments {
  std::string model;
  TextQuestion question;
  PicturePaths pictures;
  std::optional<int> width;
  std::optional<int> threads;
  bool json = false;
};

void run(const LensArguments& arguments) {
  if (arguments.threads) set_threads(*arguments.threads);
  check_files({{"MODEL", arguments.model}}, places_of(arguments.pictures));
  const TrainedModel trained = opened_model("qkv lens", arguments.model);
  const LensReport report = lens_report(trained, arguments.question);
  if (arguments.question.text) warn_outside("qkv lens", trained, *arguments.question.text);
  if (!arguments.pictures.empty()) write_pictures(arguments.pictures, lens_panel(report, arguments.model));
  if (arguments.json) return print(lens_json(report, arguments.model));
  const int width = arguments.width.value_or(terminal_width());
  print(narrowed(lens_table(report, arguments.model, width), width));
  print(pictures_report(arguments.pictures));
}

}  // namespace

void add_lens(CLI::App& app) {
  CLI::App* command = app.add_subcommand("lens", "What a model would say after each layer, and what makes its answer");
  command->group("Learn");
  command->footer(
      "MODEL is one of the box, a model file of your own, or a folder as models are\n"
      "published. docs/interventions.md says what the numbers are.\n"
      "Examples:\n  qkv lens induction abcxyzb\n  qkv lens gpt \"The cat sat on the\" --png lens.png\n"
      "  qkv lens gpt \"The cats\" --token \" are\" --against \" is\"");
  const auto arguments = std::make_shared<LensArguments>();
  TextQuestion& question = arguments->question;
  command->add_option("MODEL", arguments->model, "Whose layers")->required();
  command->add_option("TEXT", question.text, "What it reads");
  command->add_option("--example", question.example, "Or held-out example N of its task")
      ->type_name("N")
      ->check(between(0, std::int64_t{1} << 40));
  command->add_option("--query", question.query, "A token or its number [the last that is asked]")->type_name("TOKEN");
  command->add_option("--token", question.token, "The answer [the expected token, or the likeliest]")
      ->type_name("TOKEN");
  command->add_option("--against", question.against, "Its contrast: parts of the difference")->type_name("TOKEN");
  command->add_flag("--json", arguments->json, "Print JSON");
  add_pictures(*command, arguments->pictures, "Options");
  command->add_option("--width", arguments->width, "Columns to use [the terminal's, or 80]")
      ->type_name("N")
      ->check(between(40, 1000));
  add_threads_option(*command, arguments->threads);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace qkv::cli
