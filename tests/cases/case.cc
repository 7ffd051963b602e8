#include "cases/case.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace qkv::cases {
namespace {

constexpr std::array<std::string_view, 3> kDtypeNames = {"f32", "f16", "bf16"};
constexpr std::array<DType, 3> kDtypes = {DType::f32, DType::f16, DType::bf16};
constexpr std::array<std::string_view, kLayouts> kLayoutNames = {
    "dense", "token_major", "gapped", "page_rows", "one_batch", "one_head", "one_row", "reversed", "columns"};
constexpr std::array<std::string_view, kValues> kValueNames = {"normal", "equal",  "one_hot", "outlier",
                                                               "huge_k", "huge_q", "huge_v",  "tiny"};
constexpr std::array<std::string_view, kScales> kScaleNames = {"usual", "zero", "negative", "large"};
constexpr std::array<std::string_view, kCaches> kCacheNames = {"none", "f32", "f16", "bf16", "i8"};
constexpr std::array<std::string_view, kSinks> kSinkNames = {"none", "mild", "ruling"};

[[noreturn]] void refuse(std::string_view expected, std::string_view got) {
  throw InvalidArgument("parse_case", "text", expected, "`" + std::string(got) + "`");
}

// Names the fields once, for writing and for reading.
template <class One, class Visitor>
void for_each_field(One& one, Visitor& visit) {
  visit.dtype("dtype", one.dtype);
  visit.number("B", one.B);
  visit.number("Hk", one.Hk);
  visit.number("group", one.group);
  visit.number("Tq", one.Tq);
  visit.number("Tk", one.Tk);
  visit.number("D", one.D);
  visit.number("Dv", one.Dv);
  visit.name("mask", one.mask, masks());
  visit.name("bias", one.bias, biases());
  visit.word("scale", one.scale, kScaleNames);
  visit.number("softcap", one.softcap);
  visit.number("dropout", one.dropout);
  visit.word("sinks", one.sinks, kSinkNames);
  visit.word("q", one.q, kLayoutNames);
  visit.word("k", one.k, kLayoutNames);
  visit.word("v", one.v, kLayoutNames);
  visit.word("out", one.out, kLayoutNames);
  visit.word("values", one.values, kValueNames);
  visit.number("specials", one.specials);
  visit.word("cache", one.cache, kCacheNames);
  visit.number("poison", one.poison);
  visit.number("threads", one.threads);
  visit.number("seed", one.seed);
}

class Writer {
 public:
  explicit Writer(const Case& one) { for_each_field(one, *this); }
  [[nodiscard]] std::string text() const { return text_.str(); }

  template <class Number>
  void number(std::string_view key, const Number& value) {
    write(key, value);
  }
  void dtype(std::string_view key, DType value) { write(key, name_of(value)); }
  template <class Table>
  void name(std::string_view key, std::string_view value, const Table& /*table*/) {
    write(key, value);
  }
  template <class Enum, class Names>
  void word(std::string_view key, Enum value, const Names& names) {
    write(key, names[static_cast<std::size_t>(value)]);
  }

 private:
  template <class Value>
  void write(std::string_view key, const Value& value) {
    std::ostringstream field;
    field.precision(17);
    field << key << '=' << value;
    text_ << (text_.tellp() > 0 ? " " : "") << field.str();
  }

  std::ostringstream text_;
};

class Reader {
 public:
  Reader(std::string_view key, std::string_view value, Case& one) : key_(key), value_(value) {
    for_each_field(one, *this);
    if (!found_) refuse("a field of a case", key);
  }

  template <class Number>
  void number(std::string_view key, Number& value) {
    if (!is(key)) return;
    std::istringstream stream{std::string(value_)};
    if (!(stream >> value)) refuse("a number for " + std::string(key), value_);
  }
  void dtype(std::string_view key, DType& value) {
    if (is(key)) value = kDtypes[index_in(kDtypeNames)];
  }
  template <class Table>
  void name(std::string_view key, std::string_view& value, const Table& table) {
    if (!is(key)) return;
    for (const auto& named : table) {
      if (named.name == value_) {
        value = named.name;
        return;
      }
    }
    refuse("a " + std::string(key) + " of the table", value_);
  }
  template <class Enum, class Names>
  void word(std::string_view key, Enum& value, const Names& names) {
    if (is(key)) value = static_cast<Enum>(index_in(names));
  }

 private:
  bool is(std::string_view key) {
    found_ = found_ || key == key_;
    return key == key_;
  }

  template <class Names>
  [[nodiscard]] std::size_t index_in(const Names& names) const {
    const auto found = std::ranges::find(names, value_);
    if (found == names.end()) refuse("a word for " + std::string(key_), value_);
    return static_cast<std::size_t>(found - names.begin());
  }

  std::string_view key_;
  std::string_view value_;
  bool found_ = false;
};

}  // namespace

std::string to_text(const Case& one) {
  std::istringstream all(Writer(one).text());
  std::istringstream usual(Writer(Case{}).text());
  std::string text;
  std::string field;
  std::string same;
  while (all >> field && usual >> same) {
    if (field != same || field.starts_with("dtype")) text += (text.empty() ? "" : " ") + field;
  }
  return text;
}

Case parse_case(std::string_view text) {
  Case one;
  std::istringstream stream{std::string(text)};
  std::string field;
  while (stream >> field) {
    const std::size_t equals = field.find('=');
    if (equals == std::string::npos) refuse("key=value", field);
    Reader(std::string_view(field).substr(0, equals), std::string_view(field).substr(equals + 1), one);
  }
  return one;
}

}  // namespace qkv::cases
