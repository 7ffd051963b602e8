// One text as it grows, token by token.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "qkv/model/write_text.h"

namespace qkv {

/// One text as it grows. A stop is looked for in the text that is shown, and in the one that shows special tokens, too:
/// there it may hold whole special tokens, not letters of one.
class GrowingText {
 public:
  /// `prompt` are the tokens before it, of which the last ones count; views the tokenizer and the stops.
  GrowingText(const Tokenizer& tokenizer, const std::vector<std::string>& stops, std::span<const std::int32_t> prompt);

  /// The part that is certain now.
  [[nodiscard]] std::string add(std::int32_t token);
  /// What was held back, once nothing follows.
  [[nodiscard]] std::string rest() { return said_up_to(has_stopped_ ? end_ : text_.size()); }

  [[nodiscard]] bool has_stopped() const noexcept { return has_stopped_; }
  [[nodiscard]] WrittenText written(WriteEnd end) const;

 private:
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  void end_at(std::size_t place) noexcept;
  [[nodiscard]] std::size_t marked_place(const std::string& stop) const;
  [[nodiscard]] Span last_mark(std::int32_t token) const;
  [[nodiscard]] std::string behind_prompt(std::size_t count, SpecialTokens special) const;
  [[nodiscard]] std::size_t shown_before(std::size_t place) const;
  [[nodiscard]] std::size_t begun_stop(const std::string& text, std::size_t held) const;
  [[nodiscard]] std::size_t uncertain() const;
  [[nodiscard]] std::string said_up_to(std::size_t end);

  const Tokenizer& tokenizer_;
  const std::vector<std::string>& stops_;
  std::vector<std::int32_t> all_;
  std::size_t prompt_;         // tokens of all_ before the text: the prompt's end
  std::string before_;         // their text
  std::string before_marked_;  // … with special tokens
  std::string text_;
  std::string marked_;         // … with special tokens, once there is one
  std::vector<Span> special_;  // its special tokens there
  std::size_t said_ = 0;
  std::size_t end_ = std::string::npos;
  bool has_stopped_ = false;
};

/// Whether a decoder leaves the token out of a text.
[[nodiscard]] bool is_special_token(const Tokenizer& tokenizer, std::int32_t token);

}  // namespace qkv
