#include <fmt/format.h>

#include <utility>

#include "core/nearest_word.h"
#include "mask/mask_words.h"
#include "mask/node.h"

namespace qkv {
namespace {

using mask_detail::Call;
using mask_detail::Scanner;
using mask_detail::Token;
using mask_detail::TokenKind;

constexpr int kDeepest = 200;  // parentheses within parentheses
constexpr std::string_view kMask = "a mask (all, none, causal, …)";

class MaskParser {
 public:
  explicit MaskParser(std::string_view text) : scanner_("parse_mask", text) {}

  Mask parse() {
    Mask mask = either(0);
    if (scanner_.peek().kind != TokenKind::end) scanner_.fail(scanner_.peek(), "`&`, `|` or the end of the text");
    return mask;
  }

 private:
  Mask either(int depth) {
    std::vector<Mask> masks;
    do {
      masks.push_back(both(depth));
    } while (scanner_.accept("|"));
    return mask_detail::either(masks);
  }

  Mask both(int depth) {
    std::vector<Mask> masks;
    do {
      masks.push_back(negated(depth));
    } while (scanner_.accept("&"));
    return mask_detail::both(std::move(masks));
  }

  Mask negated(int depth) {
    bool odd = false;
    while (scanner_.accept("!")) odd = !odd;
    Mask mask = single(depth);
    return odd ? !mask : mask;
  }

  Mask single(int depth) {
    const Token start = scanner_.peek();
    if (scanner_.accept("(")) {
      if (depth == kDeepest) scanner_.fail_with(start, fmt::format("at most {} nested parentheses", kDeepest), "more");
      Mask mask = either(depth + 1);
      scanner_.require(")", "`&`, `|` or `)`");
      return mask;
    }
    if (start.kind != TokenKind::word) scanner_.fail(start, kMask);
    const mask_detail::MaskWord* word = mask_detail::find_mask_word(start.text);
    if (word == nullptr) scanner_.fail(start, kMask, hint(start.text));
    scanner_.take();
    return made(*word, start);
  }

  Mask made(const mask_detail::MaskWord& word, const Token& start) {
    const Call call(scanner_, start, word.signature);
    try {
      return word.make(call);
    } catch (const MaskSyntaxError&) {
      throw;
    } catch (const InvalidArgument& error) {
      scanner_.fail_with(
          start, word.signature.form,
          fmt::format("values that do not fit: {}: {}: {}", word.signature.word, error.argument(), error.fault()));
    }
  }

  static std::string hint(std::string_view typed) {
    std::string lower(typed);
    for (char& letter : lower) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    if (const mask_detail::MaskWord* const word = mask_detail::mask_word_for(lower)) {
      return fmt::format("; did you mean `{}`?", word->signature.word);
    }
    std::vector<std::string_view> known;
    for (const Word& word : mask_words()) known.push_back(word.word);
    const auto nearest = core::nearest_word(lower, known);
    return nearest ? fmt::format("; did you mean `{}`?", *nearest) : "; `qkv mask` lists all words";
  }

  Scanner scanner_;
};

}  // namespace

Mask parse_mask(std::string_view text) { return MaskParser(text).parse(); }

}  // namespace qkv
