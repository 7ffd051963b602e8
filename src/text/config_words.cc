#include "text/config_words.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "text/clean_up.h"
#include "text/older_files.h"
#include "text/tokenizer_class.h"

namespace qkv::text {
namespace {

bool has_type(const Json& value, std::string_view type) {
  return value.is_object() && value.contains("type") && value["type"].is_string() &&
         value["type"].get<std::string>() == type;
}

// Calls `visit` with each stage of this type: the stage itself, or those of a sequence (not of sequences within).
template <class Visit>
void each_stage(Json& root, const char* stage, const char* list, std::string_view type, const Visit& visit) {
  if (!root.contains(stage)) return;
  Json& first = root[stage];
  if (has_type(first, type)) return visit(first);
  if (!has_type(first, "Sequence") || !first.contains(list) || !first[list].is_array()) return;
  for (Json& next : first[list]) {
    if (has_type(next, type)) visit(next);
  }
}

bool set(Json& stage, const char* option, const Json& value) {
  if (stage.contains(option) && stage[option] == value) return false;
  stage[option] = value;
  return true;
}

const Json& model_of(const Json& json) {
  static const Json kNone;
  return json.contains("model") && json["model"].is_object() ? json["model"] : kNone;
}

bool add_tokens(Json& json, const FilesBeside& files) {
  std::vector<AddedToken> had;
  if (json.contains("added_tokens") && !json["added_tokens"].is_array()) return false;
  for (const Json& token : json.value("added_tokens", Json::array())) {
    const bool is_one = token.is_object() && token.contains("id") && token["id"].is_number_unsigned() &&
                        token["id"].get<std::uint64_t>() < INT32_MAX && token.contains("content") &&
                        token["content"].is_string();
    if (!is_one) return false;
    had.push_back({.id = token["id"].get<std::int32_t>(), .content = token["content"].get<std::string>()});
  }
  const std::size_t before = had.size();
  const Json& model = model_of(json);
  const std::vector<AddedToken> all = with_tokens_beside(files, std::move(had), [&] {
    return known_pieces(model.is_object() && model.contains("vocab") ? model["vocab"] : Json());
  });
  bool changed = all.size() > before;
  if (changed && !json.contains("added_tokens")) json["added_tokens"] = Json::array();
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (n >= before) {
      json["added_tokens"].push_back(json_of(all[n]));
    } else if (all[n].special && !json["added_tokens"][n].value("special", true)) {
      changed = set(json["added_tokens"][n], "special", true) || changed;
    }
  }
  return changed;
}

// BERT's tokenizers take these words even beside a tokenizer.json, others leave them.
bool follow_bert_words(Json& json, const FilesBeside& files) {
  constexpr std::array<std::pair<const char*, const char*>, 3> kWords = {
      {{"do_lower_case", "lowercase"},
       {"strip_accents", "strip_accents"},
       {"tokenize_chinese_chars", "handle_chinese_chars"}}};
  const bool is_bert = files.tokenizer_class().find("Bert") != std::string::npos;
  bool changed = false;
  each_stage(json, "normalizer", "normalizers", "BertNormalizer", [&](Json& normalizer) {
    for (const auto& [word, option] : kWords) {
      const auto said = files.flag(word);
      if (!said || normalizer.value(option, Json()) == Json(*said)) continue;
      if (is_bert) {
        changed = set(normalizer, option, *said) || changed;
      } else {
        files.caution(std::string("tokenizer_config.json says ") + word +
                      " otherwise than tokenizer.json, which counts");
      }
    }
  });
  return changed;
}

bool prepends_blank(const Json& json) {
  return json.contains("normalizer") && json["normalizer"].dump().find("\"Prepend\"") != std::string::npos;
}

void name_other_prefix_space(const FilesBeside& files) {
  files.caution("tokenizer_config.json says add_prefix_space otherwise than tokenizer.json, which counts");
}

// Those that build their stages anew take false where nothing is said.
bool follow_prefix_space(Json& json, const FilesBeside& files) {
  constexpr std::array<std::string_view, 5> kFollow = {"GPT2Tokenizer", "RobertaTokenizer", "BartTokenizer",
                                                       "Qwen2Tokenizer", "LongformerTokenizer"};
  const auto said = files.flag("add_prefix_space");
  const bool follows = std::ranges::find(kFollow, files.tokenizer_class()) != kFollow.end();
  if (!said && !follows) return false;
  const bool wanted = said.value_or(false);
  bool changed = false;
  each_stage(json, "pre_tokenizer", "pretokenizers", "ByteLevel", [&](Json& stage) {
    if (stage.value("add_prefix_space", Json()) == Json(wanted)) return;
    if (follows) {
      changed = set(stage, "add_prefix_space", wanted) || changed;
    } else {
      name_other_prefix_space(files);
    }
  });
  if (!said) return changed;
  each_stage(json, "pre_tokenizer", "pretokenizers", "Metaspace", [&](const Json& stage) {
    const bool prepends = stage.value("prepend_scheme", Json("always")) != Json("never");
    if (prepends != wanted) name_other_prefix_space(files);
  });
  if (!wanted && prepends_blank(json)) name_other_prefix_space(files);
  return changed;
}

// BERT's and RoBERTa's tokenizers put the tokens around a text that the files name, whatever tokenizer.json puts there.
bool follow_named_ends(Json& json, const FilesBeside& files) {
  const std::string name = files.tokenizer_class();
  const bool is_bert = name == "BertTokenizer";
  if (!is_bert && !is_roberta(name)) return false;
  const std::string cls = files.token("cls_token").value_or(is_bert ? "[CLS]" : "<s>");
  const std::string sep = files.token("sep_token").value_or(is_bert ? "[SEP]" : "</s>");
  const Json old = json.value("post_processor", Json());
  const std::string there = old.dump();
  const auto is_there = [&](const std::string& token) { return there.find(Json(token).dump()) != std::string::npos; };
  if (is_there(cls) && is_there(sep)) return false;
  Json known = json.contains("added_tokens") ? json["added_tokens"] : Json::array();
  const Json& model = model_of(json);
  const Json vocab = model.is_object() ? model.value("vocab", Json::object()) : Json::object();
  for (const std::string& token : {cls, sep}) {
    if (vocab.is_object() && vocab.contains(token)) known.push_back({{"content", token}, {"id", vocab[token]}});
  }
  Json made = template_around(name, known, cls, sep);
  if (made.is_null()) return false;
  for (const char* option : {"trim_offsets", "add_prefix_space"}) {
    if (made.contains(option) && old.is_object() && old.contains(option)) made[option] = old[option];
  }
  json["post_processor"] = std::move(made);
  return true;
}

Json replace(const std::string& old, const std::string& by) {
  return {{"type", "Replace"}, {"pattern", {{"String", old}}}, {"content", by}};
}

// A decoder that does what the one that is there does, and these to the whole text.
void add_decoders(Json& json, const std::vector<Json>& more) {
  Json all = Json::array();
  // Without a decoder pieces have a blank between them, as WordPiece has where no piece begins with its prefix.
  const bool is_none = !json.contains("decoder") || json["decoder"].is_null();
  all.push_back(is_none ? Json{{"type", "WordPiece"}, {"prefix", "\uFFFF\uFFFF"}, {"cleanup", false}}
                        : json["decoder"]);
  all.push_back({{"type", "Fuse"}});
  for (const Json& next : more) all.push_back(next);
  json["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(all)}};
}

bool follow_clean_up(Json& json, const FilesBeside& files) {
  if (!files.flag("clean_up_tokenization_spaces", false)) return false;
  const Json& model = model_of(json);
  const bool is_bpe = has_type(model, "BPE") || (model.is_object() && model.contains("merges"));
  if (is_bpe) return false;
  std::vector<Json> rules;
  for (const auto& [old, by] : kCleanUpRules) rules.push_back(replace(std::string(old), std::string(by)));
  add_decoders(json, rules);
  return true;
}

// Llama's tokenizer keeps the pieces and builds the stages anew: one blank before a text, and none behind a special
// token unless `legacy` is true.
bool follow_llama(Json& json, const FilesBeside& files) {
  const Json& model = model_of(json);
  const bool is_llama = files.tokenizer_class() == "LlamaTokenizer" && model.is_object() &&
                        model.value("byte_fallback", Json()) == Json(true) && model.contains("merges");
  const bool has_metaspace = json.contains("pre_tokenizer") && has_type(json["pre_tokenizer"], "Metaspace");
  if (!is_llama || (!has_metaspace && !prepends_blank(json))) return false;
  const bool begins_with_blank = files.flag("add_prefix_space", true);
  const char* const scheme = !begins_with_blank ? "never" : files.flag("legacy", false) ? "always" : "first";
  Json decoders = {replace("▁", " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
  if (begins_with_blank) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  const Json metaspace = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}, {"split", false}};
  bool changed = set(json, "normalizer", nullptr);
  changed = set(json, "pre_tokenizer", metaspace) || changed;
  return set(json, "decoder", {{"type", "Sequence"}, {"decoders", decoders}}) || changed;
}

void name_other_words(const FilesBeside& files) {
  if (files.flag("split_special_tokens", false)) {
    files.caution("tokenizer_config.json says split_special_tokens; special tokens are read whole");
  }
}

}  // namespace

bool follow_files_beside(Json& json, const FilesBeside& files) {
  if (!json.is_object()) return false;
  bool changed = add_tokens(json, files);
  changed = follow_bert_words(json, files) || changed;
  changed = follow_llama(json, files) || changed;
  changed = follow_prefix_space(json, files) || changed;
  changed = follow_named_ends(json, files) || changed;
  changed = follow_clean_up(json, files) || changed;
  if (files.tokenizer_class() == "CLIPTokenizer") changed = show_ends_of_words_as_blanks(json) || changed;
  name_other_words(files);
  return changed;
}

bool show_ends_of_words_as_blanks(Json& json) {
  const Json& model = model_of(json);
  const Json suffix = model.is_object() ? model.value("end_of_word_suffix", Json()) : Json();
  if (!suffix.is_string() || suffix.get<std::string>().empty()) return false;
  if (!json.contains("decoder") || !has_type(json["decoder"], "ByteLevel")) return false;
  constexpr int kAll = 1 << 20;
  add_decoders(json, {replace(suffix.get<std::string>(), " "),
                      {{"type", "Strip"}, {"content", " "}, {"start", kAll}, {"stop", kAll}}});
  return true;
}

}  // namespace qkv::text
