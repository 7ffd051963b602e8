// qkv embed: texts as vectors; qkv fill: what masked tokens may be.
#include "qkv/model/embed.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "lines.h"
#include "misuse.h"
#include "opened_model.h"
#include "output.h"
#include "qkv/api/texts.h"
#include "qkv/files.h"
#include "qkv/model/match.h"
#include "qkv/threads.h"
#include "text_or_none.h"

namespace qkv::cli {
namespace {

struct EmbedArguments {
  std::string model;
  std::optional<std::string> text;
  FileOfTexts file;
  std::string out;
  std::optional<std::string> pooling;
  std::optional<std::string> prompt_name, prompt;
  bool normalises = false;
  std::string dtype = "f32";
  std::optional<int> threads;
};

// As a JSON text.
std::string quoted(const std::string& text) {
  std::string line = reply_as_line(text);
  line.pop_back();  // the line break
  return line;
}

EmbedOptions options_of(const EmbedArguments& arguments, const std::string& path) {
  EmbedOptions options = embed_options_of(path);
  for (const std::string& what : options.cautions) complain("qkv embed", "careful: " + what);
  if (arguments.pooling) of_option("--pooling", [&] { options.pooling = poolings_named(*arguments.pooling); });
  if (arguments.prompt_name) {
    of_option("--prompt-name", [&] { options.prompt = prompt_named(options, *arguments.prompt_name); });
  }
  if (arguments.prompt) options.prompt = *arguments.prompt;
  if (!arguments.prompt_name && !arguments.prompt && !options.prompt.empty()) {
    complain("qkv embed", fmt::format("careful: the model's default prompt {} stands before each text; --prompt \"\" "
                                      "leaves it out",
                                      quoted(options.prompt)));
  }
  options.normalised = options.normalised || arguments.normalises;
  options.dtype = arguments.dtype == "bf16" ? DType::bf16 : DType::f32;
  return options;
}

// Towers that learnt a task read the mark with which its texts begin.
Tensor vectors_of_towers(const EmbedArguments& arguments, const std::string& path, std::vector<std::string> texts) {
  if (arguments.pooling) misuse("--pooling", "an encoder or a decoder, whose states are pooled", "two towers");
  if (arguments.prompt_name) misuse("--prompt-name", "none: two towers have no prompts", *arguments.prompt_name);
  for (std::string& text : texts) text.insert(0, arguments.prompt.value_or(""));
  const DType dtype = arguments.dtype == "bf16" ? DType::bf16 : DType::f32;
  return embed_texts(TrainedModel::read(path), texts, dtype);
}

// And the prompt that stands before each of them.
struct Vectors {
  Tensor rows;
  std::string prompt = {};
};

Vectors vectors_of(const EmbedArguments& arguments, const Texts& texts) {
  const std::string path = trained_model_path(arguments.model);
  const Model model = Model::open(path);
  say_cautions("qkv embed", model);
  try {
    if (model.traits().is_pair) return {vectors_of_towers(arguments, path, texts.texts)};
    EmbedOptions options = options_of(arguments, path);
    std::int64_t cut = 0;
    options.cut = [&](std::size_t, std::int64_t) { ++cut; };
    Tensor rows = embed_texts(model, texts.texts, options);
    if (cut > 0) {
      complain("qkv embed",
               fmt::format(
                   "careful: {} longer than its max_seq_length of {} tokens: the {} is left out",
                   texts.texts.size() == 1 ? "the text is" : fmt::format("{} of {} texts are", cut, texts.texts.size()),
                   *options.length, options.cut_at == CutAt::end ? "rest" : "beginning"));
    }
    return {std::move(rows), options.prompt};
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads" || error.argument().starts_with("--")) throw;
    misuse(texts.place_of(error.argument()).value_or(error.argument() == "prompt" ? "--prompt" : "MODEL"),
           error.expected(), error.got());
  }
}

void run_embed(EmbedArguments& arguments, const Given& /*all*/) {
  if (arguments.threads) set_threads(*arguments.threads);
  const Texts given = texts_from(arguments.text, arguments.file);
  const std::vector<std::string>& texts = given.texts;
  if (!arguments.out.empty()) {
    const std::string file = of_option("--out", [&] { return parse_tensor_path(arguments.out).file; });
    check_files({{"MODEL", arguments.model}, {"--file", arguments.file.path}}, {{"--out", file}});
  }
  const auto [vectors, prompt] = vectors_of(arguments, given);
  if (!arguments.out.empty()) return write_tensor(arguments.out, vectors);
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const auto width = static_cast<std::size_t>(vectors.dim(1));
    const auto row = vectors.values<float>().subspan(n * width, width);
    print(reply_as_line(EmbedFigures{.text = texts[n], .prompt = prompt, .vector = {row.begin(), row.end()}}));
  }
}

struct FillArguments {
  std::string model;
  std::string text;
  std::int64_t count = 5;
  bool json = false;
};

void run_fill(FillArguments& arguments, const Given& /*all*/) {
  const TrainedModel model = opened_model("qkv fill", arguments.model);
  const std::string text = text_or_input(arguments.text);
  const std::vector<FilledMask> masks = [&] {
    try {
      return fill_gaps(model, text, arguments.count);
    } catch (const InvalidArgument& error) {
      if (error.function() == "threads") throw;
      misuse(error.argument() == "model" ? "MODEL" : "TEXT", error.expected(), error.got());
    }
  }();
  const FillFigures figures = fill_figures(text, masks, model.tokenizer());
  if (arguments.json) return print(reply_as_json(figures));
  for (const FillMask& mask : figures.masks) {
    print(fmt::format("the mask at token {}\n", mask.place));
    for (const FillPiece& filling : mask.fillings) {
      print(fmt::format("  {:.4f}  {}\n", filling.probability, filling.piece));
    }
  }
}

void add_embedding(Fields<EmbedArguments>& fields) {
  fields.add(&EmbedArguments::pooling,
             {.name = "pooling",
              .form = "NAMES",
              .meaning = "mean, first, last, max, weightedmean or mean_sqrt_len_tokens of the states, or several with "
                         "commas between them, end to end [the folder's, or mean]"});
  fields.add(&EmbedArguments::prompt_name,
             {.name = "prompt_name",
              .form = "NAME",
              .meaning = "The folder's prompt of this name before each text [its default, or none]",
              .excludes = {"prompt"}});
  fields.add(&EmbedArguments::prompt, {.name = "prompt",
                                       .form = kTextOrNone,
                                       .meaning = "Before each text; \"\" leaves out the folder's default",
                                       .excludes = {"prompt_name"}});
  fields.add(&EmbedArguments::normalises, {.name = "normalise", .meaning = "Vectors of length 1 [as the folder says]"});
  fields.add(
      &EmbedArguments::dtype,
      {.name = "dtype", .form = "TYPE", .meaning = "What is computed in: f32 or bf16", .words = {"f32", "bf16"}});
  fields.give_examples({{"pooling", "max"}, {"prompt_name", "query"}, {"prompt", "query: "}});
}

Fields<EmbedArguments> fields_of_embed() {
  Fields<EmbedArguments> fields;
  fields.add(&EmbedArguments::model, {.name = "model", .meaning = "Whose vectors", .required = true});
  fields.add(&EmbedArguments::text, {.name = "text", .meaning = "What to embed; - reads it from standard input"});
  fields.add(&EmbedArguments::file, file_fields("A text on each line of a file"));
  fields.add(&EmbedArguments::out,
             {.name = "out", .form = "FILE", .meaning = "Write [texts, width] as .npy [JSON, a line each]"});
  add_embedding(fields);
  fields.add(&EmbedArguments::threads, threads_field());
  fields.give_examples({{"model", "english"}, {"text", "The cat sat"}, {"out", "vectors.npy"}});
  return fields;
}

Fields<FillArguments> fields_of_fill() {
  Fields<FillArguments> fields;
  fields.add(&FillArguments::model,
             {.name = "model", .meaning = "An encoder that learned to: a folder or a file", .required = true});
  fields.add(&FillArguments::text,
             {.name = "text",
              .meaning = "With [MASK] or <mask>, as the model has it; of english <be> and the like",
              .required = true});
  fields.add(&FillArguments::count,
             {.name = "count", .form = "N", .meaning = "Pieces to show for each mask", .least = 1, .most = 1 << 20});
  fields.add(&FillArguments::json, json_field());
  fields.give_examples({{"model", "english"}, {"text", "the cats <be> here"}});
  return fields;
}

}  // namespace

void add_embed(Commands& commands) {
  commands.add({.name = "embed",
                .summary = "Texts as vectors",
                .group = "Models",
                .footer = "MODEL is a folder, or a file: an encoder, a decoder, or two towers. A sentence\n"
                          "transformer's folder says itself how its states are pooled, what comes before\n"
                          "a text, and how long it may be.\n"
                          "Examples:\n  qkv embed minilm \"The cat sat down\"\n"
                          "  qkv embed minilm --file sentences.txt --out vectors.npy\n"
                          "  qkv embed e5 --prompt-name query \"where do cats sit\"",
                .places = {"model", "text"}},
               fields_of_embed(), run_embed);
}

void add_fill(Commands& commands) {
  commands.add({.name = "fill",
                .summary = "What the masked tokens of a text may be",
                .group = "Models",
                .footer = "Examples:\n  qkv fill english \"the cats that the girl sees <be> small\"\n"
                          "  qkv fill bert \"The cat [MASK] down.\"\n"
                          "  qkv fill roberta \"The cat <mask> down.\" --count 10",
                .places = {"model", "text"}},
               fields_of_fill(), run_fill);
}

}  // namespace qkv::cli
