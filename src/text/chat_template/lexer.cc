#include <algorithm>
#include <array>
#include <optional>

#include "core/ascii.h"
#include "text/characters.h"
#include "text/chat_template/budget.h"
#include "text/chat_template/letters.h"
#include "text/chat_template/token.h"

namespace qkv::text::jinja {
namespace {

// With \n as its only line ends, and without the last of them.
std::string with_line_ends(std::string_view source) {
  std::string text;
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (source[at] == '\r' && source.substr(at + 1).starts_with('\n')) continue;
    text += source[at] == '\r' ? '\n' : source[at];
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool is_name_part(char c) { return core::is_letter(c) || core::is_digit(c) || c == '_'; }

unsigned digit_of(char c) {
  constexpr unsigned kTen = 10;
  if (core::is_digit(c)) return static_cast<unsigned>(c - '0');
  const char small = core::small_letter(c);
  return core::is_letter(c) ? static_cast<unsigned>(small - 'a') + kTen : ~0U;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_text();
    push(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return std::string_view(source_).substr(at_); }
  void push(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  [[noreturn]] void fail(const std::string& what) const { throw Fault(at_line(line_, what)); }

  void advance(std::size_t end) {
    line_ += static_cast<std::uint32_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    is_at_line_begin_ = end > at_ ? source_[end - 1] == '\n' : is_at_line_begin_;
    at_ = end;
  }

  [[nodiscard]] std::size_t next_tag(std::size_t from) const {
    for (std::size_t at = source_.find('{', from); at != std::string::npos; at = source_.find('{', at + 1)) {
      const char next = at + 1 < source_.size() ? source_[at + 1] : ' ';
      if (next == '{' || next == '%' || next == '#') return at;
    }
    return source_.size();
  }

  // The text in front of a tag, as the tag leaves it.
  [[nodiscard]] std::string_view before_tag(std::size_t tag) const {
    std::string_view text = std::string_view(source_).substr(at_, tag - at_);
    if (tag == source_.size()) return text;
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    if (sign == '-') return text.substr(0, stripped(text, Sides::right).end);
    if (sign == '+' || source_[tag + 1] == '{') return text;
    const std::size_t line = text.rfind('\n') + 1;
    const bool is_line_begin = line > 0 || is_at_line_begin_;
    const Span blank = stripped(text.substr(line), Sides::both);
    return is_line_begin && blank.begin == blank.end ? text.substr(0, line) : text;
  }

  void read_text() {
    const std::size_t tag = next_tag(at_);
    const std::string_view text = before_tag(tag);
    if (!text.empty()) push(TokenKind::text, std::string(text));
    advance(tag);
    if (tag == source_.size()) return;
    const char kind = source_[tag + 1];
    std::size_t begin = tag + 2;
    if (begin < source_.size() && (source_[begin] == '-' || source_[begin] == '+')) ++begin;
    if (kind == '#') return skip_comment(begin);
    if (kind == '%' && read_raw(begin)) return;
    push(kind == '{' ? TokenKind::output_begin : TokenKind::block_begin, "");
    advance(begin);
    read_tag(kind == '{' ? '}' : '%');
  }

  // Behind the end of a tag whose closing mark begins at `close`, with the white space that goes with it.
  [[nodiscard]] std::size_t behind(std::size_t close, char sign) const {
    const bool is_output = source_[close] == '}';
    const std::size_t end = close + 2;
    if (sign == '-') return end + stripped(std::string_view(source_).substr(end), Sides::left).begin;
    return !is_output && sign != '+' && end < source_.size() && source_[end] == '\n' ? end + 1 : end;
  }

  void skip_comment(std::size_t begin) {
    const std::size_t close = source_.find("#}", begin);
    if (close == std::string::npos) fail("expected #} that ends the comment, got the template's end");
    const char sign = close > begin ? source_[close - 1] : ' ';
    advance(behind(close, sign));
  }

  [[nodiscard]] std::size_t without_blanks(std::size_t at) const {
    return at + stripped(std::string_view(source_).substr(at), Sides::left).begin;
  }

  // Where a tag of one word ends, with its sign; nullopt if no such tag begins here.
  struct WordTag {
    std::size_t close;
    char sign;
  };
  [[nodiscard]] std::optional<WordTag> word_tag(std::size_t begin, std::string_view word) const {
    std::size_t at = without_blanks(begin);
    if (std::string_view(source_).substr(at, word.size()) != word) return std::nullopt;
    at = without_blanks(at + word.size());
    char sign = ' ';
    if (at < source_.size() && (source_[at] == '-' || source_[at] == '+')) sign = source_[at++];
    if (std::string_view(source_).substr(at, 2) != "%}") return std::nullopt;
    return WordTag{at, sign};
  }

  bool read_raw(std::size_t begin) {
    const std::optional<WordTag> raw = word_tag(begin, "raw");
    if (!raw) return false;
    const std::size_t from = raw->sign == '-' ? without_blanks(raw->close + 2) : raw->close + 2;
    for (std::size_t tag = source_.find("{%", from); tag != std::string::npos; tag = source_.find("{%", tag + 1)) {
      const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
      const std::size_t word = sign == '-' || sign == '+' ? tag + 3 : tag + 2;
      const std::optional<WordTag> end = word_tag(word, "endraw");
      if (!end) continue;
      advance(from);
      push(TokenKind::text, std::string(before_tag(tag)));
      advance(behind(end->close, end->sign));
      return true;
    }
    fail("expected {% endraw %}, got the template's end");
  }

  void read_tag(char closing) {
    std::vector<char> brackets;
    for (;;) {
      advance(without_blanks(at_));
      if (at_ == source_.size()) fail("expected the end of the tag, got the template's end");
      if (brackets.empty() && read_tag_end(closing)) return;
      const char c = source_[at_];
      if (c == '\'' || c == '"') {
        read_string(c);
      } else if (core::is_digit(c)) {
        read_number();
      } else if (is_name_part(c)) {
        std::size_t end = at_;
        while (end < source_.size() && is_name_part(source_[end])) ++end;
        push(TokenKind::name, source_.substr(at_, end - at_));
        advance(end);
      } else {
        read_mark(brackets);
      }
    }
  }

  bool read_tag_end(char closing) {
    const char sign = source_[at_];
    const bool is_signed = sign == '-' || (sign == '+' && closing == '%');
    const std::size_t close = is_signed ? at_ + 1 : at_;
    if (std::string_view(source_).substr(close, 2) != std::string{closing, '}'}) return false;
    push(closing == '}' ? TokenKind::output_end : TokenKind::block_end, "");
    advance(behind(close, is_signed ? sign : ' '));
    return true;
  }

  void read_mark(std::vector<char>& brackets) {
    constexpr std::array<std::string_view, 6> kTwo = {"**", "//", "==", "!=", ">=", "<="};
    constexpr std::string_view kOne = "+-/*%~[](){}><=.:|,;";
    const auto two = std::ranges::find(kTwo, rest().substr(0, 2));
    const char c = source_[at_];
    if (two == kTwo.end() && kOne.find(c) == std::string_view::npos) {
      fail("expected an expression, got " + std::string(rest().substr(0, read_character(rest(), 0).length)));
    }
    if (c == '(' || c == '[' || c == '{') brackets.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty() || brackets.back() != c) fail(std::string("expected no ") + c + " here, got one");
      brackets.pop_back();
    }
    const std::string mark = two == kTwo.end() ? std::string(1, c) : std::string(*two);
    push(TokenKind::mark, mark);
    advance(at_ + mark.size());
  }

  void read_number() {
    std::size_t end = digits_from(at_);
    bool is_real = false;
    const auto has_digit = [&](std::size_t at) { return at < source_.size() && core::is_digit(source_[at]); };
    const bool follows_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (!follows_dot && end < source_.size() && source_[end] == '.' && has_digit(end + 1)) {
      end = digits_from(end + 1);
      is_real = true;
    }
    if (!follows_dot && end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const bool is_signed = end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-');
      const std::size_t digits = end + (is_signed ? 2 : 1);
      if (has_digit(digits)) {
        end = digits_from(digits);
        is_real = true;
      }
    }
    std::string text = source_.substr(at_, end - at_);
    std::erase(text, '_');
    push(is_real ? TokenKind::real : TokenKind::integer, std::move(text));
    advance(end);
  }

  [[nodiscard]] std::size_t digits_from(std::size_t at) const {
    while (at < source_.size() && (core::is_digit(source_[at]) || (source_[at] == '_' && at + 1 < source_.size() &&
                                                                   core::is_digit(source_[at + 1])))) {
      ++at;
    }
    return at;
  }

  void read_string(char quote) {
    std::string text;
    std::size_t at = at_ + 1;
    while (at < source_.size() && source_[at] != quote) {
      if (source_[at] == '\\' && at + 1 < source_.size()) {
        at = read_escape(at + 1, text);
      } else {
        text += source_[at++];
      }
    }
    if (at == source_.size()) fail(std::string("expected ") + quote + " that ends the string, got the template's end");
    push(TokenKind::string, std::move(text));
    advance(at + 1);
  }

  // Python's escapes; those that it does not know keep their backslash.
  std::size_t read_escape(std::size_t at, std::string& text) const {
    constexpr std::string_view kNames = "abfnrtv\\'\"";
    constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"";
    constexpr unsigned kOctal = 8;
    constexpr unsigned kHex = 16;
    const char c = source_[at];
    if (const std::size_t known = kNames.find(c); known != std::string_view::npos) {
      text += kValues[known];
      return at + 1;
    }
    if (c == '\n') return at + 1;
    if (digit_of(c) < kOctal) return read_code(at, 3, kOctal, text);
    if (c == 'x') return read_code(at + 1, 2, kHex, text);
    if (c == 'u') return read_code(at + 1, 4, kHex, text);
    if (c == 'U') return read_code(at + 1, 8, kHex, text);
    text += '\\';
    return at;
  }

  std::size_t read_code(std::size_t at, std::size_t most, unsigned base, std::string& text) const {
    constexpr unsigned kOctal = 8;
    constexpr char32_t kLast = 0x10FFFF;
    constexpr char32_t kFirstSurrogate = 0xD800;
    constexpr char32_t kLastSurrogate = 0xDFFF;
    char32_t code = 0;
    std::size_t count = 0;
    while (count < most && at < source_.size() && digit_of(source_[at]) < base) {
      code = code * base + digit_of(source_[at++]);
      ++count;
    }
    if (base != kOctal && count < most) fail("expected " + std::to_string(most) + " hexadecimal digits in an escape");
    if (code > kLast || (code >= kFirstSurrogate && code <= kLastSurrogate)) {
      fail("expected the code of a character in an escape, got one that is none");
    }
    append_character(text, code);
    return at;
  }

  std::string source_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool is_at_line_begin_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::string at_line(std::uint32_t line, std::string_view what) {
  return "line " + std::to_string(line) + ": " + std::string(what);
}

std::vector<Token> tokens_of(std::string_view source) { return Lexer(with_line_ends(source)).run(); }

}  // namespace qkv::text::jinja
