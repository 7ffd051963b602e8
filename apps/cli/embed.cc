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

struct EmbedArguments : EmbedRequest {
  FileOfTexts file;
  std::string out;
  std::optional<int> threads;
};

// As a JSON text.
std::string quoted(const std::string& text) {
  std::string line = reply_as_line(text);
  line.pop_back();  // the line break
  return line;
}

// What whoever reads the vectors should know of them.
void say_of(const EmbeddedTexts& embedded, std::size_t texts) {
  for (const std::string& what : embedded.cautions) complain("qkv embed", "careful: " + what);
  if (embedded.is_default_prompt) {
    complain("qkv embed", fmt::format("careful: the model's default prompt {} stands before each text; --prompt \"\" "
                                      "leaves it out",
                                      quoted(embedded.prompt)));
  }
  if (embedded.cut == 0) return;
  complain("qkv embed", fmt::format("careful: {} longer than its max_seq_length of {} tokens: the {} is left out",
                                    texts == 1 ? "the text is" : fmt::format("{} of {} texts are", embedded.cut, texts),
                                    *embedded.longest, embedded.cut_at == CutAt::end ? "rest" : "beginning"));
}

EmbeddedTexts embedded_of(const EmbedArguments& arguments, const Texts& texts) {
  const TrainedModel model = opened_model("qkv embed", arguments.model);
  try {
    EmbeddedTexts embedded = embed(arguments, model, trained_model_path(arguments.model), texts.texts);
    say_of(embedded, texts.texts.size());
    return embedded;
  } catch (const InvalidArgument& error) {
    if (const auto place = texts.place_of(error.argument())) misuse(*place, error.expected(), error.got());
    throw;
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
  const EmbeddedTexts embedded = embedded_of(arguments, given);
  const Tensor& vectors = embedded.rows;
  if (!arguments.out.empty()) return write_tensor(arguments.out, vectors);
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const auto width = static_cast<std::size_t>(vectors.dim(1));
    const auto row = vectors.values<float>().subspan(n * width, width);
    print(reply_as_line(EmbedFigures{.text = texts[n], .prompt = embedded.prompt, .vector = {row.begin(), row.end()}}));
  }
}

struct FillArguments : FillRequest {
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

Fields<EmbedArguments> fields_of_embed() {
  Fields<EmbedArguments> fields;
  fields.add(embed_fields());
  fields.info("text").meaning = "What to embed; - reads it from standard input";
  fields.info("prompt").form = kTextOrNone;
  fields.add(&EmbedArguments::file, file_fields("A text on each line of a file"));
  fields.add(&EmbedArguments::out,
             {.name = "out", .form = "FILE", .meaning = "Write [texts, width] as .npy [JSON, a line each]"});
  fields.add(&EmbedArguments::threads, threads_field());
  fields.give_examples({{"out", "vectors.npy"}});
  return fields;
}

Fields<FillArguments> fields_of_fill() {
  Fields<FillArguments> fields;
  fields.add(fill_fields());
  fields.add(&FillArguments::json, json_field());
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
