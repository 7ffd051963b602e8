#include "qkv/api/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/models/shown.h"
#include "api/replies/json_of.h"
#include "core/number_text.h"
#include "files/reading.h"
#include "qkv/files.h"
#include "qkv/model/box.h"
#include "qkv/model/model.h"
#include "qkv/text/read_tokenizer.h"

namespace qkv {
namespace {

using api_detail::Json;
using api_detail::refuse;

bool is_directory(const std::string& path) {
  std::error_code none;  // what cannot be looked at is left to its reader
  return std::filesystem::is_directory(path, none);
}

// The rows of the table of a model's folder; 0 where no config.json says them.
std::int64_t rows_of_model(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "config.json").string();
  if (!std::filesystem::exists(path)) return 0;
  const std::vector<std::byte> bytes = read_file(path);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Json config = Json::parse(text, nullptr, false);
  for (const char* place : {"/vocab_size", "/text_config/vocab_size"}) {
    const Json::json_pointer pointer(place);
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

bool holds(const Tokenizer& tokenizer, std::int32_t id, std::string_view text) {
  if (tokenizer.piece(id).find(text) != std::string::npos) return true;
  const std::array one = {id};
  return tokenizer.decode(one, SpecialTokens::with).find(text) != std::string::npos;
}

// Whether it is a path, which is in reach, and no model of the box.
bool is_path_in_reach(const std::string& name) {
  const bool is_path = name.find_first_of("/.") != std::string::npos;
  if (is_path) files::require_in_reach(name);  // before it is told what lies there
  return is_path;
}

std::shared_ptr<const Tokenizer> tokenizer_of(const TokensRequest& request, const Saying& saying) {
  const std::string& name = request.tokenizer;
  const bool is_path = is_path_in_reach(name);
  const bool is_model = !is_path || name.ends_with(".safetensors") || (name.ends_with(".gguf") && request.source);
  if (!is_model || (is_path && is_directory(name))) {
    if (request.source) refuse("source", "a model whose source has pieces of its own", name);
    std::vector<std::string> cautions;
    auto tokenizer = read_tokenizer(name, &cautions);
    for (const std::string& what : cautions) saying.careful(what);
    return tokenizer;
  }
  const Model model = Model::open(trained_model_path(name));
  const ModelTokenizers& tokenizers = model.tokenizers();
  if (request.source && !tokenizers.source) refuse("source", "a model whose source has pieces of its own", name);
  auto tokenizer = request.source ? tokenizers.source : tokenizers.tokens;
  if (!tokenizer) refuse("tokenizer", "a model that holds a tokenizer", "\"" + name + "\", which holds none");
  return tokenizer;
}

TokensFigures of_conversation(const TokensRequest& request, const Saying& saying) {
  const std::string& name = request.tokenizer;
  const bool is_path = is_path_in_reach(name);
  const bool is_file = is_path && !name.ends_with(".safetensors") && !name.ends_with(".gguf") && !is_directory(name);
  if (is_file) refuse("chat", "a model, whose chat template lies beside its tokenizer", "\"" + name + "\" alone");
  // Nothing is computed: weights stay in the mapped file.
  const Model model = Model::open(trained_model_path(name), QuantisedWeights::as_stored);
  for (const std::string& what : model.cautions()) saying.careful(what);
  const std::vector<ChatMessage> messages = conversation_in(request.talk, request.text);
  const ChatTokens read = ChatForm(model.tokenizers()).read(messages, ChatEnd::for_answer);
  return tokens_figures(read, messages, *model.tokenizers().tokens);
}

TokensText decoded(const TokensRequest& request, const std::shared_ptr<const Tokenizer>& tokenizer) {
  std::string words = *request.ids;
  std::ranges::replace(words, ',', ' ');
  const auto double_space = [](char a, char b) { return a == ' ' && b == ' '; };
  words.erase(std::ranges::unique(words, double_space).begin(), words.end());
  const auto ids = core::numbers_from<std::int32_t>(words, ' ');
  if (!ids) refuse("ids", "whole numbers with spaces between them", "\"" + *request.ids + "\"");
  const auto all = with_rows(tokenizer, request.tokenizer);
  return {.text = all->decode(*ids, request.special()), .cautions = {}};
}

VocabularyFigures vocabulary_of(const TokensRequest& request, const Tokenizer& tokenizer) {
  VocabularyFigures figures{.pieces = {}, .size = tokenizer.size(), .cautions = {}};
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    if (request.search && !holds(tokenizer, id, *request.search)) continue;
    figures.pieces.push_back({id, tokenizer.piece(id)});
  }
  return figures;
}

Encoding encoded(const TokensRequest& request, const Tokenizer& tokenizer) {
  EncodeOptions options{.special = request.special()};
  if (request.pair) options.pair = *request.pair;
  return tokenizer.encode(*request.text, options);
}

}  // namespace

const Fields<TokensRequest>& tokens_fields() {
  static const Fields<TokensRequest> kFields = [] {
    using R = TokensRequest;
    Fields<R> fields;
    fields.add(&R::tokenizer, {.name = "tokenizer", .meaning = "Whose tokens", .required = true});
    fields.add(&R::text, api_detail::shared_field("text"));
    fields.add(&R::file, file_fields());
    fields.add(&R::pair,
               {.name = "pair", .form = "TEXT", .meaning = "A second text, such as an answer", .needs = {"text"}});
    fields.add(&R::ids, {.name = "ids", .form = "IDS", .meaning = "The text of these tokens, such as \"12 7\""});
    fields.add(&R::list, {.name = "list", .meaning = "The whole vocabulary"});
    fields.add(&R::search, {.name = "search", .form = "TEXT", .meaning = "The pieces that hold a text"});
    fields.add(&R::source, {.name = "source", .meaning = "Of an encoder-decoder: the source's own pieces"});
    fields.add(&R::no_specials, {.name = "no_specials", .meaning = "Without the special tokens of the template"});
    fields.add(&R::talk, api_detail::looked_at_chat_fields());
    fields.exclude({"no_specials"}, {"list", "search"}, "a vocabulary has no template");
    fields.exclude({"chat"}, {"file", "pair", "ids", "list", "search", "source", "no_specials"},
                   "a conversation is one text, in its template");
    constexpr const char* kOne = "one thing is looked at";
    fields.exclude({"file"}, {"text"}, kOne);
    fields.exclude({"ids"}, {"text", "file"}, kOne);
    fields.exclude({"list"}, {"text", "file", "ids"}, kOne);
    fields.exclude({"search"}, {"text", "file", "ids", "list"}, kOne);
    fields.info("tokenizer").needs_one = {"text", "file", "ids", "list", "search", "user", "messages"};
    fields.tell_arguments({{"ids", {"id"}}, {"tokenizer", {"model"}}});
    fields.give_examples({{"tokenizer", "english"},
                          {"text", "the cats are small"},
                          {"pair", "a dog runs"},
                          {"ids", "12 7"},
                          {"search", "king"}});
    return fields;
  }();
  return kFields;
}

TokensFound found_tokens(const TokensRequest& request, const Saying& saying) {
  tokens_fields().require_company(request);
  if (request.talk.chat) return of_conversation(request, saying);
  const auto tokenizer = tokenizer_of(request, saying);
  if (request.ids) return decoded(request, tokenizer);
  if (request.list || request.search) return vocabulary_of(request, *tokenizer);
  if (request.text) return tokens_figures(encoded(request, *tokenizer), *tokenizer);
  std::vector<TokensFigures> all;
  const Texts lines = texts_of(request.file);
  for (std::size_t n = 0; n < lines.texts.size(); ++n) {
    const std::string place = lines.place_of(fmt::format("texts[{}]", n)).value_or("file");
    all.push_back(api_detail::of_field(place, [&] {
      return tokens_figures(tokenizer->encode(lines.texts[n], {.special = request.special()}), *tokenizer);
    }));
  }
  return all;
}

AnyReply answer(const TokensRequest& request, const Saying& saying) {
  return std::visit([](auto&& found) { return any_reply(std::forward<decltype(found)>(found)); },
                    found_tokens(request, saying));
}

}  // namespace qkv
