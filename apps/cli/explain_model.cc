#include "explain_model.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "common_options.h"
#include "misuse.h"
#include "picture_word.h"
#include "qkv/explain/model.h"
#include "qkv/files.h"
#include "qkv/number_text.h"
#include "qkv/png.h"

namespace qkv::cli {
namespace {

constexpr std::int64_t kMostWritten = 4096;

void add_head(const std::string& text, ModelQuestion& question) {
  const auto numbers = numbers_from<std::int64_t>(text, '.');
  if (!numbers || numbers->size() != 2) misuse("--head", "LAYER.HEAD, such as 1.5", "\"" + text + "\"");
  const std::int64_t layer = numbers->front();
  if (question.layer && *question.layer != layer) {
    misuse("--head", fmt::format("a head of --layer {}", *question.layer), "\"" + text + "\"");
  }
  question.layer = layer;
  question.head = numbers->back();
}

Tensor picture_at(const std::string& path, bool is_pair) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) {
    refuse("TEXT", fmt::format("file not found: \"{}\"; this model needs a PNG{}", path,
                               is_pair ? ", and takes what it may show as --caption" : ""));
  }
  return decode_png(read_file(path), path);
}

ModelQuestion question_of(const TrainedArguments& arguments, const TrainedModel& model,
                          const std::optional<std::string>& text) {
  ModelQuestion question{.title = arguments.model};
  const bool reads_images = model.task().lengths().image_side > 0;
  // Two towers may show that of texts alone.
  const bool is_lone_text = model.kind() == ModelKind::two_tower && text && !arguments.captions && !is_picture(*text);
  if (reads_images && text && !arguments.example && !is_lone_text) {
    question.picture = picture_at(*text, model.kind() == ModelKind::two_tower);
  } else {
    question.text = text;
  }
  question.example = arguments.example;
  question.site = arguments.site;
  question.layer = arguments.layer;
  question.answer = arguments.answer;
  if (arguments.head) add_head(*arguments.head, question);
  std::istringstream captions(arguments.captions.value_or(""));
  for (std::string caption; std::getline(captions, caption, '|');) question.captions.push_back(caption);
  return question;
}

// What the library says of a member of the question is said of its option. Returns if it speaks of anything else.
void say_of_option(const TrainedArguments& arguments, const InvalidArgument& error) {
  constexpr std::pair<std::string_view, const char*> kOptions[] = {
      {"text", "TEXT"},          {"picture", "TEXT"},    {"example", "--example"},
      {"captions", "--caption"}, {"answer", "--answer"}, {"site", "--site"},
      {"layer", "--layer"},      {"head", "--head"},     {"query", "--query"}};
  const auto* option = std::ranges::find(kOptions, error.argument(), &std::pair<std::string_view, const char*>::first);
  if (option == std::end(kOptions)) return;
  if (!arguments.head || (error.argument() != "layer" && error.argument() != "head")) {
    misuse(option->second, error.expected(), error.got());
  }
  misuse("--head", fmt::format("{} {}", error.argument(), error.expected()), error.got());
}

}  // namespace

void add_trained_options(CLI::App& command, TrainedArguments& arguments) {
  const std::string group = "A trained model";
  command.add_option("--model", arguments.model, "One of the box (copy, induction, …), or the file of your own")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--example", arguments.example, "Held-out example N of its task in place of a text")
      ->type_name("N")
      ->check(between(0, std::int64_t{1} << 40))
      ->group(group);
  command.add_option("--head", arguments.head, "Whose steps to show: layer 1, head 5 [what the text calls for]")
      ->type_name("1.5")
      ->group(group);
  command.add_option("--layer", arguments.layer, "Likewise, the best head of this layer")
      ->type_name("N")
      ->check(a_whole_number())
      ->group(group);
  command.add_option("--site", arguments.site, "Likewise: tokens, source or cross")->type_name("SITE")->group(group);
  command.add_option("--answer", arguments.answer, "Write N tokens after the text [as its task asks]")
      ->type_name("N")
      ->check(between(1, kMostWritten))
      ->group(group);
  command.add_option("--caption", arguments.captions, "Of a two-tower model: texts to hold a picture against")
      ->type_name("A|B|…")
      ->group(group);
}

Explanation explain_trained(const TrainedArguments& arguments, const std::optional<std::string>& text,
                            const TrainedParts& parts) {
  const TrainedModel model = TrainedModel::read(trained_model_path(arguments.model));
  ModelQuestion question = question_of(arguments, model, text);
  question.query = parts.query;
  question.blocks = parts.blocks;
  question.whys = parts.whys;
  try {
    return explain_model(model, question);
  } catch (const InvalidArgument& error) {
    say_of_option(arguments, error);
    throw;
  }
}

}  // namespace qkv::cli
