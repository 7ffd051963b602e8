// A formula written as plain text, typeset.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "explain/formula.h"

namespace qkv::math {
namespace {

constexpr std::array kFunctions = {"softmax", "exp", "randn", "sin", "cos", "attention", "rotate", "max"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kGreek = {
    {{"alpha", "α"}, {"eps", "ε"}, {"theta", "θ"}}};

using core::is_digit;
using core::is_letter;

Term greek(std::string_view text) {
  for (const auto& [word, letter] : kGreek) {
    if (word == text) return name(letter);
  }
  return name(text);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // Up to the end, or past the parenthesis that closes.
  Term read() {
    std::vector<Term> terms;
    while (at_ < text_.size() && text_[at_] != ')') {
      if (text_[at_] == '^') {
        ++at_;
        raise(terms);
      } else {
        terms.push_back(next(!terms.empty()));
      }
    }
    ++at_;
    Term all;
    for (const Term& term : terms) {
      all.text += term.text;
      all.mathml += term.mathml;
    }
    return {all.text, "<mrow>" + all.mathml + "</mrow>"};
  }

 private:
  void raise(std::vector<Term>& terms) {
    const Term base = terms.empty() ? Term{} : terms.back();
    if (!terms.empty()) terms.pop_back();
    if (text_.substr(at_, 1) == "T") {
      ++at_;
      terms.push_back(transposed(base));
    } else {
      terms.push_back(sup(base, text_.substr(at_, 1) == "(" ? inside() : next(false)));
    }
  }

  Term inside() {
    ++at_;  // the opening parenthesis
    return read();
  }

  Term next(bool has_left) {
    const char c = text_[at_];
    if (c == ' ') return space(has_left);
    if (c == '(') return parens(inside());
    if (is_digit(c)) return digits();
    if (is_letter(c)) return word();
    return symbol();
  }

  // MathML leaves no room of its own between two names.
  Term space(bool has_left) {
    ++at_;
    return {" ", has_left ? "<mspace width=\"0.25em\"/>" : ""};
  }

  Term digits() {
    const std::size_t begin = at_;
    const auto goes_on = [&](char c) {
      const bool joins = (c == '.' || c == ',') && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
      const bool has_exponent = c == 'e' || (c == '-' && text_[at_ - 1] == 'e');
      return is_digit(c) || joins || has_exponent;
    };
    while (at_ < text_.size() && goes_on(text_[at_])) ++at_;
    return number(text_.substr(begin, at_ - begin));
  }

  std::string_view letters() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Term word() {
    const std::string_view letter = letters();
    if (at_ < text_.size() && text_[at_] == '_') {
      ++at_;
      return sub(greek(letter), name(letters()));
    }
    if (at_ < text_.size() && text_[at_] == '(') {
      if (letter == "sqrt") return root(inside());
      if (std::ranges::find(kFunctions, letter) != kFunctions.end()) return call(letter, inside());
    }
    const bool is_greek = std::ranges::find(kGreek, letter, &decltype(kGreek)::value_type::first) != kGreek.end();
    return letter.size() == 1 || is_greek ? greek(letter) : token(letter);
  }

  // One character of UTF-8.
  Term symbol() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0U) == 0x80U) ++at_;
    std::string_view mark = text_.substr(begin, at_ - begin);
    if (mark == "-") mark = "−";
    return {std::string(mark), op(mark).mathml};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Term typeset(std::string_view text) { return Reader(text).read(); }

}  // namespace qkv::math
