// qkv embed: texts as vectors; qkv fill: what masked tokens may be.
#include <string>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "lines.h"
#include "output.h"
#include "qkv/api/texts.h"
#include "qkv/files.h"
#include "saying.h"

namespace qkv::cli {
namespace {

struct EmbedFlags : EmbedRequest, ThreadsFlag {
  std::string out;
};

void run_embed(EmbedFlags& flags, const Given& /*all*/) {
  check_files({{"MODEL", flags.model}, {"--file", flags.file.path}}, {{"--out", file_of_tensor("--out", flags.out)}});
  read_input(flags.text, flags.file);
  const EmbedReply reply = embed(flags, saying_of("qkv embed"));
  if (!flags.out.empty()) return write_tensor(flags.out, reply.embedded.rows);
  for (std::size_t n = 0; n < reply.texts.size(); ++n) print(reply_as_line(embed_figures(reply, n)));
}

struct FillFlags : FillRequest {
  bool json = false;
};

void run_fill(FillFlags& flags, const Given& /*all*/) {
  flags.text = text_or_input(flags.text);
  const FillFigures figures = answer(flags, saying_of("qkv fill"));
  print(flags.json ? reply_as_json(figures) : as_text(figures));
}

Fields<EmbedFlags> fields_of_embed() {
  Fields<EmbedFlags> fields;
  fields.add(embed_fields());
  fields.info("text").meaning = "What to embed; - reads it from standard input";
  fields.add(
      &EmbedFlags::out,
      {.name = "out", .form = "FILE", .meaning = "Write [texts, width] as .npy", .otherwise = "JSON, a line each"});
  fields.add(threads_flag());
  fields.give_examples({{"out", "vectors.npy"}});
  return fields;
}

Fields<FillFlags> fields_of_fill() {
  Fields<FillFlags> fields;
  fields.add(fill_fields());
  fields.add(&FillFlags::json, json_field());
  return fields;
}

}  // namespace

void add_embed(Commands& commands) {
  commands.add({.name = "embed",
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
                .group = "Models",
                .footer = "Examples:\n  qkv fill english \"the cats that the girl sees <be> small\"\n"
                          "  qkv fill bert \"The cat [MASK] down.\"\n"
                          "  qkv fill roberta \"The cat <mask> down.\" --count 10",
                .places = {"model", "text"}},
               fields_of_fill(), run_fill);
}

}  // namespace qkv::cli
