// What a request holds, described once: from it come the options of the command, the reader of JSON and docs/api.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace qkv {

enum class FieldType : std::uint8_t { flag, toggle, whole, seed, number, text, size, texts, wholes };

/// A toggle is a flag that may also be left out; a size is a number of bytes, "512MiB" where it is a text. "true or
/// false", "whole number", "whole number from 0", "number", "text", "list of texts", "list of whole numbers".
[[nodiscard]] std::string_view name_of(FieldType type) noexcept;

/// A field of a request, whatever the request is.
struct FieldInfo {
  std::string name;          // "key_totals": the key in JSON, --key-totals on the command line
  std::string form = {};     // what a value looks like, "N" or "FILE"; empty for a flag
  std::string meaning = {};  // a phrase, with the default in brackets where the type does not give it
  std::string group = {};    // of fields that belong together; may be empty
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  // bounds of a whole number, or of each in a list
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> words = {};     // if there are any: the only texts
  std::vector<std::string> needs = {};     // other fields without which this one has no meaning
  std::vector<std::string> excludes = {};  // other fields beside which it has none
  FieldType type = FieldType::text;
  std::string fallback = {};  // the default as a text; empty where there is none
  bool required = false;
  std::optional<std::string> alone = {};  // its value where its name stands alone, "--block" for "--block=pre-norm"
  std::string option = {};                // the command line's own word for it, "caption" for captions
  std::string python = {};                // likewise Python's, "start" for from
  char letter = 0;                        // -o for --out
  std::string ending = {};   // of a file's name, ".png": one that ends as another kind of file does is refused
  std::string example = {};  // a value as on the command line, other than the default
  bool only_told = false;    // of the bounds: what reads the field refuses other values in words of its own
  std::vector<std::string> arguments = {};  // what the library calls its value otherwise: "most" for tokens
};

using FieldValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::string>,
                                std::vector<std::int64_t>>;

/// The value that a text on the command line stands for. Whole numbers of a list, and its words where only some are
/// known, are parted by commas; any other text is one of its list. Throws InvalidArgument naming the field for a text
/// of another type, a whole number out of bounds, or none of the words, whose nearest it offers.
[[nodiscard]] FieldValue field_value(const FieldInfo& field, std::string_view text);

/// A field's bounds where no other is sensible: of a number that may be any, and of a count.
inline constexpr std::int64_t kAnyNumber = 1'000'000'000'000'000'000;
inline constexpr std::int64_t kAnyCount = std::int64_t{1} << 40;

/// The value, of the field's type, that a face read. Throws InvalidArgument naming the field if it is out of bounds, or
/// none of the words; `shown` is the value as messages have it.
[[nodiscard]] FieldValue checked_value(const FieldInfo& field, FieldValue value, std::string_view shown);

/// What a value may be, for messages: "a whole number from 0 to 8", "f32 or bf16".
[[nodiscard]] std::string expected_of(const FieldInfo& field);

/// Fields by their index, each with its value.
using FieldValues = std::vector<std::pair<std::size_t, FieldValue>>;

/// Throws InvalidArgument naming a field that is required and not there, one whose `needs` are not there, and one
/// beside what it `excludes`.
void require_company(std::span<const FieldInfo> fields, const FieldValues& values);

/// The members of a JSON object as values of these fields. A null is a field that is left out. Throws InvalidArgument
/// for what is no JSON object, for a key that is no field, and as field_value() and require_company() do.
[[nodiscard]] FieldValues field_values(std::span<const FieldInfo> fields, std::string_view json);

/// `threads`, from 1 to 65536.
[[nodiscard]] FieldInfo threads_field(const std::string& group = {});

/// A table in Markdown, one row a field.
[[nodiscard]] std::string fields_as_markdown(std::span<const FieldInfo> fields);

namespace api_detail {

/// What a request holds a field's value as.
enum class Holder : std::uint8_t {
  flag,
  flag_or_none,
  whole,
  whole_or_none,
  small,
  small_or_none,
  seed,
  seed_or_none,
  number,
  number_or_none,
  text,
  text_or_none,
  texts,
  wholes
};

// Each has its own overload; a request holds no other values.
constexpr Holder holder_of(const bool*) { return Holder::flag; }
constexpr Holder holder_of(const std::optional<bool>*) { return Holder::flag_or_none; }
constexpr Holder holder_of(const std::int64_t*) { return Holder::whole; }
constexpr Holder holder_of(const std::optional<std::int64_t>*) { return Holder::whole_or_none; }
constexpr Holder holder_of(const int*) { return Holder::small; }
constexpr Holder holder_of(const std::optional<int>*) { return Holder::small_or_none; }
constexpr Holder holder_of(const std::uint64_t*) { return Holder::seed; }
constexpr Holder holder_of(const std::optional<std::uint64_t>*) { return Holder::seed_or_none; }
constexpr Holder holder_of(const double*) { return Holder::number; }
constexpr Holder holder_of(const std::optional<double>*) { return Holder::number_or_none; }
constexpr Holder holder_of(const std::string*) { return Holder::text; }
constexpr Holder holder_of(const std::optional<std::string>*) { return Holder::text_or_none; }
constexpr Holder holder_of(const std::vector<std::string>*) { return Holder::texts; }
constexpr Holder holder_of(const std::vector<std::int64_t>*) { return Holder::wholes; }

}  // namespace api_detail

/// The fields of a request of some kind: where their values lie, counted in bytes from its begin.
class FieldTable {
 public:
  [[nodiscard]] std::span<const FieldInfo> infos() const noexcept { return infos_; }
  /// The field of this name, which must be there, for one request alone: its meaning beside others may be another.
  [[nodiscard]] FieldInfo& info(std::string_view name);

  struct Example {
    std::string_view field, value;
  };
  /// Values of fields whose type gives none, which must be there: of texts, and where another one says more.
  void give_examples(std::initializer_list<Example> examples);

  struct Bounds {
    std::string_view field;
    std::int64_t least, most;
  };
  /// Bounds of fields that must be there, and that are checked where they are read.
  void tell_bounds(std::initializer_list<Bounds> bounds);

  struct Arguments {
    std::string_view field;
    std::vector<std::string> names;
  };
  /// What the library calls the values of fields that must be there. Of several fields, an argument is the last one
  /// that is given.
  void tell_arguments(std::initializer_list<Arguments> all);

  /// Leaves fields out, which must be there.
  void remove(std::span<const std::string_view> names);

  /// Writes a value that field_value() or field_values() gave for the n-th field. A list grows by it.
  void set(void* request, std::size_t n, const FieldValue& value) const;
  /// What the n-th field holds; nullopt for what is optional and not there.
  [[nodiscard]] std::optional<FieldValue> get(const void* request, std::size_t n) const;
  [[nodiscard]] bool is_equal(const void* a, const void* b, std::size_t n) const;

 protected:
  [[nodiscard]] std::string json_of(const void* request, const void* plain) const;
  void add(FieldInfo&& info, api_detail::Holder holder, std::ptrdiff_t offset, const void* plain);
  void add(const FieldTable& part, std::ptrdiff_t offset);

 private:
  [[nodiscard]] std::size_t index_of(std::string_view name) const;

  struct Place {
    api_detail::Holder holder;
    std::ptrdiff_t offset;
  };
  std::vector<FieldInfo> infos_;
  std::vector<Place> places_;
};

/// The fields of one kind of request, in the order in which they are shown.
template <class Request>
class Fields : public FieldTable {
 public:
  template <class Value>
  Fields& add(Value Request::* place, FieldInfo info) {
    FieldTable::add(std::move(info), api_detail::holder_of(static_cast<const Value*>(nullptr)),
                    offset_of(&(plain_.*place)), &plain_);
    return *this;
  }

  /// Those of a part that the request is made from.
  template <class Base>
    requires std::is_base_of_v<Base, Request>
  Fields& add(const Fields<Base>& base) {
    FieldTable::add(base, offset_of(static_cast<const Base*>(&plain_)));
    return *this;
  }

  /// Those of a part that the request holds.
  template <class Part>
    requires std::is_class_v<Part>
  Fields& add(Part Request::* part, const Fields<Part>& fields) {
    FieldTable::add(fields, offset_of(&(plain_.*part)));
    return *this;
  }

  /// The fields of the request that say something, as a JSON object in one line.
  [[nodiscard]] std::string as_json(const Request& request) const { return json_of(&request, &plain_); }

  /// The request that has these values, and defaults beside them.
  [[nodiscard]] Request from_values(const FieldValues& values) const {
    Request request;
    for (const auto& [n, value] : values) set(&request, n, value);
    return request;
  }

  /// The request that a JSON object describes. Throws as field_values().
  [[nodiscard]] Request from_json(std::string_view json) const { return from_values(field_values(infos(), json)); }

 private:
  [[nodiscard]] std::ptrdiff_t offset_of(const void* value) const {
    return static_cast<const char*>(value) - reinterpret_cast<const char*>(&plain_);
  }

  Request plain_ = {};
};

}  // namespace qkv
