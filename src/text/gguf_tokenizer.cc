#include "text/gguf_tokenizer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <utility>

#include "core/listed.h"
#include "files/safetensors_header.h"
#include "qkv/error.h"
#include "text/characters.h"
#include "text/files_beside.h"
#include "text/fitted_tokenizer.h"
#include "text/gguf_pre_tokenizer.h"
#include "text/json_field.h"
#include "text/pipeline_tokenizer.h"
#include "text/sentence_piece.h"
#include "text/sentence_piece_file.h"

namespace qkv::text {
namespace {

using files::GgufKeys;

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";
constexpr std::string_view kCharsmapKey = "tokenizer.ggml.precompiled_charsmap";

using TokenType = SentencePieceType;

struct GgufToken {
  std::string text;
  TokenType type = TokenType::normal;
  double score = 0;
};

void require_utf8_in(const GgufKeys& keys, std::string_view key, std::span<const std::string> texts) {
  if (!std::ranges::all_of(texts, files::is_utf8)) keys.refuse(key, "texts in UTF-8");
}

// Gives each token its type. One that is none, such as 0, is that of a piece of texts, as llama.cpp cuts them.
void add_types(const GgufKeys& keys, std::vector<GgufToken>& tokens, std::vector<std::string>& cautions) {
  const std::vector<std::int64_t> types = keys.integers(kTypesKey);
  if (types.empty()) return;
  if (types.size() != tokens.size()) {
    keys.refuse(kTypesKey, "one for each of the " + std::to_string(tokens.size()) + " tokens");
  }
  std::size_t unknown = 0;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (types[id] >= 1 && types[id] <= 6) {
      tokens[id].type = static_cast<TokenType>(types[id]);
    } else if (unknown++ == 0) {
      cautions.push_back(std::string(kTypesKey) + ": " + std::to_string(types[id]) + " of token " + std::to_string(id) +
                         " is no type: it and others like it are taken as pieces of texts");
    }
  }
}

// A token without a text gets a name, as llama.cpp calls it, which no text is cut into.
std::vector<GgufToken> tokens_in(const GgufKeys& keys, std::vector<std::string>& cautions) {
  const std::vector<std::string>& texts = keys.texts(kTokensKey);
  require_utf8_in(keys, kTokensKey, texts);
  const std::vector<double> scores = keys.numbers(kScoresKey);
  if (texts.empty()) keys.refuse(kTokensKey, "1 token or more");
  if (!scores.empty() && scores.size() != texts.size()) {
    keys.refuse(kScoresKey, "one for each of the " + std::to_string(texts.size()) + " tokens");
  }
  std::vector<GgufToken> tokens(texts.size());
  for (std::size_t id = 0; id < texts.size(); ++id) {
    tokens[id].text = texts[id];
    if (!scores.empty()) tokens[id].score = scores[id];
  }
  add_types(keys, tokens, cautions);
  for (std::size_t id = 0; id < texts.size(); ++id) {
    if (!tokens[id].text.empty()) continue;
    tokens[id].text = "[EMPTY_" + std::to_string(id) + "]";
    tokens[id].type = TokenType::unused;
  }
  return tokens;
}

Json added_token(std::size_t id, std::string_view content, bool is_special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", is_special}};
}

// Those that a text is searched for before anything else.
Json added_in(std::span<const GgufToken> tokens) {
  Json added = Json::array();
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const TokenType type = tokens[id].type;
    if (type != TokenType::control && type != TokenType::user_defined) continue;
    if (!tokens[id].text.empty()) added.push_back(added_token(id, tokens[id].text, type == TokenType::control));
  }
  return added;
}

// Of two tokens with one text the later is found in texts.
PieceTable pieces_of(std::span<const GgufToken> tokens, std::vector<std::string>& cautions) {
  PieceTable pieces;
  pieces.reserve(tokens.size());
  std::vector<std::string> twice;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const bool is_new = pieces.set(static_cast<std::int32_t>(id), tokens[id].text);
    if (!is_new) twice.push_back("\"" + tokens[id].text + "\"");
  }
  if (!twice.empty()) {
    cautions.push_back(std::string(kTokensKey) + ": " + core::listed(twice, 4) +
                       ": there twice; a text is cut into the later of two tokens");
  }
  return pieces;
}

// Numbers by pieces.
Json json_of(const PieceTable& pieces) {
  Json all = Json::object();
  for (std::int32_t id = 0; id < pieces.size(); ++id) all[pieces.piece(id)] = id;
  return all;
}

// A text between tokens of the names that the metadata say.
Json template_of(std::span<const GgufToken> tokens, std::optional<std::int64_t> begin,
                 std::optional<std::int64_t> end) {
  if (!begin && !end) return nullptr;
  Json single = Json::array();
  Json special = Json::object();
  const auto add = [&](std::optional<std::int64_t> id) {
    if (!id) return;
    const std::string name(tokens[static_cast<std::size_t>(*id)].text);
    single.push_back({{"SpecialToken", {{"id", name}, {"type_id", 0}}}});
    special[name] = {{"id", name}, {"ids", {*id}}, {"tokens", {name}}};
  };
  add(begin);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  add(end);
  Json pair = single;
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
  if (end) pair.push_back({{"SpecialToken", {{"id", tokens[static_cast<std::size_t>(*end)].text}, {"type_id", 1}}}});
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}};
}

// `options` makes what tokenizer.json has as "model", but for the vocabulary, when it is to be saved.
std::shared_ptr<const Tokenizer> pipeline_of(const GgufKeys& keys, const SubwordModelPtr& model, const Json& stages,
                                             std::function<Json()> options) {
  const auto json = [model, stages, options = std::move(options)] {
    Json whole = stages;
    whole["model"] = options();
    whole["model"]["vocab"] = json_of(model->pieces());
    return whole.dump();
  };
  return text::pipeline_of(model, stages, json, keys.file().source());
}

std::shared_ptr<const Tokenizer> byte_level_bpe(const GgufKeys& keys, std::vector<std::string>& cautions) {
  const std::vector<GgufToken> tokens = tokens_in(keys, cautions);
  const GgufPreTokenizer cut = gguf_pre_tokenizer_in(keys, cautions);
  const std::vector<std::string>& merges = keys.texts(kMergesKey);
  require_utf8_in(keys, kMergesKey, merges);
  const bool is_roberta = keys.text(kPreKey, "") == "roberta-bpe";
  const auto ends_with = [&](const char* name, const char* key, bool usual) {
    const bool is_there = keys.flag(std::string("tokenizer.ggml.") + key, usual);
    return is_there ? special_token(keys, name, tokens.size()) : std::nullopt;
  };
  const auto begin = ends_with("bos", "add_bos_token", cut.begins || is_roberta);
  const auto end = ends_with("eos", "add_eos_token", is_roberta);
  const MergePlace place{keys.file().source() + ": " + std::string(kMergesKey), std::string(kTokensKey)};
  return pipeline_of(keys, make_bpe(pieces_of(tokens, cautions), merges, cut.ignores_merges, place),
                     {{"version", "1.0"},
                      {"added_tokens", added_in(tokens)},
                      {"normalizer", cut.normalizer},
                      {"pre_tokenizer", cut.json},
                      {"post_processor", template_of(tokens, begin, end)},
                      {"decoder", gguf_bytes_step(true)}},
                     [ignores = cut.ignores_merges, merges] {
                       return Json{{"type", "BPE"}, {"ignore_merges", ignores}, {"merges", merges}};
                     });
}

// In the file a piece that begins a word begins with a mark, and one that goes on has none; BERT has it the other way.
std::string bert_piece(std::string_view token) {
  if (token.starts_with(kBlankMark)) return std::string(token.substr(kBlankMark.size()));
  return token.starts_with('[') && token.ends_with(']') ? std::string(token) : "##" + std::string(token);
}

std::shared_ptr<const Tokenizer> word_piece(const GgufKeys& keys, std::vector<std::string>& cautions) {
  std::vector<GgufToken> tokens = tokens_in(keys, cautions);
  std::vector<std::string> pieces;
  for (const GgufToken& token : tokens) pieces.push_back(bert_piece(token.text));
  const auto id_of = [&](const char* name, const char* usual) -> std::size_t {
    if (const auto id = special_token(keys, name, tokens.size())) return static_cast<std::size_t>(*id);
    const auto found = std::ranges::find(pieces, usual);
    if (found == pieces.end()) keys.refuse(kTokensKey, std::string("a token ") + usual);
    return static_cast<std::size_t>(found - pieces.begin());
  };
  const std::size_t unknown = id_of("unknown", "[UNK]");
  const std::size_t begin = id_of("bos", "[CLS]");
  const std::size_t end = id_of("seperator", "[SEP]");
  Json added = Json::array();
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    tokens[id].text = pieces[id];
    const bool is_special = tokens[id].type == TokenType::control || id == unknown || id == begin || id == end;
    if (is_special || tokens[id].type == TokenType::user_defined) {
      added.push_back(added_token(id, pieces[id], is_special));
    }
  }
  const WordPieceOptions options{.unknown = pieces[unknown], .prefix = "##"};
  return pipeline_of(
      keys, make_word_piece(pieces_of(tokens, cautions), options),
      {{"version", "1.0"},
       {"added_tokens", added},
       {"normalizer",
        {{"type", "BertNormalizer"},
         {"clean_text", true},
         {"handle_chinese_chars", true},
         {"strip_accents", nullptr},
         {"lowercase", true}}},
       {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
       {"post_processor", template_of(tokens, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end))},
       {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}}},
      [options] {
        return Json{{"type", "WordPiece"},
                    {"unk_token", options.unknown},
                    {"continuing_subword_prefix", options.prefix},
                    {"max_input_chars_per_word", options.longest_word}};
      });
}

struct SentencePieceKind {
  std::int32_t model;  // as SentencePiece numbers them: 1 unigram, 2 BPE
  bool begins;         // with a token, where the file does not say
  bool ends;
  bool blank = true;  // before a text, likewise
};

// The tokens as the tokenizer.model that they came from.
std::string proto_of(const GgufKeys& keys, std::span<const GgufToken> tokens, const SentencePieceKind& kind) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  bool has_bytes = false;
  for (const GgufToken& token : tokens) {
    protozero::pbf_writer piece(writer, 1);
    piece.add_string(1, token.text.data(), token.text.size());
    piece.add_float(2, static_cast<float>(token.score));
    piece.add_int32(3, static_cast<std::int32_t>(token.type));
    has_bytes = has_bytes || token.type == TokenType::byte;
  }
  std::string trainer;
  protozero::pbf_writer of_trainer(trainer);
  of_trainer.add_int32(3, kind.model);
  of_trainer.add_bool(35, has_bytes);
  for (const auto& [name, field] : {std::pair("bos", 46U), {"eos", 47U}}) {
    const auto id = special_token(keys, name, tokens.size());
    if (id) of_trainer.add_string(field, std::string(tokens[static_cast<std::size_t>(*id)].text));
  }
  writer.add_message(2, trainer);
  std::string charsmap;
  for (const std::int64_t byte : keys.integers(kCharsmapKey)) charsmap += static_cast<char>(byte & 0xFF);
  std::string normalizer;
  protozero::pbf_writer of_normalizer(normalizer);
  of_normalizer.add_bytes(2, charsmap);
  of_normalizer.add_bool(3, keys.flag("tokenizer.ggml.add_space_prefix", kind.blank));
  of_normalizer.add_bool(4, keys.flag("tokenizer.ggml.remove_extra_whitespaces", false));
  writer.add_message(3, normalizer);
  return bytes;
}

std::shared_ptr<const Tokenizer> sentence_piece(const GgufKeys& keys, const SentencePieceKind& kind,
                                                std::vector<std::string>& cautions) {
  std::vector<GgufToken> tokens = tokens_in(keys, cautions);
  const auto unknown = special_token(keys, "unknown", tokens.size());
  const bool has_unknown = std::ranges::any_of(tokens, [](const auto& t) { return t.type == TokenType::unknown; });
  if (!has_unknown) tokens[static_cast<std::size_t>(unknown.value_or(0))].type = TokenType::unknown;
  SentencePieceOptions options;
  options.ends = {.bos = keys.flag("tokenizer.ggml.add_bos_token", kind.begins),
                  .eos = keys.flag("tokenizer.ggml.add_eos_token", kind.ends)};
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    // As llama.cpp has it, a text may say the unknown piece as well.
    if (tokens[id].type != TokenType::control && tokens[id].type != TokenType::unknown) continue;
    options.added.push_back(
        {.id = static_cast<std::int32_t>(id), .content = std::string(tokens[id].text), .special = true});
  }
  return read_sentence_piece(proto_of(keys, tokens, kind), options, keys.file().source());
}

}  // namespace

void refuse_tokenizer(const std::string& source, const std::string& part, const std::string& expected) {
  throw FileError(source, "its tokenizer: " + part + ": expected " + expected + ", as GGUF can hold it");
}

std::shared_ptr<const Tokenizer> gguf_tokenizer(const files::GgufKeys& keys, std::vector<std::string>& cautions) {
  const std::string model = keys.text(kModelKey, "none");
  if (model == "none" || model == "no_vocab") return nullptr;
  if (model == "gpt2") return byte_level_bpe(keys, cautions);
  if (model == "bert") return word_piece(keys, cautions);
  if (model == "llama") return sentence_piece(keys, {.model = 2, .begins = true, .ends = false}, cautions);
  if (model == "t5") return sentence_piece(keys, {.model = 1, .begins = false, .ends = true}, cautions);
  keys.refuse(kModelKey, "gpt2, llama, bert or t5");
}

std::shared_ptr<const Tokenizer> fitted_gguf_tokenizer(const files::GgufKeys& keys,
                                                       std::vector<std::string>& cautions) {
  auto tokenizer = gguf_tokenizer(keys, cautions);
  const GgufEntry* const table = keys.file().find(kTokenTable);
  if (!tokenizer || table == nullptr || table->shape.size() != 2) return tokenizer;
  return fitted_tokenizer(std::move(tokenizer), table->shape.front());
}

std::string token_id_key(std::string_view name) { return "tokenizer.ggml." + std::string(name) + "_token_id"; }

std::optional<std::int64_t> special_token(const files::GgufKeys& keys, const std::string& name, std::size_t count) {
  constexpr std::int64_t kNone = 0xFFFFFFFF;
  const std::string key = token_id_key(name);
  const auto found = keys.file().metadata().find(key);
  if (found == keys.file().metadata().end()) return std::nullopt;
  const auto* id = std::get_if<std::int64_t>(&found->second.value);
  if (id != nullptr && (*id == kNone || *id == -1)) return std::nullopt;
  if (id == nullptr || *id < 0 || *id >= static_cast<std::int64_t>(count)) {
    keys.refuse(key, "a token from 0 to " + std::to_string(count - 1));
  }
  return *id;
}

std::vector<std::int64_t> gguf_ends(const files::GgufKeys& keys) {
  std::vector<std::int64_t> ends;
  if (!keys.has(kTokensKey)) return ends;
  const std::size_t count = keys.texts(kTokensKey).size();
  for (const char* name : kEndTokenNames) {
    const auto id = special_token(keys, name, count);
    if (id && std::ranges::find(ends, *id) == ends.end()) ends.push_back(*id);
  }
  return ends;
}

std::map<std::string, std::string> gguf_special_tokens(const files::GgufKeys& keys) {
  std::map<std::string, std::string> tokens;
  if (!keys.has(kTokensKey)) return tokens;
  const auto& pieces = keys.texts(kTokensKey);
  for (const SpecialTokenName& name : kSpecialTokenNames) {
    const auto id = special_token(keys, name.of_gguf, pieces.size());
    if (id) tokens.emplace(name.of_files, pieces[static_cast<std::size_t>(*id)]);
  }
  return tokens;
}

}  // namespace qkv::text
