// qkv embed: texts as vectors; qkv fill: what masked tokens may be.
#include "commands.h"
#include "qkv/api/texts.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

struct EmbedFlags : EmbedRequest {
  std::string out;
};

void run_embed(Asked<EmbedFlags>& asked, const Given& /*all*/) {
  const EmbedReply reply = embed(asked, asked.how.saying());
  if (!asked.out.empty()) return write_tensor(asked.out, reply.embedded.rows);
  for (std::size_t n = 0; n < reply.texts.size(); ++n) {
    print(reply_as_line(asked.how.cautioned(embed_figures(reply, n))));
  }
}

void run_fill(Asked<FillRequest>& asked, const Given& /*all*/) {
  const FillFigures figures = answer(asked, asked.how.saying());
  asked.how.tell(figures, [&] { return as_text(figures); });
}

Fields<EmbedFlags> fields_of_embed() {
  Fields<EmbedFlags> fields;
  fields.add(embed_fields());
  fields.add(&EmbedFlags::out, {.name = "out",
                                .form = "FILE",
                                .meaning = "Write [texts, width] as .npy",
                                .otherwise = "JSON, a line each",
                                .file = FileUse::tensor,
                                .example = "vectors.npy"});
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
               asked(fields_of_embed(), {"threads"}), run_embed);
}

void add_fill(Commands& commands) {
  commands.add({.name = "fill",
                .group = "Models",
                .footer = "Examples:\n  qkv fill english \"the cats that the girl sees <be> small\"\n"
                          "  qkv fill bert \"The cat [MASK] down.\"\n"
                          "  qkv fill roberta \"The cat <mask> down.\" --count 10",
                .places = {"model", "text"}},
               asked(fill_fields(), {"json"}), run_fill);
}

}  // namespace qkv::cli
