#include "text/post_processor.h"

#include <algorithm>
#include <map>

#include "text/characters.h"
#include "text/growth.h"

namespace qkv::text {
namespace {

EncodedPart special_part(std::span<const std::int32_t> ids, std::int32_t type) {
  EncodedPart part;
  part.tokens.ids.assign(ids.begin(), ids.end());
  part.tokens.offsets.resize(ids.size());
  part.tokens.types.assign(ids.size(), type);
  part.tokens.sources.assign(ids.size(), TokenSource::added);
  part.blanks.resize(ids.size());
  return part;
}

std::size_t skip_forward(std::string_view original, TextRange range, std::uint32_t characters) {
  for (; characters > 0 && range.begin < range.end; --characters) {
    range.begin += read_character(original, range.begin).length;
  }
  return std::min(range.begin, range.end);
}

// The original may be no UTF-8, so characters are counted from the left.
std::size_t skip_back(std::string_view original, TextRange range, std::uint32_t characters) {
  std::vector<std::size_t> begins;
  for (std::size_t at = range.begin; at < range.end; at += read_character(original, at).length) begins.push_back(at);
  return characters < begins.size() ? begins[begins.size() - characters] : range.begin;
}

// Moves both ends of a token's bytes past its white space. A space that was put in front of the text has no bytes.
void trim(EncodedPart& part, bool add_prefix_space) {
  if (part.original.empty()) return;
  for (std::size_t n = 0; n < part.tokens.ids.size(); ++n) {
    TextRange& range = part.tokens.offsets[n];
    const Blanks& blanks = part.blanks[n];
    const bool is_first = n == 0 || range.begin == 0;
    const bool was_put_in = is_first && add_prefix_space && blanks.leading == 1;
    if (blanks.leading > 0 && !was_put_in) range.begin = skip_forward(part.original, range, blanks.leading);
    if (blanks.trailing > 0 && range.end >= blanks.trailing) {
      range.end = skip_back(part.original, range, blanks.trailing);
    }
  }
}

class TrimOffsets final : public PostProcessor {
 public:
  TrimOffsets(bool trim_offsets, bool add_prefix_space) : trims_(trim_offsets), add_prefix_space_(add_prefix_space) {}
  void apply(std::vector<EncodedPart>& parts, SpecialTokens /*special*/) const override {
    if (!trims_) return;
    for (EncodedPart& part : parts) trim(part, add_prefix_space_);
  }
  [[nodiscard]] bool trims() const noexcept override { return trims_; }

 private:
  bool trims_;
  bool add_prefix_space_;
};

struct TemplatePiece {
  std::optional<std::size_t> text = std::nullopt;  // 0 or 1; none: special tokens
  std::vector<std::int32_t> ids = {};
  std::int32_t type = 0;
};

class Template final : public PostProcessor {
 public:
  Template(std::vector<TemplatePiece> single, std::vector<TemplatePiece> pair)
      : single_(std::move(single)), pair_(std::move(pair)) {}

  void apply(std::vector<EncodedPart>& parts, SpecialTokens special) const override {
    std::vector<EncodedPart> made;
    std::size_t tokens = 0;
    for (const TemplatePiece& piece : parts.size() == 1 ? single_ : pair_) {
      if (piece.text && *piece.text < parts.size()) {
        made.push_back(parts[*piece.text]);
        std::ranges::fill(made.back().tokens.types, piece.type);
      } else if (!piece.text && special == SpecialTokens::with) {
        made.push_back(special_part(piece.ids, piece.type));
      } else {
        continue;
      }
      tokens += made.back().tokens.ids.size();
      require_growth(tokens);
    }
    parts = std::move(made);
  }

 private:
  std::vector<TemplatePiece> single_;
  std::vector<TemplatePiece> pair_;
};

class RobertaProcessing final : public PostProcessor {
 public:
  RobertaProcessing(TrimOffsets trimming, Template around)
      : trimming_(std::move(trimming)), around_(std::move(around)) {}
  void apply(std::vector<EncodedPart>& parts, SpecialTokens special) const override {
    trimming_.apply(parts, special);
    around_.apply(parts, special);
  }
  [[nodiscard]] bool trims() const noexcept override { return trimming_.trims(); }

 private:
  TrimOffsets trimming_;
  Template around_;
};

class PostProcessorSequence final : public PostProcessor {
 public:
  explicit PostProcessorSequence(std::vector<PostProcessorPtr> all) : all_(std::move(all)) {}
  void apply(std::vector<EncodedPart>& parts, SpecialTokens special) const override {
    for (const PostProcessorPtr& next : all_) next->apply(parts, special);
  }
  [[nodiscard]] bool trims() const noexcept override {
    return std::ranges::any_of(all_, [](const PostProcessorPtr& next) { return next->trims(); });
  }

 private:
  std::vector<PostProcessorPtr> all_;
};

std::vector<std::int32_t> read_ids(const JsonField& field, std::int32_t size) {
  std::vector<std::int32_t> ids = {};
  for (const JsonField& next : field.elements()) ids.push_back(static_cast<std::int32_t>(next.whole(0, size - 1)));
  return ids;
}

std::vector<TemplatePiece> read_template(const JsonField& field, std::size_t texts,
                                         const std::map<std::string, std::vector<std::int32_t>>& special) {
  std::vector<TemplatePiece> pieces;
  for (const JsonField& next : field.elements()) {
    next.require_only({"Sequence", "SpecialToken"});
    const auto sequence = next.find("Sequence");
    const JsonField kind = sequence ? *sequence : next.at("SpecialToken");
    kind.require_only({"id", "type_id"});
    const JsonField id = kind.at("id");
    TemplatePiece piece{.type = static_cast<std::int32_t>(kind.at("type_id").whole(0, INT32_MAX))};
    if (sequence) {
      piece.text = id.string() == "A" ? 0 : 1;
      const bool known = id.string() == "A" || (id.string() == "B" && texts == 2);
      if (!known) id.fail(texts == 2 ? "A or B" : "A");
    } else {
      const auto found = special.find(id.string());
      if (found == special.end()) id.fail("one of \"special_tokens\"");
      piece.ids = found->second;
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

PostProcessorPtr read_template_processing(const JsonField& field, std::int32_t size) {
  field.require_only({"type", "single", "pair", "special_tokens"});
  std::map<std::string, std::vector<std::int32_t>> special;
  const JsonField tokens = field.at("special_tokens");
  if (!tokens.is_object()) tokens.fail("an object");
  tokens.each_member([&](const std::string& name, const JsonValue& /*value*/) {
    const JsonField token = tokens.at(name);
    token.require_only({"id", "ids", "tokens"});
    special[name] = read_ids(token.at("ids"), size);
  });
  return std::make_shared<Template>(read_template(field.at("single"), 1, special),
                                    read_template(field.at("pair"), 2, special));
}

// ["[SEP]", 102]
std::vector<std::int32_t> read_named_id(const JsonField& field, std::int32_t size) {
  const std::vector<JsonField> both = field.elements();
  if (both.size() != 2) field.fail("a piece and its number");
  static_cast<void>(both[0].string());
  return {static_cast<std::int32_t>(both[1].whole(0, size - 1))};
}

std::vector<TemplatePiece> around(const std::vector<std::int32_t>& cls, const std::vector<std::int32_t>& sep) {
  return {{.ids = cls}, {.text = 0}, {.ids = sep}};
}

PostProcessorPtr read_bert_processing(const JsonField& field, std::int32_t size) {
  field.require_only({"type", "sep", "cls"});
  const auto sep = read_named_id(field.at("sep"), size);
  std::vector<TemplatePiece> single = around(read_named_id(field.at("cls"), size), sep);
  std::vector<TemplatePiece> pair = single;
  pair.push_back({.text = 1, .type = 1});
  pair.push_back({.ids = sep, .type = 1});
  return std::make_shared<Template>(std::move(single), std::move(pair));
}

PostProcessorPtr read_roberta_processing(const JsonField& field, std::int32_t size) {
  field.require_only({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
  const auto sep = read_named_id(field.at("sep"), size);
  const std::vector<TemplatePiece> single = around(read_named_id(field.at("cls"), size), sep);
  std::vector<TemplatePiece> pair = single;  // all of type 0, and two separators between the texts
  for (TemplatePiece& next : around(sep, sep)) pair.push_back(std::move(next));
  pair[pair.size() - 2].text = 1;
  return std::make_shared<RobertaProcessing>(
      TrimOffsets(field.at("trim_offsets").boolean(), field.at("add_prefix_space").boolean()),
      Template(single, std::move(pair)));
}

}  // namespace

PostProcessorPtr read_post_processor(const JsonField& field, std::int32_t size) {
  const std::string type = field.at("type").string();
  if (type == "TemplateProcessing") return read_template_processing(field, size);
  if (type == "BertProcessing") return read_bert_processing(field, size);
  if (type == "RobertaProcessing") return read_roberta_processing(field, size);
  if (type == "ByteLevel") {
    field.require_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    return std::make_shared<TrimOffsets>(field.at("trim_offsets").boolean(), field.at("add_prefix_space").boolean());
  }
  if (type == "Sequence") {
    field.require_only({"type", "processors"});
    std::vector<PostProcessorPtr> all;
    for (const JsonField& next : field.at("processors").elements()) all.push_back(read_post_processor(next, size));
    return std::make_shared<PostProcessorSequence>(std::move(all));
  }
  field.at("type").fail("TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or Sequence");
}

}  // namespace qkv::text
