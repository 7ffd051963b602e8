// What BERT does to a text: control characters go, spaces are plain, Chinese characters stand alone; accents and
// capitals go where the model was trained so.
#include "text/normalizer.h"

namespace qkv::text {
namespace {

struct BertOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const BertOptions& options) : options_(options) {}

  void apply(AlignedText& text) const override {
    if (options_.clean_text) text.map(cleaned);
    const bool ascii = text.is_ascii();
    if (options_.handle_chinese_chars && !ascii) set_chinese_apart(text);
    if (options_.strip_accents && !ascii) {
      normalize(text, UnicodeForm::nfd);
      text.map([](char32_t c) { return is_nonspacing_mark(c) ? std::nullopt : std::optional(c); });
    }
    if (options_.lowercase) lower(text);
  }

 private:
  static std::optional<char32_t> cleaned(char32_t c) {
    if (c == 0 || c == kReplacement || is_control(c)) return std::nullopt;
    return is_space(c) ? U' ' : c;
  }

  static void set_chinese_apart(AlignedText& text) {
    std::vector<Rewritten> written;
    written.reserve(text.size());
    for_each_character(text.text(), [&](char32_t c) {
      const bool apart = is_chinese(c);
      if (apart) written.push_back({.character = ' '});
      written.push_back({.character = c, .change = apart ? 1 : 0});
      if (apart) written.push_back({.character = ' ', .change = 1});
    });
    text.rewrite(written);
  }

  BertOptions options_;
};

}  // namespace

NormalizerPtr read_bert_normalizer(const JsonField& field) {
  field.require_only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  BertOptions options;
  options.clean_text = field.at("clean_text").boolean();
  options.handle_chinese_chars = field.at("handle_chinese_chars").boolean();
  options.lowercase = field.at("lowercase").boolean();
  const auto strip_accents = field.find("strip_accents");
  options.strip_accents = strip_accents ? strip_accents->boolean() : options.lowercase;
  return std::make_shared<BertNormalizer>(options);
}

}  // namespace qkv::text
