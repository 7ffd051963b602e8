#include <algorithm>
#include <string>
#include <vector>

#include "core/ascii.h"
#include "core/number_range.h"
#include "core/number_text.h"
#include "qkv/files.h"

namespace qkv {
namespace {

constexpr const char* kForm = "numbers in nested brackets, such as [[1, 0], [0, 1]]";

class NumbersReader {
 public:
  explicit NumbersReader(std::string_view text) : text_(text) {}

  Tensor tensor() {
    array(0);
    if (at_ != text_.size()) fail(kForm);
    return {values_, Shape(extents_)};
  }

 private:
  void array(std::size_t depth) {
    take('[');
    if (depth == extents_.size()) {
      if (!values_.empty() || depth == std::size_t{kMaxRank}) fail(kForm);
      extents_.push_back(kUnknown);
    }
    std::int64_t count = 0;
    do {
      if (next() == '[') {
        array(depth + 1);
      } else {
        number(depth);
      }
      ++count;
    } while (accept(','));
    take(']');
    if (extents_[depth] == kUnknown) extents_[depth] = count;
    if (extents_[depth] != count) {
      fail("rows of one length, " + std::to_string(extents_[depth]) + " as the first");
    }
  }

  void number(std::size_t depth) {
    const std::size_t end = std::min(text_.find_first_of(",[]", at_), text_.size());
    std::string_view word = text_.substr(at_, end - at_);
    while (!word.empty() && core::is_blank(word.back())) word.remove_suffix(1);
    const auto value = core::number_from<double>(word);
    if (!value) require_in_range(word);
    if (!value || depth + 1 != extents_.size()) fail(kForm);
    values_.push_back(*value);
    at_ = end;
  }

  // Tells a number that f64 does not hold from what is none.
  static void require_in_range(std::string_view word) {
    if (!core::is_out_of_range<double>(word)) return;
    throw InvalidArgument("tensor_from_text", "text", "numbers " + std::string(core::kRangeOfF64), word);
  }

  // The next character after blanks; '\0' at the end.
  char next() {
    while (at_ < text_.size() && core::is_blank(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char sign) {
    const bool there = next() == sign;
    if (there) ++at_;
    return there;
  }

  void take(char sign) {
    if (!accept(sign)) fail(kForm);
    next();
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw InvalidArgument("tensor_from_text", "text", expected, "\"" + std::string(text_) + "\"");
  }

  static constexpr std::int64_t kUnknown = -1;
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::int64_t> extents_;
  std::vector<double> values_;
};

}  // namespace

bool is_tensor_text(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first != std::string_view::npos && text[first] == '[';
}

Tensor tensor_from_text(std::string_view text) { return NumbersReader(text).tensor(); }

}  // namespace qkv
