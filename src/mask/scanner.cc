#include "mask/scanner.h"

#include "mask/shown_text.h"

namespace qkv::mask_detail {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t word_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && (is_letter(text[length]) || is_digit(text[length]))) ++length;
  return length;
}

// Digits and everything that may be part of a number. The reader of the token checks it.
std::size_t number_length(std::string_view text) {
  std::size_t length = 1;
  for (; length < text.size(); ++length) {
    const char c = text[length];
    const bool exponent_sign = (c == '-' || c == '+') && (text[length - 1] == 'e' || text[length - 1] == 'E');
    if (!is_letter(c) && !is_digit(c) && c != '.' && !exponent_sign) break;
  }
  return length;
}

bool starts_number(std::string_view text) {
  if (is_digit(text[0]) || text[0] == '.') return true;
  return text[0] == '-' && text.size() > 1 && (is_digit(text[1]) || is_letter(text[1]) || text[1] == '.');
}

}  // namespace

Token Scanner::take() {
  const Token token = next_;
  next_ = read();
  return token;
}

bool Scanner::accept(std::string_view sign) {
  if (!next_.is(sign)) return false;
  take();
  return true;
}

void Scanner::require(std::string_view sign, std::string_view expected) {
  if (!accept(sign)) fail(next_, expected);
}

void Scanner::fail(const Token& at, std::string_view expected, std::string_view hint) const {
  std::string got = at.kind == TokenKind::end ? "the end of the text" : quoted(at.text);
  fail_with(at, expected, got.append(hint));
}

void Scanner::fail_with(const Token& at, std::string_view expected, std::string_view got) const {
  throw MaskSyntaxError(function_, text_, count_characters(text_.substr(0, at.at)) + 1, expected, got);
}

Token Scanner::read() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  const std::string_view rest = text_.substr(position_);
  Token token{TokenKind::end, rest.substr(0, 0), position_};
  if (rest.empty()) return token;
  if (is_letter(rest[0])) {
    token = {TokenKind::word, rest.substr(0, word_length(rest)), position_};
  } else if (starts_number(rest)) {
    token = {TokenKind::number, rest.substr(0, number_length(rest)), position_};
  } else {
    token = {TokenKind::sign, rest.substr(0, first_character(rest)), position_};
  }
  position_ += token.text.size();
  return token;
}

}  // namespace qkv::mask_detail
