// The text form cut into tokens, with errors that point at the column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "qkv/mask.h"

namespace qkv::mask_detail {

enum class TokenKind : std::uint8_t { word, number, sign, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // a part of the text; empty at its end
  std::size_t at = 0;     // in bytes

  [[nodiscard]] bool is(std::string_view sign) const { return kind == TokenKind::sign && text == sign; }
};

class Scanner {
 public:
  /// Errors carry `function`; both must outlive the scanner.
  Scanner(std::string_view function, std::string_view text) : function_(function), text_(text), next_(read()) {}

  [[nodiscard]] const Token& peek() const noexcept { return next_; }
  Token take();
  /// Takes the next token if it is this sign.
  bool accept(std::string_view sign);
  /// Takes this sign, or fails; `expected` lists the alternatives.
  void require(std::string_view sign, std::string_view expected);

  /// Throws MaskSyntaxError at a token, which the message quotes. `hint` follows it, e.g. "; did you mean `causal`?".
  [[noreturn]] void fail(const Token& at, std::string_view expected, std::string_view hint = {}) const;
  /// The same with `got` in place of the token.
  [[noreturn]] void fail_with(const Token& at, std::string_view expected, std::string_view got) const;

 private:
  [[nodiscard]] Token read();

  std::string_view function_;
  std::string_view text_;
  std::size_t position_ = 0;
  Token next_;
};

}  // namespace qkv::mask_detail
