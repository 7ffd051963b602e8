// qkv tokens: a text as the tokens of a tokenizer, tokens as a text, and what its vocabulary has.
#include "qkv/api/tokens.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "qkv/picture/terminal.h"
#include "terminal.h"
#include "token_text.h"

namespace qkv::cli {
namespace {

struct TokensArguments : TokensRequest {
  FileOfTexts file;
  bool json = false;
};

void decode(const TokensArguments& arguments, const std::shared_ptr<const Tokenizer>& tokenizer) {
  const TokensText text = decoded(arguments, tokenizer);
  print(arguments.json ? reply_as_json(text) : text.text + "\n");
}

void list(const TokensArguments& arguments, const Tokenizer& tokenizer) {
  const VocabularyFigures figures = vocabulary_of(arguments, tokenizer);
  if (arguments.json) return print(reply_as_json(figures));
  for (const auto& [id, piece] : figures.pieces) print(fmt::format("{:>7}  {}\n", id, one_line(piece)));
  print(fmt::format("{} of {} pieces\n", figures.pieces.size(), tokenizer.size()));
}

// Lines of a file, one of JSON for each.
void encode_lines(const TokensArguments& arguments, const Tokenizer& tokenizer) {
  for (const std::string& line : texts_of(arguments.file).texts) {
    print(reply_as_line(tokens_figures(tokenizer.encode(line, {.special = arguments.special()}), tokenizer)));
  }
}

void encode(TokensArguments& arguments, const Tokenizer& tokenizer) {
  arguments.text = text_or_input(*arguments.text);
  const Encoding encoding = encoded(arguments, tokenizer);
  if (arguments.json) return print(reply_as_json(tokens_figures(encoding, tokenizer)));
  print_text(table_of(encoding, tokenizer, *arguments.text, arguments.pair.value_or("")));
}

// Exactly one thing is asked for.
void require_one(const TokensArguments& arguments) {
  const int asked = arguments.asked() + (arguments.file.path.empty() ? 0 : 1);
  const char* const kExpected = "one of TEXT, --file, --ids, --list and --search";
  if (asked != 1) misuse("TEXT", kExpected, asked == 0 ? "none" : "several");
  if (arguments.pair && !arguments.text) misuse("--pair", "a TEXT beside it", "none");
  if (!arguments.file.path.empty() && !arguments.json) misuse("--file", "--json beside it", "none");
}

void run_tokens(TokensArguments& arguments, const Given& /*all*/) {
  require_one(arguments);
  std::vector<std::string> cautions;
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_of(arguments, cautions);
  for (const std::string& what : cautions) complain("qkv tokens", "careful: " + what);
  if (arguments.ids) return decode(arguments, tokenizer);
  if (arguments.list || arguments.search) return list(arguments, *tokenizer);
  if (!arguments.file.path.empty()) return encode_lines(arguments, *tokenizer);
  encode(arguments, *tokenizer);
}

Fields<TokensArguments> fields_of_tokens() {
  Fields<TokensArguments> fields;
  fields.add(tokens_fields());
  fields.info("text").meaning = "What to cut; - reads it from standard input";
  fields.add(&TokensArguments::file, file_fields("Cut each line of a file; with --json"));
  fields.add(&TokensArguments::json, json_field());
  return fields;
}

}  // namespace

void add_tokens(Commands& commands) {
  commands.add({.name = "tokens",
                .summary = "A text as tokens: pieces, numbers, bytes; a vocabulary",
                .group = "Models",
                .footer = "TOKENIZER is a model's folder, one of its files (tokenizer.json, vocab.txt,\n"
                          "vocab.json, *.model), a model of the box, or a model file of your own.\n"
                          "Examples:\n  qkv tokens bert/tokenizer.json \"The cat sat down\"\n"
                          "  qkv tokens english --search king\n  qkv tokens gpt2 --ids \"464 3797\"\n"
                          "  qkv tokens bert \"Who sat?\" --pair \"The cat.\" --json",
                .places = {"tokenizer", "text"}},
               fields_of_tokens(), run_tokens);
}

}  // namespace qkv::cli
