#include "text/gguf_tokenizer_words.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/listed.h"
#include "files/json_text.h"
#include "qkv/error.h"
#include "text/base64.h"
#include "text/characters.h"
#include "text/gguf_tokenizer.h"
#include "text/json_field.h"
#include "text/pipeline_tokenizer.h"
#include "text/sentence_piece.h"
#include "text/sentence_piece_file.h"

namespace qkv::text {
namespace {

struct WrittenToken {
  std::string text;
  SentencePieceType type = SentencePieceType::unused;
  double score = 0;
};

// Rows without a piece, as converters call them.
std::vector<WrittenToken> unused_tokens(std::int64_t rows) {
  std::vector<WrittenToken> tokens(static_cast<std::size_t>(rows));
  for (std::size_t id = 0; id < tokens.size(); ++id) tokens[id].text = "[PAD" + std::to_string(id) + "]";
  return tokens;
}

void add_tokens(GgufMetadata& words, const std::vector<WrittenToken>& tokens) {
  std::vector<std::string> texts;
  std::vector<std::int64_t> types;
  for (const WrittenToken& token : tokens) {
    texts.push_back(token.text);
    types.push_back(static_cast<std::int64_t>(token.type));
  }
  words["tokenizer.ggml.tokens"] = {"list of string", std::move(texts)};
  words["tokenizer.ggml.token_type"] = {"list of i32", std::move(types)};
}

void add_scores(GgufMetadata& words, const std::vector<WrittenToken>& tokens) {
  std::vector<double> scores;
  for (const WrittenToken& token : tokens) scores.push_back(token.score);
  words["tokenizer.ggml.scores"] = {"list of f32", std::move(scores)};
}

void add_text(GgufMetadata& words, const std::string& key, std::string value) {
  words[key] = {"string", std::move(value)};
}

void add_flag(GgufMetadata& words, const std::string& key, bool value) { words[key] = {"bool", value}; }

void add_token_id(GgufMetadata& words, const char* name, std::int64_t id) { words[token_id_key(name)] = {"u32", id}; }

// The tokens that are put around a text.
struct TokensAround {
  std::vector<std::int32_t> begin;
  std::vector<std::int32_t> end;
};
TokensAround tokens_around(const Tokenizer& tokenizer) {
  const Encoding encoding = tokenizer.encode("a");
  TokensAround around;
  bool is_behind = false;
  for (std::size_t n = 0; n < encoding.ids.size(); ++n) {
    if (encoding.sources[n] == TokenSource::added) {
      (is_behind ? around.end : around.begin).push_back(encoding.ids[n]);
    } else {
      is_behind = true;
    }
  }
  return around;
}

void add_ends(GgufMetadata& words, const Tokenizer& tokenizer, const char* end_name, const std::string& source) {
  const TokensAround around = tokens_around(tokenizer);
  if (around.begin.size() > 1 || around.end.size() > 1) {
    refuse_tokenizer(source, "post_processor", "at most one token before and one behind a text");
  }
  if (!around.begin.empty()) add_token_id(words, "bos", around.begin.front());
  if (!around.end.empty()) add_token_id(words, end_name, around.end.front());
  add_flag(words, "tokenizer.ggml.add_bos_token", !around.begin.empty());
  add_flag(words, "tokenizer.ggml.add_eos_token", !around.end.empty());
}

bool flag_of(const Json& object, const char* word, bool otherwise) {
  const auto found = object.find(word);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

std::string type_of_part(const Json& part) { return part.is_object() ? part.value("type", "") : "none"; }

void add_added_tokens(const Json& json, std::vector<WrittenToken>& tokens, std::vector<std::string>& cautions) {
  std::vector<std::string> odd;
  for (const Json& added : json.value("added_tokens", Json::array())) {
    const std::int64_t id = added.value("id", std::int64_t{-1});
    if (id < 0 || id >= std::ssize(tokens)) continue;
    WrittenToken& token = tokens[static_cast<std::size_t>(id)];
    token.text = added.value("content", token.text);
    token.type = flag_of(added, "special", false) ? SentencePieceType::control : SentencePieceType::user_defined;
    if (flag_of(added, "lstrip", false) || flag_of(added, "rstrip", false) || flag_of(added, "single_word", false)) {
      odd.push_back(token.text);
    }
  }
  if (!odd.empty())
    cautions.push_back(core::joined(odd) + ": GGUF does not say which blanks beside such a token are its own");
}

std::vector<WrittenToken> tokens_of_vocab(const Json& vocab, std::int64_t rows, const std::string& source) {
  std::vector<WrittenToken> tokens = unused_tokens(rows);
  for (const auto& [piece, id] : vocab.items()) {
    const std::int64_t number = id.get<std::int64_t>();
    if (number < 0 || number >= rows) {
      refuse_tokenizer(source, "\"" + piece + "\"",
                       "a token below " + std::to_string(rows) + ", the rows of the model's table");
    }
    tokens[static_cast<std::size_t>(number)] = {.text = piece, .type = SentencePieceType::normal};
  }
  return tokens;
}

std::vector<std::string> merges_of(const Json& merges) {
  std::vector<std::string> all;
  for (const Json& merge : merges) {
    all.push_back(merge.is_array() ? merge.at(0).get<std::string>() + " " + merge.at(1).get<std::string>()
                                   : merge.get<std::string>());
  }
  return all;
}

GgufMetadata byte_level_words(const Json& json, const Tokenizer& tokenizer, std::int64_t rows,
                              const std::string& source, std::vector<std::string>& cautions) {
  const Json& model = json.at("model");
  for (const char* word : {"byte_fallback", "fuse_unk"}) {
    if (flag_of(model, word, false)) refuse_tokenizer(source, std::string("model.") + word, "false");
  }
  for (const char* word : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json value = model.value(word, Json());
    if (value.is_string() && !value.get<std::string>().empty()) {
      refuse_tokenizer(source, std::string("model.") + word, "none");
    }
  }
  GgufMetadata words;
  add_text(words, "tokenizer.ggml.model", "gpt2");
  add_text(words, "tokenizer.ggml.pre", gguf_pre_tokenizer(json, source));
  std::vector<WrittenToken> tokens = tokens_of_vocab(model.at("vocab"), rows, source);
  add_added_tokens(json, tokens, cautions);
  add_tokens(words, tokens);
  words["tokenizer.ggml.merges"] = {"list of string", merges_of(model.at("merges"))};
  add_ends(words, tokenizer, "eos", source);
  return words;
}

bool is_replaced_blank(const Json& part) {
  return type_of_part(part) == "Replace" && part.value("content", "") == kBlankMark &&
         part.value("pattern", Json::object()).value("String", "") == " ";
}

// Whether a mark of a blank is put before a text: by its normalizer, or by what cuts it.
bool marks_begin(const Json& json, const std::string& source) {
  const Json normalizer = json.value("normalizer", Json());
  const Json parts = type_of_part(normalizer) == "Sequence" ? normalizer.at("normalizers")
                     : normalizer.is_null()                 ? Json::array()
                                                            : Json::array({normalizer});
  bool is_marked = false;
  for (const Json& part : parts) {
    const bool is_prepended = type_of_part(part) == "Prepend" && part.value("prepend", "") == kBlankMark;
    if (!is_prepended && !is_replaced_blank(part)) {
      refuse_tokenizer(source, "normalizer " + type_of_part(part), "marks of blanks alone");
    }
    is_marked = is_marked || is_prepended;
  }
  const Json cut = json.value("pre_tokenizer", Json());
  const bool is_cut_at_blanks = type_of_part(cut) == "Split" && std::ranges::any_of(parts, is_replaced_blank);
  if (cut.is_null() || is_cut_at_blanks) return is_marked;
  if (type_of_part(cut) != "Metaspace" || cut.value("replacement", "") != kBlankMark) {
    refuse_tokenizer(source, "pre_tokenizer " + type_of_part(cut), "Metaspace or none");
  }
  const std::string scheme = cut.value("prepend_scheme", flag_of(cut, "add_prefix_space", true) ? "always" : "never");
  return is_marked || scheme != "never";
}

// Ranks of the pieces that merges make. SentencePiece merges any two neighbours that make a piece, the best piece
// first: so all merges of a piece have to be there, one after the other.
std::map<std::string, std::int64_t> merged_pieces(const Json& model, const std::string& source) {
  std::map<std::string, std::int64_t> ranks;
  std::map<std::string, std::size_t> counts;
  std::string last;
  for (std::string merge : merges_of(model.at("merges"))) {
    merge.erase(merge.find(' ', 1), 1);
    const bool is_new = ranks.try_emplace(merge, std::ssize(ranks)).second;
    if (!is_new && merge != last) refuse_tokenizer(source, "merges of \"" + merge + "\"", "one after the other");
    ++counts[merge];
    last = std::move(merge);
  }
  const Json& vocab = model.at("vocab");
  for (const auto& [piece, count] : counts) {
    std::size_t ways = 0;
    for (std::size_t at = character_length(piece[0]); at < piece.size(); at += character_length(piece[at])) {
      if (vocab.contains(piece.substr(0, at)) && vocab.contains(piece.substr(at))) ++ways;
    }
    if (ways != count) {
      refuse_tokenizer(source, "model BPE: \"" + piece + "\", which " + std::to_string(count) + " merges make",
                       std::to_string(ways) + ", all pairs of pieces, as SentencePiece has it");
    }
  }
  return ranks;
}

bool is_byte_piece(const std::string& piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>');
}

// SentencePiece's BPE, as transformers saves it without its tokenizer.model: a piece's score is its rank, below 0.
GgufMetadata ranked_piece_words(const Json& json, const Tokenizer& tokenizer, std::int64_t rows,
                                const std::string& source, std::vector<std::string>& cautions) {
  const Json& model = json.at("model");
  if (!flag_of(model, "byte_fallback", false) || flag_of(model, "ignore_merges", false)) {
    refuse_tokenizer(source, "model BPE without bytes or by whole words",
                     "byte-level BPE, WordPiece of lower case, or SentencePiece");
  }
  const bool is_marked = marks_begin(json, source);
  const bool is_cut = flag_of(json.value("pre_tokenizer", Json::object()), "split", false);
  const std::map<std::string, std::int64_t> ranks = merged_pieces(model, source);
  std::vector<WrittenToken> tokens = tokens_of_vocab(model.at("vocab"), rows, source);
  const Json unknown_piece = model.value("unk_token", Json());
  const std::string unknown = unknown_piece.is_string() ? unknown_piece.get<std::string>() : "";
  GgufMetadata words;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    WrittenToken& token = tokens[id];
    const auto rank = ranks.find(token.text);
    if (rank != ranks.end()) token.score = -1.0 - static_cast<double>(rank->second);
    if (is_byte_piece(token.text)) token.type = SentencePieceType::byte;
    if (is_cut && rank != ranks.end() && token.text.find(kBlankMark, 1) != std::string::npos) {
      refuse_tokenizer(source, "\"" + token.text + "\"", "no blank within a piece where texts are cut at blanks");
    }
  }
  add_added_tokens(json, tokens, cautions);
  if (const auto id = tokenizer.find(unknown); id && *id < rows) {
    tokens[static_cast<std::size_t>(*id)].type = SentencePieceType::unknown;
    add_token_id(words, "unknown", *id);
  }
  add_text(words, "tokenizer.ggml.model", "llama");
  add_text(words, "tokenizer.ggml.pre", "default");
  add_tokens(words, tokens);
  add_scores(words, tokens);
  add_ends(words, tokenizer, "eos", source);
  add_flag(words, "tokenizer.ggml.add_space_prefix", is_marked);
  add_flag(words, "tokenizer.ggml.remove_extra_whitespaces", false);
  return words;
}

// The mark is on the pieces that begin a word; in BERT's own files it is on the others.
std::string marked_piece(const std::string& piece, const std::string& source) {
  constexpr std::string_view kGoesOn = "##";
  if (piece.starts_with('[') && piece.ends_with(']')) return piece;
  if (!piece.starts_with(kGoesOn)) return std::string(kBlankMark) + piece;
  const std::string rest = piece.substr(kGoesOn.size());
  if (rest.starts_with(kBlankMark) || (rest.starts_with('[') && rest.ends_with(']'))) {
    refuse_tokenizer(source, "\"" + piece + "\"", "a piece that begins a word");
  }
  return rest;
}

GgufMetadata word_piece_words(const Json& json, const Tokenizer& tokenizer, std::int64_t rows,
                              const std::string& source, std::vector<std::string>& cautions) {
  const Json normalizer = json.value("normalizer", Json());
  if (type_of_part(normalizer) != "BertNormalizer" || !flag_of(normalizer, "lowercase", true)) {
    refuse_tokenizer(source, "normalizer", "BERT's with lower case");
  }
  const Json& model = json.at("model");
  if (model.value("continuing_subword_prefix", "##") != "##") {
    refuse_tokenizer(source, "model.continuing_subword_prefix", "\"##\"");
  }
  GgufMetadata words;
  add_text(words, "tokenizer.ggml.model", "bert");
  add_text(words, "tokenizer.ggml.pre", "default");
  std::vector<WrittenToken> tokens = tokens_of_vocab(model.at("vocab"), rows, source);
  add_added_tokens(json, tokens, cautions);
  for (WrittenToken& token : tokens) {
    if (token.type != SentencePieceType::unused) token.text = marked_piece(token.text, source);
  }
  add_tokens(words, tokens);
  add_ends(words, tokenizer, "seperator", source);
  if (const auto unknown = tokenizer.find(model.value("unk_token", "[UNK]"))) add_token_id(words, "unknown", *unknown);
  return words;
}

GgufMetadata sentence_piece_words(const std::map<std::string, std::string>& config, const Tokenizer& tokenizer,
                                  std::int64_t rows, const std::string& source) {
  const std::string bytes = from_base64(config.at("model")).value_or("");
  const SentencePieceFile file = read_sentence_piece_file(bytes, source);
  const SentencePieceOptions options = options_from(config.at("options"), source);
  if (options.order != PieceOrder::of_file) refuse_tokenizer(source, "the order of its pieces", "that of its file");
  if (options.cleaning != TextCleaning::none) refuse_tokenizer(source, "what cleans its texts", "nothing");
  const bool is_bpe = file.model == SentencePieceModelType::bpe;
  if (!is_bpe && file.model != SentencePieceModelType::unigram) {
    refuse_tokenizer(source, "trainer_spec.model_type", "unigrams or BPE");
  }
  std::vector<WrittenToken> tokens = unused_tokens(rows);
  if (std::ssize(file.pieces) > rows) {
    refuse_tokenizer(source, std::to_string(file.pieces.size()) + " pieces",
                     "at most " + std::to_string(rows) + ", the rows of the model's table");
  }
  for (std::size_t id = 0; id < file.pieces.size(); ++id) {
    const SentencePiece& piece = file.pieces[id];
    tokens[id] = {piece.text, piece.type, static_cast<double>(piece.score)};
  }
  for (const AddedToken& added : options.added) {
    if (added.id < 0 || added.id >= rows) continue;
    WrittenToken& token = tokens[static_cast<std::size_t>(added.id)];
    token.text = added.content;
    token.type = added.special ? SentencePieceType::control : SentencePieceType::user_defined;
  }
  GgufMetadata words;
  add_text(words, "tokenizer.ggml.model", is_bpe ? "llama" : "t5");
  add_text(words, "tokenizer.ggml.pre", "default");
  add_tokens(words, tokens);
  add_scores(words, tokens);
  add_ends(words, tokenizer, "eos", source);
  add_flag(words, "tokenizer.ggml.add_space_prefix", file.normalizer.add_dummy_prefix);
  add_flag(words, "tokenizer.ggml.remove_extra_whitespaces", file.normalizer.remove_extra_whitespaces);
  if (file.unknown) add_token_id(words, "unknown", *file.unknown);
  if (!file.normalizer.charsmap.empty()) {
    std::vector<std::int64_t> map;
    for (const char byte : file.normalizer.charsmap) map.push_back(static_cast<unsigned char>(byte));
    words["tokenizer.ggml.precompiled_charsmap"] = {"list of u8", std::move(map)};
  }
  return words;
}

}  // namespace

GgufMetadata gguf_tokenizer_words(const Tokenizer& tokenizer, std::int64_t rows, const std::string& source,
                                  std::vector<std::string>& cautions) {
  const std::map<std::string, std::string> config = tokenizer.config();
  const std::string& kind = config.at("kind");
  if (kind == kSentencePieceKind) return sentence_piece_words(config, tokenizer, rows, source);
  if (kind != kPipelineKind) refuse_tokenizer(source, "its kind, " + kind, "tokenizer.json or tokenizer.model");
  const Json json = files::parse_json(config.at("json"), source);
  const std::string model = type_of_part(json.at("model"));
  const std::string cut = json.value("pre_tokenizer", Json()).dump();
  if (model == "WordPiece") return word_piece_words(json, tokenizer, rows, source, cautions);
  if (model == "BPE" && cut.find("ByteLevel") != std::string::npos) {
    return byte_level_words(json, tokenizer, rows, source, cautions);
  }
  if (model == "BPE") return ranked_piece_words(json, tokenizer, rows, source, cautions);
  refuse_tokenizer(source, "model " + model,
                   "byte-level BPE, WordPiece of lower case, or SentencePiece with its tokenizer.model");
}

void require_same_cuts(const Tokenizer& before, const Tokenizer& after, const std::string& source,
                       std::vector<std::string>& cautions) {
  constexpr std::size_t kMostPieces = 4096;
  const auto are_same = [&](const std::string& text) { return before.encode(text).ids == after.encode(text).ids; };
  // Where only the first text of several is marked, GGUF marks them all.
  const bool marks_others = !are_same(" begins with a blank");
  if (marks_others) {
    cautions.emplace_back(
        "a text that begins with a blank or stands behind a special token is cut otherwise by the tokenizer that is "
        "written");
  }
  std::vector<std::string> texts = {
      "The quick brown fox's 12345 tests, don't?  Two  blanks\n\nnew lines\ttabs \u2014 d\u00e9j\u00e0 vu, "
      "na\u00efve \u00dcn\u00efc\u00f6d\u00e9; \u65e5\u672c\u8a9e\u306e\u6587\u3002 "
      "\u0440\u0443\u0441\u0441\u043a\u0438\u0439 "
      "\u0442\u0435\u043a\u0441\u0442, \u0627\u0644\u0639\u0631\u0628\u064a\u0629, \ud55c\uad6d\uc5b4, "
      "\U0001F600\U0001F44D",
      "def f(x):\n    return x**2 + 1.5e-3  # code\n\tHTTPServer snake_case a_b C++17 1,234.56 $100% <tag "
      "attr=\"v\"/>\r\n",
      "x", "3.14159 2026 007", "WE'LL WON'T it's I'm they've\u2026 \u201cquoted\u201d \u2013 e\u0301"};
  const auto every =
      static_cast<std::int64_t>(std::max<std::size_t>(1, static_cast<std::size_t>(before.size()) / kMostPieces));
  for (std::int64_t id = 0; id < std::min(before.size(), after.size()); id += every) {
    const std::string bytes = before.bytes(static_cast<std::int32_t>(id));
    const bool is_special = before.decode(std::array{static_cast<std::int32_t>(id)}, SpecialTokens::without).empty();
    if (!bytes.empty() && !(marks_others && is_special)) texts.push_back("a" + bytes + "b");
  }
  for (const std::string& text : texts) {
    if (are_same(text)) continue;
    throw FileError(source, "its tokenizer cuts " +
                                nlohmann::json(text).dump(-1, ' ', false, Json::error_handler_t::replace) +
                                " otherwise than the one that can be written");
  }
}

}  // namespace qkv::text
