#include "text/older_files.h"

#include <array>

#include "qkv/error.h"
#include "text/characters.h"

namespace qkv::text {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line = with_replacements(text.substr(0, end));
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool flag_of(const Json& config, const char* name, bool usual, const std::string& source) {
  const auto flag = JsonField(config, source + ": tokenizer_config.json").find(name);
  return flag ? flag->boolean() : usual;
}

// A special token's text: a string, or an object with "content".
std::string token_of(const Json& config, const char* name, const std::string& usual, const std::string& source) {
  const auto token = JsonField(config, source + ": tokenizer_config.json").find(name);
  if (!token) return usual;
  return token->value().is_object() ? token->at("content").string() : token->string();
}

Json added_token(const Json& pieces, const std::string& content) {
  return {{"id", pieces.at(content)}, {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false},          {"normalized", false}, {"special", true}};
}

Json added_tokens(const Json& pieces, std::initializer_list<std::string> names) {
  Json tokens = Json::array();
  for (const std::string& name : names) {
    if (pieces.contains(name)) tokens.push_back(added_token(pieces, name));
  }
  return tokens;
}

Json template_piece(const char* kind, const std::string& id, int type) {
  return {{kind, {{"id", id}, {"type_id", type}}}};
}

Json bert_template(const Json& pieces, const std::string& cls, const std::string& sep) {
  if (!pieces.contains(cls) || !pieces.contains(sep)) return nullptr;
  const auto token = [&](const std::string& name) {
    return Json{{"id", name}, {"ids", {pieces.at(name)}}, {"tokens", {name}}};
  };
  Json single = {template_piece("SpecialToken", cls, 0), template_piece("Sequence", "A", 0),
                 template_piece("SpecialToken", sep, 0)};
  Json pair = single;
  pair.push_back(template_piece("Sequence", "B", 1));
  pair.push_back(template_piece("SpecialToken", sep, 1));
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", pair},
          {"special_tokens", {{cls, token(cls)}, {sep, token(sep)}}}};
}

Json byte_level(bool add_prefix_space, bool trim_offsets) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", trim_offsets},
          {"use_regex", true}};
}

}  // namespace

Json json_of_vocab_text(std::string_view vocab, const Json& config, const std::string& source) {
  Json pieces = Json::object();
  int id = 0;
  for (const std::string& line : lines_of(vocab)) pieces[line] = id++;
  if (id == 0) throw Error(source + ": expected a piece a line, got an empty file");
  const std::string unknown = token_of(config, "unk_token", "[UNK]", source);
  const std::string cls = token_of(config, "cls_token", "[CLS]", source);
  const std::string sep = token_of(config, "sep_token", "[SEP]", source);
  const auto all_special = added_tokens(pieces, {token_of(config, "pad_token", "[PAD]", source), unknown, cls, sep,
                                                 token_of(config, "mask_token", "[MASK]", source)});
  const auto strip_accents = config.find("strip_accents");
  return {{"version", "1.0"},
          {"added_tokens", all_special},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", flag_of(config, "tokenize_chinese_chars", true, source)},
            {"strip_accents", strip_accents == config.end() ? Json() : *strip_accents},
            {"lowercase", flag_of(config, "do_lower_case", true, source)}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", bert_template(pieces, cls, sep)},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", unknown},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", pieces}}}};
}

Json json_of_vocab_and_merges(const Json& pieces, std::string_view merges, const Json& config,
                              const std::string& source) {
  Json list = Json::array();
  for (const std::string& line : lines_of(merges)) {
    if (line.starts_with("#version") || line.empty()) continue;
    if (line.ends_with("</w>")) {
      throw Error(source + ": expected merges of byte-level BPE, got \"" + line +
                  "\", which marks ends of words; such a tokenizer is read from its tokenizer.json");
    }
    list.push_back(line);
  }
  if (!pieces.is_object()) throw Error(source + ": expected an object of pieces in vocab.json, got " + shown(pieces));
  const bool is_roberta = pieces.contains("<s>") && pieces.contains("</s>") && pieces.contains("<mask>");
  const bool add_prefix_space = flag_of(config, "add_prefix_space", false, source);
  Json post = byte_level(add_prefix_space, false);
  Json added = added_tokens(pieces, {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>"});
  if (is_roberta) {
    post = {{"type", "RobertaProcessing"},
            {"sep", {"</s>", pieces.at("</s>")}},
            {"cls", {"<s>", pieces.at("<s>")}},
            {"trim_offsets", true},
            {"add_prefix_space", add_prefix_space}};
    added.push_back(added_token(pieces, "<mask>"));
    added.back()["lstrip"] = true;
  }
  return {{"version", "1.0"},
          {"added_tokens", added},
          {"pre_tokenizer", byte_level(add_prefix_space, true)},
          {"post_processor", post},
          {"decoder", byte_level(true, true)},
          {"model", {{"type", "BPE"}, {"vocab", pieces}, {"merges", list}}}};
}

SentencePieceEnds ends_in(const Json& config, const std::string& source) {
  const auto named = config.find("tokenizer_class");
  const std::string name = named != config.end() && named->is_string() ? named->get<std::string>() : "";
  return {.bos = flag_of(config, "add_bos_token", name.starts_with("Llama"), source),
          .eos = flag_of(config, "add_eos_token", name.starts_with("T5"), source)};
}

}  // namespace qkv::text
