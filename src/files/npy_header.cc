#include "files/npy_header.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "qkv/error.h"

namespace qkv::files {
namespace {

class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  NpyHeader dict() {
    NpyHeader header;
    std::set<std::string> seen;
    take('{');
    while (!accept('}')) {
      const std::string key = string();
      if (!seen.insert(key).second) fail("the key '" + key + "' stands there twice");
      take(':');
      value(key, header);
      if (accept(',')) continue;
      take('}');
      break;
    }
    if (seen.size() != 3) fail("expected the keys 'descr', 'fortran_order' and 'shape'");
    skip_blanks();
    if (at_ != text_.size()) fail("expected nothing after the dict");
    return header;
  }

 private:
  void value(const std::string& key, NpyHeader& header) {
    if (key == "descr") {
      if (peek() == '[') fail("'descr' is a structured type; expected one of numbers or booleans");
      header.descr = string();
    } else if (key == "fortran_order") {
      header.fortran_order = boolean();
    } else if (key == "shape") {
      header.shape = tuple();
    } else {
      fail("the key '" + key + "' is not one of 'descr', 'fortran_order' and 'shape'");
    }
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a string");
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    const bool plain = std::ranges::all_of(content, [](char c) { return c >= ' ' && c != '\\' && c != '\x7F'; });
    if (!plain) fail("a string holds an escape or a control character");
    at_ = end + 1;
    return std::string(content);
  }

  bool boolean() {
    skip_blanks();
    for (const auto& [word, meaning] : {std::pair("True", true), std::pair("False", false)}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += std::string_view(word).size();
      return meaning;
    }
    fail("expected True or False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    take('(');
    while (!accept(')')) {
      values.push_back(integer());
      if (accept(',')) continue;
      if (values.size() == 1) fail("expected a tuple, whose only number is followed by a comma");
      take(')');
      break;
    }
    return values;
  }

  std::int64_t integer() {
    skip_blanks();
    std::int64_t value = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("an extent is beyond 2^63 - 1");
    if (error != std::errc{} || value < 0 || *first == '-') fail("expected an extent, 0 or more");
    at_ += static_cast<std::size_t>(end - first);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote its long integers so
    return value;
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  void take(char wanted) {
    if (!accept(wanted)) fail(std::string("expected '") + wanted + "'");
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw FileError(source_, "malformed .npy header at byte " + std::to_string(at_) + ": " + reason);
  }

  std::string_view text_;
  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, std::string_view source) { return HeaderReader(text, source).dict(); }

std::string to_string(const NpyHeader& header) {
  std::string text = "{'descr': '" + header.descr + "', 'fortran_order': ";
  text += header.fortran_order ? "True" : "False";
  text += ", 'shape': (";
  for (std::size_t i = 0; i < header.shape.size(); ++i) {
    text += (i > 0 ? " " : "") + std::to_string(header.shape[i]);
    if (i + 1 < header.shape.size() || i == 0) text += ',';
  }
  return text + "), }";
}

}  // namespace qkv::files
