#include "text/pre_tokenizer.h"

#include <array>
#include <functional>

namespace qkv::text {
namespace {

class CutAtCharacters final : public PreTokenizer {
 public:
  using Predicate = std::function<bool(char32_t)>;
  CutAtCharacters(Predicate predicate, SplitBehavior behavior)
      : predicate_(std::move(predicate)), behavior_(behavior) {}
  void apply(Pieces& pieces) const override {
    cut_pieces(pieces, behavior_,
               [&](std::string_view text, std::vector<Part>& parts) { find_characters(text, parts, predicate_); });
  }

 private:
  Predicate predicate_;
  SplitBehavior behavior_;
};

class BertPreTokenizer final : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    cut_pieces(pieces, SplitBehavior::removed,
               [](std::string_view text, std::vector<Part>& parts) { find_characters(text, parts, is_space); });
    cut_pieces(pieces, SplitBehavior::isolated,
               [](std::string_view text, std::vector<Part>& parts) { find_characters(text, parts, is_punctuation); });
  }
};

// Words, and runs of what is neither of a word nor a space: \w+|[^\w\s]+
class WordsAndSymbols final : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override { cut_pieces(pieces, SplitBehavior::removed, find); }

 private:
  enum class Kind : std::uint8_t { space, word, symbol };
  static Kind kind_of(char32_t c) noexcept {
    return is_word(c) ? Kind::word : is_space(c) ? Kind::space : Kind::symbol;
  }
  static void find(std::string_view text, std::vector<Part>& parts) {
    std::optional<Kind> kind;
    for (std::uint32_t at = 0; at < text.size();) {
      const std::uint32_t end = at + character_length(text[at]);
      const Kind next = kind_of(character_at(text, at));
      if (kind != next) parts.push_back({.begin = at, .end = end, .matches = next == Kind::space});
      parts.back().end = end;
      kind = next;
      at = end;
    }
  }
};

class Split final : public PreTokenizer {
 public:
  Split(Regex pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void apply(Pieces& pieces) const override {
    cut_pieces(pieces, behavior_, [&](std::string_view text, std::vector<Part>& parts) {
      pattern_.find_all(text, parts);
      if (!invert_) return;
      for (Part& part : parts) part.matches = !part.matches;
    });
  }

 private:
  Regex pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(std::int64_t length) : length_(length) {}
  void apply(Pieces& pieces) const override {
    cut_pieces(pieces, SplitBehavior::isolated, [&](std::string_view text, std::vector<Part>& parts) {
      std::int64_t count = 0;
      for (std::uint32_t at = 0; at < text.size(); ++count) {
        const std::uint32_t end = at + character_length(text[at]);
        if (count % length_ == 0) parts.push_back({.begin = at, .end = end});
        parts.back().end = end;
        at = end;
      }
    });
  }

 private:
  std::int64_t length_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<PreTokenizerPtr> all) : all_(std::move(all)) {}
  void apply(Pieces& pieces) const override {
    for (const PreTokenizerPtr& next : all_) next->apply(pieces);
  }

 private:
  std::vector<PreTokenizerPtr> all_;
};

SplitBehavior read_behavior(const JsonField& field) {
  constexpr std::array<std::string_view, 5> kNames = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                                      "Contiguous"};
  const std::string name = field.string();
  for (std::size_t n = 0; n < kNames.size(); ++n) {
    if (name == kNames[n]) return static_cast<SplitBehavior>(n);
  }
  field.fail("Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

PreTokenizerPtr at_characters(CutAtCharacters::Predicate predicate, SplitBehavior behavior) {
  return std::make_shared<CutAtCharacters>(std::move(predicate), behavior);
}

PreTokenizerPtr read_split(const JsonField& field) {
  field.require_only({"type", "pattern", "behavior", "invert"});
  return std::make_shared<Split>(read_pattern(field.at("pattern")), read_behavior(field.at("behavior")),
                                 field.at("invert").boolean());
}

PreTokenizerPtr read_punctuation(const JsonField& field) {
  field.require_only({"type", "behavior"});
  const auto behavior = field.find("behavior");
  return at_characters(is_punctuation, behavior ? read_behavior(*behavior) : SplitBehavior::isolated);
}

PreTokenizerPtr read_digits(const JsonField& field) {
  field.require_only({"type", "individual_digits"});
  const bool each = field.at("individual_digits").boolean();
  return at_characters(is_number, each ? SplitBehavior::isolated : SplitBehavior::contiguous);
}

PreTokenizerPtr read_delimiter(const JsonField& field) {
  field.require_only({"type", "delimiter"});
  const char32_t delimiter = field.at("delimiter").character();
  return at_characters([delimiter](char32_t c) { return c == delimiter; }, SplitBehavior::removed);
}

PreTokenizerPtr read_fixed_length(const JsonField& field) {
  field.require_only({"type", "length"});
  constexpr std::int64_t kUsual = 5;
  const auto length = field.find("length");
  return std::make_shared<FixedLength>(length ? length->whole(1, INT32_MAX) : kUsual);
}

PreTokenizerPtr read_pre_tokenizer_sequence(const JsonField& field) {
  field.require_only({"type", "pretokenizers"});
  std::vector<PreTokenizerPtr> all;
  for (const JsonField& next : field.at("pretokenizers").elements()) all.push_back(read_pre_tokenizer(next));
  return std::make_shared<PreTokenizerSequence>(std::move(all));
}

}  // namespace

Regex read_pattern(const JsonField& field) {
  field.require_only({"String", "Regex"});
  if (const auto regex = field.find("Regex")) return {regex->string(), regex->place()};
  const JsonField text = field.at("String");
  std::string pattern;
  for (const char byte : text.string()) {
    const bool plain = is_word(static_cast<unsigned char>(byte)) || static_cast<unsigned char>(byte) >= 0x80;
    pattern += (plain || byte == '\0' ? "" : "\\") + std::string(1, byte);
  }
  if (pattern.empty()) text.fail("a text to look for");
  return {pattern, text.place()};
}

PreTokenizerPtr read_pre_tokenizer(const JsonField& field) {
  const std::string type = field.at("type").string();
  if (type == "Sequence") return read_pre_tokenizer_sequence(field);
  if (type == "ByteLevel") return read_byte_level(field);
  if (type == "Metaspace") return read_metaspace(field);
  if (type == "Split") return read_split(field);
  if (type == "Punctuation") return read_punctuation(field);
  if (type == "Digits") return read_digits(field);
  if (type == "CharDelimiterSplit") return read_delimiter(field);
  if (type == "FixedLength") return read_fixed_length(field);
  if (type == "BertPreTokenizer" || type == "Whitespace" || type == "WhitespaceSplit") {
    field.require_only({"type"});
    if (type == "BertPreTokenizer") return std::make_shared<BertPreTokenizer>();
    if (type == "Whitespace") return std::make_shared<WordsAndSymbols>();
    return at_characters(is_space, SplitBehavior::removed);
  }
  field.at("type").fail(
      "Sequence, BertPreTokenizer, ByteLevel, Metaspace, Split, Whitespace, WhitespaceSplit, Punctuation, Digits, "
      "CharDelimiterSplit or FixedLength");
}

}  // namespace qkv::text
