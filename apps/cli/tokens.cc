// qkv tokens: a text as the tokens of a tokenizer, tokens as a text, and what its vocabulary has.
#include "qkv/api/tokens.h"

#include "commands.h"

namespace qkv::cli {
namespace {

void run_tokens(Asked<TokensRequest>& asked, const Given& /*all*/) {
  TokensFound found = found_tokens(asked, asked.how.saying());
  std::visit([&](auto& reply) { add_cautions(reply, asked.how.cautions()); }, found);
  const std::string text = as_text(asked, found);
  if (std::holds_alternative<TokensFigures>(found) && !asked.how.json) return print_text(text);
  const bool has_lines = std::holds_alternative<std::vector<TokensFigures>>(found) || !asked.how.json;
  print(has_lines ? text : std::visit([](const auto& one) { return reply_as_json(one); }, found));
}

}  // namespace

void add_tokens(Commands& commands) {
  auto fields = asked(tokens_fields(), {"json"});
  fields.info("file").needs = {"json"};
  commands.add({.name = "tokens",
                .group = "Models",
                .footer = "TOKENIZER is a model's folder, one of its files (tokenizer.json, vocab.txt,\n"
                          "vocab.json, *.model), a *.gguf, a model of the box, or a model file of your own.\n"
                          "Examples:\n  qkv tokens bert/tokenizer.json \"The cat sat down\"\n"
                          "  qkv tokens english --search king\n  qkv tokens gpt2 --ids \"464 3797\"\n"
                          "  qkv tokens bert \"Who sat?\" --pair \"The cat.\" --json",
                .places = {"tokenizer", "text"}},
               std::move(fields), run_tokens);
}

}  // namespace qkv::cli
