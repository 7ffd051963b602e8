#include "text/normalizer.h"

#include "text/byte_level.h"
#include "text/pre_tokenizer.h"
#include "text/regex.h"

namespace qkv::text {
namespace {

constexpr char32_t kDottedCapitalI = 0x130;
constexpr char32_t kDotAbove = 0x307;

class Lowercase final : public Normalizer {
 public:
  void apply(AlignedText& text) const override { lower(text); }
};

class StripAccents final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    if (text.is_ascii()) return;
    text.map([](char32_t c) { return is_mark(c) ? std::nullopt : std::optional(c); });
  }
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(AlignedText& text) const override {
    const std::string& whole = text.text();
    std::size_t begin = 0;
    std::size_t end = whole.size();
    while (left_ && begin < end && is_space(character_at(whole, begin))) begin += character_length(whole[begin]);
    for (; right_ && end > begin; end = begin_of_last(whole, end)) {
      if (!is_space(character_at(whole, begin_of_last(whole, end)))) break;
    }
    if (begin == 0 && end == whole.size()) return;
    AlignedText kept;
    kept.append(text, begin, end);
    text = std::move(kept);
  }

 private:
  bool left_;
  bool right_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string front) : front_(std::move(front)) {}
  void apply(AlignedText& text) const override { text.prepend(front_); }

 private:
  std::string front_;
};

// The rules of the NMT systems: control characters go, other white space and U+FFFD are spaces.
class Nmt final : public Normalizer {
 public:
  void apply(AlignedText& text) const override { text.map(kept); }

 private:
  static std::optional<char32_t> kept(char32_t c) {
    const bool goes =
        (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    if (goes) return std::nullopt;
    const bool is_blank = c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 ||
                          (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
                          c == kReplacement;
    return is_blank ? U' ' : c;
  }
};

class Replace final : public Normalizer {
 public:
  Replace(Regex pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(AlignedText& text) const override {
    std::vector<Part> parts;
    pattern_.find_all(text.text(), parts);
    AlignedText changed;
    changed.reserve(text.size());
    for (const Part& part : parts) {
      if (!part.matches) {
        changed.append(text, part.begin, part.end);
      } else {
        changed.append(content_, part.end > 0 ? text.origin(part.end - 1) : OriginalRange{});
      }
    }
    text = std::move(changed);
  }

 private:
  Regex pattern_;
  std::string content_;
};

class ByteLevelNormalizer final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    AlignedText changed;
    changed.reserve(text.size());
    append_byte_level(changed, text, 0, text.size());
    text = std::move(changed);
  }
};

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<NormalizerPtr> all) : all_(std::move(all)) {}
  void apply(AlignedText& text) const override {
    for (const NormalizerPtr& next : all_) next->apply(text);
  }

 private:
  std::vector<NormalizerPtr> all_;
};

NormalizerPtr read_normalizer_sequence(const JsonField& field) {
  field.require_only({"type", "normalizers"});
  std::vector<NormalizerPtr> all;
  for (const JsonField& next : field.at("normalizers").elements()) all.push_back(read_normalizer(next));
  return std::make_shared<NormalizerSequence>(std::move(all));
}

template <class Made>
NormalizerPtr without_options(const JsonField& field) {
  field.require_only({"type"});
  return std::make_shared<Made>();
}

NormalizerPtr read_form(const JsonField& field, UnicodeForm form) {
  field.require_only({"type"});
  return unicode_normalizer(form);
}

}  // namespace

void lower(AlignedText& text) {
  if (text.is_ascii()) return text.lower_ascii();
  std::vector<Rewritten> written;
  written.reserve(text.size());
  for_each_character(text.text(), [&](char32_t c) {
    written.push_back({.character = c == kDottedCapitalI ? U'i' : lower_case(c)});
    if (c == kDottedCapitalI) written.push_back({.character = kDotAbove, .change = 1});
  });
  text.rewrite(written);
}

NormalizerPtr read_replace(const JsonField& field) {
  field.require_only({"type", "pattern", "content"});
  return std::make_shared<Replace>(read_pattern(field.at("pattern")), field.at("content").string());
}

NormalizerPtr read_normalizer(const JsonField& field) {
  const std::string type = field.at("type").string();
  if (type == "Sequence") return read_normalizer_sequence(field);
  if (type == "BertNormalizer") return read_bert_normalizer(field);
  if (type == "Precompiled") return read_precompiled(field);
  if (type == "Replace") return read_replace(field);
  if (type == "NFC") return read_form(field, UnicodeForm::nfc);
  if (type == "NFD") return read_form(field, UnicodeForm::nfd);
  if (type == "NFKC") return read_form(field, UnicodeForm::nfkc);
  if (type == "NFKD") return read_form(field, UnicodeForm::nfkd);
  if (type == "Lowercase") return without_options<Lowercase>(field);
  if (type == "StripAccents") return without_options<StripAccents>(field);
  if (type == "Nmt") return without_options<Nmt>(field);
  if (type == "ByteLevel") return without_options<ByteLevelNormalizer>(field);
  if (type == "Strip") {
    field.require_only({"type", "strip_left", "strip_right"});
    return std::make_shared<Strip>(field.at("strip_left").boolean(), field.at("strip_right").boolean());
  }
  if (type == "Prepend") {
    field.require_only({"type", "prepend"});
    return std::make_shared<Prepend>(field.at("prepend").string());
  }
  field.at("type").fail(
      "Sequence, BertNormalizer, Precompiled, Replace, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Nmt, ByteLevel, "
      "Strip or Prepend");
}

}  // namespace qkv::text
