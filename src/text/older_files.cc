#include "text/older_files.h"

#include <algorithm>

#include "qkv/error.h"
#include "text/characters.h"
#include "text/config_words.h"
#include "text/tokenizer_class.h"

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

/// Those of the files beside, and the usual ones that are pieces.
Json added_tokens(const Json& pieces, const FilesBeside& beside, std::initializer_list<AddedToken> usual) {
  std::vector<AddedToken> tokens = with_tokens_beside(beside, {}, [&] { return known_pieces(pieces); });
  for (const AddedToken& token : usual) {
    const bool is_there = std::ranges::find(tokens, token.content, &AddedToken::content) != tokens.end();
    const auto known = pieces.find(token.content);
    if (is_there || known == pieces.end() || !known->is_number_integer()) continue;
    tokens.push_back(token);
    tokens.back().id = known->get<std::int32_t>();
  }
  Json all = Json::array();
  for (const AddedToken& token : tokens) all.push_back(json_of(token));
  return all;
}

AddedToken special_token(std::string content) { return {.content = std::move(content), .special = true}; }

/// The special tokens of a template, by their texts.
class WrittenTemplate {
 public:
  explicit WrittenTemplate(const Json& added) {
    for (const Json& token : added) ids_[token["content"].get<std::string>()] = token["id"];
  }

  [[nodiscard]] bool has(const std::string& token) const { return ids_.contains(token); }
  [[nodiscard]] const Json& id(const std::string& token) const { return ids_.at(token); }
  // "A" and "B" are the two texts.
  void add(const std::string& name, int type, Json& to) {
    const bool is_text = name == "A" || name == "B";
    to.push_back({{is_text ? "Sequence" : "SpecialToken", {{"id", name}, {"type_id", type}}}});
    if (!is_text) used_[name] = {{"id", name}, {"ids", {ids_.at(name)}}, {"tokens", {name}}};
  }
  [[nodiscard]] Json made(const Json& single, const Json& pair) const {
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", used_}};
  }

 private:
  Json ids_ = Json::object();
  Json used_ = Json::object();
};

Json bert_template(const Json& added, const std::string& cls, const std::string& sep) {
  WrittenTemplate made(added);
  if (!made.has(cls) || !made.has(sep)) return nullptr;
  Json single = Json::array();
  made.add(cls, 0, single);
  made.add("A", 0, single);
  made.add(sep, 0, single);
  Json pair = single;
  made.add("B", 1, pair);
  made.add(sep, 1, pair);
  return made.made(single, pair);
}

// What add_bos_token and add_eos_token of tokenizer_config.json ask for; null if they ask for nothing.
Json template_of_ends(const Json& added, const FilesBeside& beside, const std::string& usual) {
  const bool bos = beside.flag("add_bos_token", false);
  const bool eos = beside.flag("add_eos_token", false);
  if (!bos && !eos) return nullptr;
  WrittenTemplate made(added);
  const auto end = [&](const char* name) {
    const std::string token = beside.token(name).value_or(usual);
    if (!made.has(token)) {
      throw FileError(beside.folder + "/tokenizer_config.json",
                      std::string("expected a piece for ") + name + ", got \"" + token + "\"");
    }
    return token;
  };
  const auto around = [&](const char* text, int type, Json& to) {
    if (bos) made.add(end("bos_token"), type, to);
    made.add(text, type, to);
    if (eos) made.add(end("eos_token"), type, to);
  };
  Json single = Json::array();
  around("A", 0, single);
  Json pair = single;
  around("B", 1, pair);
  return made.made(single, pair);
}

Json byte_level(bool add_prefix_space, bool trim_offsets, bool use_regex = true) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", trim_offsets},
          {"use_regex", use_regex}};
}

Json roberta_processing(const WrittenTemplate& ids, const std::string& cls, const std::string& sep, bool trim_offsets,
                        bool add_prefix_space) {
  return {{"type", "RobertaProcessing"},
          {"sep", {sep, ids.id(sep)}},
          {"cls", {cls, ids.id(cls)}},
          {"trim_offsets", trim_offsets},
          {"add_prefix_space", add_prefix_space}};
}

Json split(const char* pattern, const char* behavior, bool invert) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", behavior}, {"invert", invert}};
}

Json sequence(const char* of, Json all) { return {{"type", "Sequence"}, {of, std::move(all)}}; }

constexpr const char* kEndOfText = "<|endoftext|>";

// CLIP's pipeline: letters in lower case, and an end of a word as a part of its last piece.
Json json_of_clip(const Json& pieces, Json merges, const FilesBeside& beside) {
  constexpr const char* kBegin = "<|startoftext|>";
  constexpr const char* kPattern =
      R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";
  const Json added = added_tokens(pieces, beside, {special_token(kBegin), special_token(kEndOfText)});
  const std::string begin = beside.token("bos_token").value_or(kBegin);
  const std::string end = beside.token("eos_token").value_or(kEndOfText);
  const WrittenTemplate ids(added);
  const Json blank = {{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}};
  return {
      {"version", "1.0"},
      {"added_tokens", added},
      {"normalizer", sequence("normalizers", {{{"type", "NFC"}}, blank, {{"type", "Lowercase"}}})},
      {"pre_tokenizer", sequence("pretokenizers", {split(kPattern, "Removed", true), byte_level(false, true)})},
      {"post_processor", ids.has(begin) && ids.has(end) ? roberta_processing(ids, begin, end, false, false) : Json()},
      {"decoder", byte_level(true, true)},
      {"model",
       {{"type", "BPE"},
        {"unk_token", beside.token("unk_token").value_or(kEndOfText)},
        {"continuing_subword_prefix", ""},
        {"end_of_word_suffix", "</w>"},
        {"vocab", pieces},
        {"merges", std::move(merges)}}}};
}

}  // namespace

Json template_around(const std::string& tokenizer_class, const Json& added, const std::string& cls,
                     const std::string& sep) {
  const WrittenTemplate ids(added);
  if (!ids.has(cls) || !ids.has(sep)) return nullptr;
  return is_roberta(tokenizer_class) ? roberta_processing(ids, cls, sep, true, false) : bert_template(added, cls, sep);
}

Json json_of_vocab_text(std::string_view vocab, const FilesBeside& files, const std::string& source) {
  const bool is_mpnet = files.tokenizer_class() == "MPNetTokenizer";
  const FilesBeside beside = is_mpnet ? files.with_usual({{"bos_token", "<s>"},
                                                          {"eos_token", "</s>"},
                                                          {"cls_token", "<s>"},
                                                          {"sep_token", "</s>"},
                                                          {"pad_token", "<pad>"},
                                                          {"mask_token", "<mask>"}})
                                      : files;
  Json pieces = Json::object();
  std::uint32_t id = 0;  // as a number of a file, which has no sign
  for (const std::string& line : lines_of(vocab)) pieces[line] = id++;
  if (id == 0) throw FileError(source, "expected a piece a line, got an empty file");
  const auto token = [&](const char* name, const char* usual) { return beside.token(name).value_or(usual); };
  const std::string unknown = token("unk_token", "[UNK]");
  const std::string cls = token("cls_token", "[CLS]");
  const std::string sep = token("sep_token", "[SEP]");
  const Json added =
      added_tokens(pieces, beside,
                   {special_token(token("pad_token", "[PAD]")), special_token(unknown), special_token(cls),
                    special_token(sep), special_token(token("mask_token", "[MASK]"))});
  const auto strip_accents = beside.config.find("strip_accents");
  return {{"version", "1.0"},
          {"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", beside.flag("tokenize_chinese_chars", true)},
            {"strip_accents", strip_accents == beside.config.end() ? Json() : *strip_accents},
            {"lowercase", beside.flag("do_lower_case", true)}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", bert_template(added, cls, sep)},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", unknown},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", std::move(pieces)}}}};
}

Json json_of_vocab_and_merges(const Json& pieces, std::string_view merges, const FilesBeside& files) {
  Json list = Json::array();
  bool marks_ends = false;
  for (const std::string& line : lines_of(merges)) {
    if (line.starts_with("#version") || line.empty()) continue;
    marks_ends = marks_ends || line.ends_with("</w>");
    list.push_back(line);
  }
  if (marks_ends) {
    Json clip = json_of_clip(pieces, std::move(list), files);
    show_ends_of_words_as_blanks(clip);
    return clip;
  }
  const std::string name = files.tokenizer_class();
  const bool has_ends = pieces.contains("<s>") && pieces.contains("</s>") && pieces.contains("<mask>");
  const bool has_template = name.empty() ? has_ends : is_roberta(name);
  const FilesBeside beside = has_template ? files.with_usual({{"bos_token", "<s>"},
                                                              {"eos_token", "</s>"},
                                                              {"unk_token", "<unk>"},
                                                              {"sep_token", "</s>"},
                                                              {"pad_token", "<pad>"},
                                                              {"cls_token", "<s>"},
                                                              {"mask_token", "<mask>"}})
                                          : files;
  const bool add_prefix_space = beside.flag("add_prefix_space", false);
  const AddedToken end = special_token(kEndOfText);
  const Json added = name.empty() ? added_tokens(pieces, beside,
                                                 {end, special_token("<s>"), special_token("<pad>"),
                                                  special_token("</s>"), special_token("<unk>")})
                                  : added_tokens(pieces, beside, {end});
  const WrittenTemplate ids(added);
  Json post = has_template ? roberta_processing(ids, *beside.token("cls_token"), *beside.token("sep_token"),
                                                beside.flag("trim_offsets", true), add_prefix_space)
                           : template_of_ends(added, beside, kEndOfText);
  if (post.is_null()) post = byte_level(add_prefix_space, false);
  Json pre = byte_level(add_prefix_space, true);
  Json normalizer = nullptr;
  if (name == "Qwen2Tokenizer") {
    constexpr const char* kPattern =
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    normalizer = {{"type", "NFC"}};
    pre = sequence("pretokenizers", {split(kPattern, "Isolated", false), byte_level(add_prefix_space, true, false)});
  }
  return {{"version", "1.0"},
          {"added_tokens", added},
          {"normalizer", normalizer},
          {"pre_tokenizer", pre},
          {"post_processor", post},
          {"decoder", byte_level(true, true)},
          {"model", {{"type", "BPE"}, {"vocab", pieces}, {"merges", list}}}};
}

}  // namespace qkv::text
