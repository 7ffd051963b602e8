// One word of the text form with its arguments, as in `window(left=4, right=0, top_left)`.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "mask/scanner.h"

namespace qkv::mask_detail {

/// A number, or nested arrays of numbers, as tokens of the text.
struct Value {
  Token start;
  std::vector<Token> numbers;  // in row-major order
  std::optional<Shape> shape;  // of an array; none for a single number
};

/// The arguments that a word accepts, beside unnamed values, which its maker counts.
struct Signature {
  std::string_view word;
  std::string_view form;                         // for messages
  std::vector<std::string_view> names;           // of `name=value` arguments
  std::vector<std::string_view> flags;           // bare words
  std::vector<std::string_view> functions = {};  // of C++ that have another name

  [[nodiscard]] bool stands_for(std::string_view function) const {
    return word == function || std::ranges::find(functions, function) != functions.end();
  }
};

class Call {
 public:
  /// Reads the parenthesised arguments, if any, after `word`.
  Call(Scanner& scanner, const Token& word, const Signature& signature);

  [[nodiscard]] std::size_t values() const noexcept { return values_.size(); }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The alignment among the arguments; bottom_right by default.
  [[nodiscard]] Align align() const;
  [[nodiscard]] bool flag(std::string_view word) const;

  /// Fails unless the number of unnamed values lies in [least, most].
  void require_values(std::size_t least, std::size_t most) const;

  // The unnamed value at `index`, or the argument `name`, which must be present (see has).
  [[nodiscard]] std::int64_t integer(std::size_t index, std::int64_t least) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t least) const;
  [[nodiscard]] bool is_array(std::string_view name) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name, std::int64_t least) const;
  /// All unnamed values.
  [[nodiscard]] std::vector<std::int64_t> integers(std::int64_t least) const;
  [[nodiscard]] std::vector<double> numbers() const;
  /// An array of 0 and 1 as b8 / of numbers as f64.
  [[nodiscard]] Tensor flags(std::size_t index) const;
  [[nodiscard]] Tensor array(std::size_t index) const;
  [[nodiscard]] Tensor array(std::string_view name) const;

  [[noreturn]] void fail(std::string_view got) const;

 private:
  struct Named {
    Token name;
    Value value;
  };

  void read_argument();
  [[nodiscard]] Value read_value();
  void read_array(Value& value, int depth, std::vector<std::int64_t>& extents, bool first_of_its_depth);
  void add_flag(const Token& word);
  [[noreturn]] void fail_unknown(const Token& word) const;
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] const Value& named(std::string_view name) const { return *find(name); }
  [[nodiscard]] std::int64_t single_integer(const Value& value, std::int64_t least) const;
  [[nodiscard]] std::int64_t to_integer(const Token& token, std::int64_t least) const;
  [[nodiscard]] double to_number(const Token& token) const;
  [[nodiscard]] Tensor to_array(const Value& value) const;

  Scanner& scanner_;
  Token word_;
  const Signature& signature_;
  std::vector<Value> values_;
  std::vector<Named> named_;
  std::vector<Token> flags_;
};

}  // namespace qkv::mask_detail
