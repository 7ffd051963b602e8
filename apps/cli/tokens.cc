// qkv tokens: a text as the tokens of a tokenizer, tokens as a text, and what its vocabulary has.
#include "qkv/api/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
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
#include "qkv/model/box.h"
#include "qkv/model/model.h"
#include "qkv/number_text.h"
#include "qkv/picture/terminal.h"
#include "qkv/text/read_tokenizer.h"
#include "terminal.h"
#include "token_text.h"

namespace qkv::cli {
namespace {

struct TokensArguments {
  std::string tokenizer;
  std::optional<std::string> text;
  std::optional<std::string> pair;
  std::optional<std::string> ids;
  std::optional<std::string> search;
  FileOfTexts file;
  bool list = false;
  bool source = false;
  bool no_specials = false;
  bool json = false;

  [[nodiscard]] SpecialTokens special() const { return no_specials ? SpecialTokens::without : SpecialTokens::with; }
};

bool is_directory(const std::string& path) {
  std::error_code none;  // what cannot be looked at is left to its reader
  return std::filesystem::is_directory(path, none);
}

std::shared_ptr<const Tokenizer> tokenizer_of(const TokensArguments& arguments) {
  const std::string& name = arguments.tokenizer;
  const bool is_path = name.find_first_of("/.") != std::string::npos;
  const bool is_model = !is_path || name.ends_with(".safetensors");
  if (!is_model || (is_path && is_directory(name))) {
    std::vector<std::string> cautions;
    auto tokenizer = read_tokenizer(name, &cautions);
    for (const std::string& what : cautions) complain("qkv tokens", "careful: " + what);
    return tokenizer;
  }
  const Model model = Model::open(trained_model_path(name));
  const ModelTokenizers& tokenizers = model.tokenizers();
  if (arguments.source && !tokenizers.source) misuse("--source", "a model whose source has pieces of its own", name);
  const auto tokenizer = arguments.source ? tokenizers.source : tokenizers.tokens;
  if (!tokenizer) misuse("TOKENIZER", "a model that holds a tokenizer", "\"" + name + "\", which holds none");
  return tokenizer;
}

// The rows of the table of a model's folder; 0 where no config.json says them.
std::int64_t rows_of_model(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "config.json").string();
  if (!std::filesystem::exists(path)) return 0;
  const std::vector<std::byte> bytes = read_file(path);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const nlohmann::json config = nlohmann::json::parse(text, nullptr, false);
  for (const char* place : {"/vocab_size", "/text_config/vocab_size"}) {
    const nlohmann::json::json_pointer pointer(place);
    const bool is_there = config.is_object() && config.contains(pointer) && config[pointer].is_number_unsigned();
    if (is_there) return config[pointer].get<std::int64_t>();
  }
  return 0;
}

// `generate` names rows without a piece by their numbers, as "<id:33>".
std::shared_ptr<const Tokenizer> with_rows(std::shared_ptr<const Tokenizer> tokenizer, const std::string& folder) {
  constexpr std::int64_t kMost = 1 << 24;
  const std::int64_t rows = is_directory(folder) ? rows_of_model(folder) : 0;
  if (rows <= tokenizer->size() || rows > kMost) return tokenizer;
  std::map<std::string, std::string> words = tokenizer->config();
  words["rows"] = std::to_string(rows);
  return make_tokenizer(words);
}

void decode(const TokensArguments& arguments, const Tokenizer& tokenizer) {
  std::string words = *arguments.ids;
  std::ranges::replace(words, ',', ' ');
  const auto double_space = [](char a, char b) { return a == ' ' && b == ' '; };
  words.erase(std::ranges::unique(words, double_space).begin(), words.end());
  const auto ids = numbers_from<std::int32_t>(words, ' ');
  if (!ids) misuse("--ids", "whole numbers with spaces between them", "\"" + *arguments.ids + "\"");
  const std::string text = of_option("--ids", [&] { return tokenizer.decode(*ids, arguments.special()); });
  print(arguments.json ? reply_as_json(TokensText{text}) : text + "\n");
}

// A line for each piece whose text, or whose text as it is read, holds `search`.
void list(const TokensArguments& arguments, const Tokenizer& tokenizer) {
  VocabularyFigures figures{.pieces = {}, .size = tokenizer.size()};
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    if (arguments.search && !holds(tokenizer, id, *arguments.search)) continue;
    figures.pieces.push_back({id, tokenizer.piece(id)});
  }
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

void encode(const TokensArguments& arguments, const Tokenizer& tokenizer) {
  EncodeOptions options{.special = arguments.special()};
  if (arguments.pair) options.pair = *arguments.pair;
  const std::string text = text_or_input(*arguments.text);
  const Encoding encoding = of_option("TEXT", [&] { return tokenizer.encode(text, options); });
  if (arguments.json) return print(reply_as_json(tokens_figures(encoding, tokenizer)));
  print_text(table_of(encoding, tokenizer, text, arguments.pair.value_or("")));
}

// Exactly one thing is asked for.
void require_one(const TokensArguments& arguments) {
  const int asked = (arguments.text ? 1 : 0) + (arguments.ids ? 1 : 0) + (arguments.list || arguments.search ? 1 : 0) +
                    (arguments.file.path.empty() ? 0 : 1);
  const char* const kExpected = "one of TEXT, --file, --ids, --list and --search";
  if (asked != 1) misuse("TEXT", kExpected, asked == 0 ? "none" : "several");
  if (arguments.pair && !arguments.text) misuse("--pair", "a TEXT beside it", "none");
  if (!arguments.file.path.empty() && !arguments.json) misuse("--file", "--json beside it", "none");
}

void run_tokens(TokensArguments& arguments, const Given& /*all*/) {
  require_one(arguments);
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_of(arguments);
  if (arguments.ids) return decode(arguments, *with_rows(tokenizer, arguments.tokenizer));
  if (arguments.list || arguments.search) return list(arguments, *tokenizer);
  if (!arguments.file.path.empty()) return encode_lines(arguments, *tokenizer);
  encode(arguments, *tokenizer);
}

Fields<TokensArguments> fields_of_tokens() {
  Fields<TokensArguments> fields;
  fields.add(&TokensArguments::tokenizer, {.name = "tokenizer", .meaning = "Whose tokens", .required = true});
  fields.add(&TokensArguments::text, {.name = "text", .meaning = "What to cut; - reads it from standard input"});
  fields.add(&TokensArguments::pair, {.name = "pair", .form = "TEXT", .meaning = "A second text, such as an answer"});
  fields.add(&TokensArguments::file, file_fields("Cut each line of a file; with --json"));
  fields.add(&TokensArguments::ids,
             {.name = "ids", .form = "IDS", .meaning = "The text of these tokens, such as \"12 7\""});
  fields.add(&TokensArguments::list, {.name = "list", .meaning = "The whole vocabulary"});
  fields.add(&TokensArguments::search, {.name = "search", .form = "TEXT", .meaning = "The pieces that hold a text"});
  fields.add(&TokensArguments::source, {.name = "source", .meaning = "Of an encoder-decoder: the source's own pieces"});
  fields.add(&TokensArguments::no_specials,
             {.name = "no_specials", .meaning = "Without the special tokens of the template"});
  fields.add(&TokensArguments::json, json_field());
  fields.give_examples({{"tokenizer", "english"},
                        {"text", "the cats are here"},
                        {"pair", "a dog runs"},
                        {"ids", "12 7"},
                        {"search", "king"}});
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
