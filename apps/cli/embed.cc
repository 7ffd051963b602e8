// qkv embed: texts as vectors; qkv fill: what masked tokens may be.
#include "qkv/model/embed.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
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
#include "qkv/files.h"
#include "qkv/picture/terminal.h"
#include "qkv/threads.h"
#include "qkv/train/match.h"
#include "token_text.h"

namespace qkv::cli {
namespace {

struct EmbedArguments {
  std::string model;
  std::optional<std::string> text;
  std::string file;
  std::string out;
  std::optional<std::string> pooling;
  bool normalises = false;
  std::string dtype = "f32";
  std::optional<int> threads;
};

EmbedOptions options_of(const EmbedArguments& arguments, const std::string& path) {
  EmbedOptions options = embed_options_of(path);
  if (arguments.pooling) options.pooling = pooling_named(*arguments.pooling);
  options.normalised = options.normalised || arguments.normalises;
  options.dtype = arguments.dtype == "bf16" ? DType::bf16 : DType::f32;
  return options;
}

Tensor vectors_of(const EmbedArguments& arguments, const std::vector<std::string>& texts) {
  const std::string path = trained_model_path(arguments.model);
  const Model model = Model::open(path);
  const EmbedOptions options = options_of(arguments, path);
  try {
    // Towers that learnt a task read the mark with which its texts begin.
    if (model.kind() == ModelKind::two_tower) return embed_texts(TrainedModel::read(path), texts, options.dtype);
    return embed_texts(model, texts, options);
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads") throw;
    const bool is_text = error.argument().starts_with("texts[");
    const std::string number = is_text ? error.argument().substr(5) : "";
    misuse(!is_text                 ? "MODEL"
           : arguments.file.empty() ? "TEXT"
                                    : arguments.file + ", text " + number,
           error.expected(), error.got());
  }
}

void run_embed(const EmbedArguments& arguments) {
  if (arguments.threads) set_threads(*arguments.threads);
  const std::vector<std::string> texts = texts_from(arguments.text, arguments.file);
  if (!arguments.out.empty()) require_writable_tensors(std::span(&arguments.out, 1));
  const Tensor vectors = vectors_of(arguments, texts);
  if (!arguments.out.empty()) return write_tensor(arguments.out, vectors);
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const auto row = vectors.values<float>().subspan(n * static_cast<std::size_t>(vectors.dim(1)),
                                                     static_cast<std::size_t>(vectors.dim(1)));
    const std::vector<float> numbers(row.begin(), row.end());
    print(nlohmann::json{{"text", shown_text(texts[n])}, {"vector", numbers}}.dump() + "\n");
  }
}

struct FillArguments {
  std::string model;
  std::string text;
  std::int64_t count = 5;
  bool json = false;
};

void run_fill(const FillArguments& arguments) {
  const Model model = Model::open(trained_model_path(arguments.model));
  const std::vector<FilledMask> masks = [&] {
    try {
      return fill_masks(model, arguments.text, arguments.count);
    } catch (const InvalidArgument& error) {
      if (error.function() == "threads") throw;
      misuse(error.argument() == "model" ? "MODEL" : "TEXT", error.expected(), error.got());
    }
  }();
  const Tokenizer& tokenizer = *model.tokenizers().tokens;
  nlohmann::json all = nlohmann::json::array();
  for (const FilledMask& mask : masks) {
    nlohmann::json fillings = nlohmann::json::array();
    std::string table = fmt::format("the mask at token {}\n", mask.place);
    for (const MaskFilling& filling : mask.fillings) {
      const std::string shown = one_line(shown_token(tokenizer, filling.token));
      table += fmt::format("  {:.4f}  {}\n", filling.probability, shown);
      fillings.push_back({{"token", filling.token}, {"piece", shown}, {"probability", filling.probability}});
    }
    all.push_back({{"place", mask.place}, {"fillings", fillings}});
    if (!arguments.json) print(table);
  }
  if (arguments.json) print(nlohmann::json{{"text", shown_text(arguments.text)}, {"masks", all}}.dump(2) + "\n");
}

}  // namespace

void add_embed(CLI::App& app) {
  CLI::App* command = app.add_subcommand("embed", "Texts as vectors");
  command->group("Learn");
  command->footer(
      "MODEL is a folder, or a file: an encoder, or two towers. A folder of a sentence\n"
      "transformer says itself how its states are pooled.\n"
      "Examples:\n  qkv embed minilm \"The cat sat down\"\n"
      "  qkv embed minilm --file sentences.txt --out vectors.npy");
  const auto arguments = std::make_shared<EmbedArguments>();
  command->add_option("MODEL", arguments->model, "Whose vectors")->required();
  command->add_option("TEXT", arguments->text, "What to embed");
  command->add_option("--file", arguments->file, "A text on each line of a file")->type_name("FILE");
  command->add_option("--out", arguments->out, "Write [texts, width] as .npy [JSON, a line each]")->type_name("FILE");
  command->add_option("--pooling", arguments->pooling, "mean, first, last or max of the states [the folder's, or mean]")
      ->type_name("NAME")
      ->check(one_of({"mean", "first", "last", "max"}));
  command->add_flag("--normalise", arguments->normalises, "Vectors of length 1 [as the folder says]");
  command->add_option("--dtype", arguments->dtype, "What is computed in: f32 or bf16")
      ->type_name("TYPE")
      ->check(one_of({"f32", "bf16"}))
      ->capture_default_str();
  add_threads_option(*command, arguments->threads);
  command->callback([arguments] { run_embed(*arguments); });
}

void add_fill(CLI::App& app) {
  CLI::App* command = app.add_subcommand("fill", "What the masked tokens of a text may be");
  command->group("Learn");
  command->footer(
      "Examples:\n  qkv fill bert \"The cat [MASK] down.\"\n  qkv fill roberta \"The cat <mask> down.\" --count 10");
  const auto arguments = std::make_shared<FillArguments>();
  command->add_option("MODEL", arguments->model, "An encoder that learned to: a folder or a file")->required();
  command->add_option("TEXT", arguments->text, "With [MASK] or <mask>, as the model has it")->required();
  command->add_option("--count", arguments->count, "Pieces to show for each mask")
      ->type_name("N")
      ->check(between(1, 1 << 20))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments] { run_fill(*arguments); });
}

}  // namespace qkv::cli
