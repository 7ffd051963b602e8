// qkv tokens: a text as the tokens of a tokenizer, tokens as a text, and what its vocabulary has.
#include "qkv/api/tokens.h"

#include <variant>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "saying.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct TokensFlags : TokensRequest {
  bool json = false;
};

void run_tokens(TokensFlags& flags, const Given& /*all*/) {
  read_input(flags.text, flags.file);
  const TokensFound found = found_tokens(flags, saying_of("qkv tokens"));
  const auto as_json = [](const auto& one) { return reply_as_json(one); };
  if (std::holds_alternative<std::vector<TokensFigures>>(found)) return print(as_text(flags, found));
  if (flags.json) return print(std::visit(as_json, found));
  const bool is_table = std::holds_alternative<TokensFigures>(found);
  is_table ? print_text(as_text(flags, found)) : print(as_text(flags, found));
}

Fields<TokensFlags> fields_of_tokens() {
  Fields<TokensFlags> fields;
  fields.add(tokens_fields());
  fields.info("text").meaning = "What to cut; - reads it from standard input";
  fields.info("file").needs = {"json"};
  fields.add(&TokensFlags::json, json_field());
  return fields;
}

}  // namespace

void add_tokens(Commands& commands) {
  commands.add({.name = "tokens",
                .group = "Models",
                .footer = "TOKENIZER is a model's folder, one of its files (tokenizer.json, vocab.txt,\n"
                          "vocab.json, *.model), a *.gguf, a model of the box, or a model file of your own.\n"
                          "Examples:\n  qkv tokens bert/tokenizer.json \"The cat sat down\"\n"
                          "  qkv tokens english --search king\n  qkv tokens gpt2 --ids \"464 3797\"\n"
                          "  qkv tokens bert \"Who sat?\" --pair \"The cat.\" --json",
                .places = {"tokenizer", "text"}},
               fields_of_tokens(), run_tokens);
}

}  // namespace qkv::cli
