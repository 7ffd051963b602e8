#include "mask/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/nearest_word.h"
#include "mask/shown_text.h"

namespace qkv::mask_detail {
namespace {

constexpr std::size_t kDeepestArray = 4;

bool is_word_for_number(const Token& token) {
  return token.kind == TokenKind::word && (token.text == "inf" || token.text == "nan");
}

}  // namespace

Call::Call(Scanner& scanner, const Token& word, const Signature& signature)
    : scanner_(scanner), word_(word), signature_(signature) {
  if (!scanner_.accept("(") || scanner_.accept(")")) return;
  do {
    read_argument();
  } while (scanner_.accept(","));
  scanner_.require(")", "`,` or `)`");
}

void Call::read_argument() {
  const Token start = scanner_.peek();
  if (start.kind != TokenKind::word || is_word_for_number(start)) {
    values_.push_back(read_value());
    return;
  }
  scanner_.take();
  if (!scanner_.accept("=")) {
    add_flag(start);
    return;
  }
  if (std::ranges::find(signature_.names, start.text) == signature_.names.end()) fail_unknown(start);
  if (has(start.text)) scanner_.fail_with(start, "each argument once", fmt::format("`{}` again", start.text));
  named_.push_back({start, read_value()});
}

void Call::add_flag(const Token& word) {
  if (std::ranges::find(signature_.flags, word.text) == signature_.flags.end()) fail_unknown(word);
  if (flag(word.text)) scanner_.fail_with(word, "each argument once", fmt::format("`{}` again", word.text));
  flags_.push_back(word);
}

void Call::fail_unknown(const Token& word) const {
  std::vector<std::string_view> known = signature_.names;
  known.insert(known.end(), signature_.flags.begin(), signature_.flags.end());
  const auto nearest = core::nearest_word(word.text, known);
  scanner_.fail(word, signature_.form, nearest ? fmt::format("; did you mean `{}`?", *nearest) : "");
}

Value Call::read_value() {
  Value value{scanner_.peek(), {}, std::nullopt};
  if (!value.start.is("[")) {
    if (value.start.kind != TokenKind::number && !is_word_for_number(value.start)) {
      scanner_.fail(value.start, "a number or `[`");
    }
    value.numbers.push_back(scanner_.take());
    return value;
  }
  std::vector<std::int64_t> extents;
  read_array(value, 0, extents, true);
  value.shape = Shape(std::span<const std::int64_t>(extents));
  return value;
}

// `extents` is known for each depth from its first array on; the later ones must agree with it.
void Call::read_array(Value& value, int depth, std::vector<std::int64_t>& extents, bool first_of_its_depth) {
  const auto level = static_cast<std::size_t>(depth);
  const Token start = scanner_.take();
  if (level == kDeepestArray) scanner_.fail_with(start, "at most 4 nested arrays", "a fifth");
  if (first_of_its_depth) extents.push_back(0);
  std::int64_t count = 0;
  do {
    const Token item = scanner_.peek();
    const bool first_item = first_of_its_depth && count == 0;
    const bool deeper = first_item ? item.is("[") : extents.size() > level + 1;
    if (deeper && item.is("[")) {
      read_array(value, depth + 1, extents, first_item);
    } else if (!deeper && (item.kind == TokenKind::number || is_word_for_number(item))) {
      value.numbers.push_back(scanner_.take());
    } else {
      scanner_.fail(item, first_item ? "a number or `[`" : (deeper ? "`[`" : "a number"));
    }
    ++count;
  } while (scanner_.accept(","));
  if (first_of_its_depth) extents[level] = count;
  if (count != extents[level]) {
    scanner_.fail_with(start, fmt::format("{} in each array of this depth", extents[level]), std::to_string(count));
  }
  scanner_.require("]", "`,` or `]`");
}

const Value* Call::find(std::string_view name) const {
  const auto at = std::ranges::find_if(named_, [&](const Named& one) { return one.name.text == name; });
  return at == named_.end() ? nullptr : &at->value;
}

bool Call::flag(std::string_view word) const {
  return std::ranges::any_of(flags_, [&](const Token& one) { return one.text == word; });
}

Align Call::align() const {
  if (flag("top_left") && flag("bottom_right")) fail("both `top_left` and `bottom_right`");
  return flag("top_left") ? Align::top_left : Align::bottom_right;
}

void Call::require_values(std::size_t least, std::size_t most) const {
  if (values_.size() >= least && values_.size() <= most) return;
  if (values_.size() > most) scanner_.fail(values_[most].start, signature_.form);
  fail(fmt::format("{} of its values", values_.empty() ? "none" : std::to_string(values_.size())));
}

void Call::fail(std::string_view got) const { scanner_.fail_with(word_, signature_.form, got); }

std::int64_t Call::to_integer(const Token& token, std::int64_t least) const {
  const bool any = least == std::numeric_limits<std::int64_t>::min();
  const std::string wanted = any ? "a whole number" : fmt::format("a whole number, {} or more", least);
  std::int64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (error == std::errc::result_out_of_range) scanner_.fail(token, "a whole number between -2^63 and 2^63");
  if (error != std::errc() || stop != end || value < least) scanner_.fail(token, wanted);
  return value;
}

double Call::to_number(const Token& token) const {
  double value = 0;
  const char* end = token.text.data() + token.text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (error == std::errc::result_out_of_range) scanner_.fail(token, "a number within the range of a double");
  if (error != std::errc() || stop != end) scanner_.fail(token, "a number");
  return value;
}

std::int64_t Call::single_integer(const Value& value, std::int64_t least) const {
  if (value.shape) scanner_.fail_with(value.start, "a whole number", "an array");
  return to_integer(value.numbers.front(), least);
}

std::int64_t Call::integer(std::size_t index, std::int64_t least) const {
  return single_integer(values_[index], least);
}

std::int64_t Call::integer(std::string_view name, std::int64_t least) const {
  return single_integer(named(name), least);
}

bool Call::is_array(std::string_view name) const { return named(name).shape.has_value(); }

std::vector<std::int64_t> Call::integers(std::string_view name, std::int64_t least) const {
  const Value& value = named(name);
  if (!value.shape || value.shape->rank() != 1) scanner_.fail(value.start, "an array of whole numbers, as in `[1, 2]`");
  std::vector<std::int64_t> result;
  for (const Token& token : value.numbers) result.push_back(to_integer(token, least));
  return result;
}

std::vector<std::int64_t> Call::integers(std::int64_t least) const {
  std::vector<std::int64_t> result;
  for (const Value& value : values_) result.push_back(single_integer(value, least));
  return result;
}

std::vector<double> Call::numbers() const {
  std::vector<double> result;
  for (const Value& value : values_) {
    if (value.shape) scanner_.fail_with(value.start, "a number", "an array");
    result.push_back(to_number(value.numbers.front()));
    if (!std::isfinite(result.back())) scanner_.fail(value.start, "a finite number");
  }
  return result;
}

Tensor Call::flags(std::size_t index) const {
  const Value& value = values_[index];
  if (!value.shape) scanner_.fail(value.start, "an array of 0 and 1, as in `[[1, 0], [1, 1]]`");
  Tensor result(DType::b8, *value.shape);
  const std::span<bool> places = result.values<bool>();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string_view text = value.numbers[i].text;
    if (text != "0" && text != "1") scanner_.fail(value.numbers[i], "0 or 1");
    places[i] = text == "1";
  }
  return result;
}

Tensor Call::to_array(const Value& value) const {
  if (!value.shape) scanner_.fail(value.start, "an array of numbers, as in `[[0, -1], [1, 0]]`");
  Tensor result(DType::f64, *value.shape);
  const std::span<double> places = result.values<double>();
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = to_number(value.numbers[i]);
  return result;
}

Tensor Call::array(std::size_t index) const { return to_array(values_[index]); }
Tensor Call::array(std::string_view name) const { return to_array(named(name)); }

}  // namespace qkv::mask_detail
