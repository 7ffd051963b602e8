// What a request holds, described once: from it come the options of the command, the reader of JSON and docs/api.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
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
/// false", "whole number", "number", "text", "number of bytes", "list of texts", "list of whole numbers".
[[nodiscard]] std::string_view name_of(FieldType type) noexcept;

/// An end of what a number may be. Where it is open, the end itself is out.
struct Bound {
  double at = 0;
  bool is_open = false;

  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr Bound(Number number) : at(static_cast<double>(number)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool is_finite() const noexcept;
};

[[nodiscard]] constexpr Bound open_at(double at) {
  Bound bound = at;
  bound.is_open = true;
  return bound;
}
/// `.least = above(0)`, `.most = below(1)`.
[[nodiscard]] constexpr Bound above(double least) { return open_at(least); }
[[nodiscard]] constexpr Bound below(double most) { return open_at(most); }

/// Fields beside which a field needs one of others: beside `json`, which prints no picture, its colours need a file.
struct NeedBeside {
  std::vector<std::string> others, needs_one;
};

/// What becomes of the file that a text names: it is written, as a tensor at a tensor path (qkv/files.h), or as an
/// archive of several. Of the form "FILE" and of models it is read otherwise, where it is one.
enum class FileUse : std::uint8_t { read, written, tensor, archive };

/// A field of a request, whatever the request is. Where it says that it needs another, "optimizer=sgd" is this value
/// of it, given or by default.
struct FieldInfo {
  std::string name;          // "key_totals": the key in JSON, --key-totals on the command line
  std::string form = {};     // what a value looks like, "N" or "FILE"; empty for a flag
  std::string meaning = {};  // a phrase, without the default
  std::string group = {};    // of fields that belong together; may be empty
  Bound least = -std::numeric_limits<double>::infinity();  // of a number, of each in a list, and of a size
  Bound most = std::numeric_limits<double>::infinity();
  std::vector<std::string> words = {};      // if there are any: the only texts
  std::vector<std::string> needs = {};      // other fields without which this one has no meaning
  std::vector<std::string> needs_one = {};  // likewise, of which one is enough
  std::vector<std::string> excludes = {};   // other fields beside which it has none; one of the two says so
  std::vector<NeedBeside> beside = {};
  std::map<std::string, std::string> reasons = {};  // why it excludes another, by the other's name
  std::vector<std::string> one_of = {};             // other fields: of these and this one, exactly one must be there
  FieldType type = FieldType::text;
  std::string fallback = {};   // the default as a text, of which no other is the value
  std::string otherwise = {};  // a phrase for a default that follows from other things, "d_model / heads"
  bool required = false;
  std::optional<std::string> alone = {};  // its value where its name stands alone, "--block" for "--block=pre-norm"
  std::string option = {};                // the command line's own word for it, "caption" for captions
  std::vector<std::string> former = {};   // its names in earlier releases, for a hint
  std::string python = {};                // likewise Python's, "start" for from
  char letter = 0;                        // -o for --out
  std::string ending = {};  // of a file's name, ".png": one that ends as another kind of file does is refused
  FileUse file = FileUse::read;
  // "audio/wav": in place of a file, or of one in a list, its bytes, as a text "data:audio/wav;base64,…"; or numbers
  std::string media = {};
  bool is_text = false;  // a text that is read, or a file of one: of a command, - is standard input
  std::string example = {};    // a value as on the command line, other than the default
  bool may_be_empty = false;   // of a text: "" is one of its values
  bool empty_is_none = false;  // of a text, as its table sets it: a request that was not read has "" for none
  std::vector<std::string> arguments = {};  // what the library calls its value otherwise: "most" for tokens
};

using FieldValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::string>,
                                std::vector<std::int64_t>>;

/// The value that a text on the command line stands for. Whole numbers of a list, and its words where only some are
/// known, are parted by commas; any other text is one of its list. Throws InvalidArgument naming the field for a text
/// of another type, a whole number out of bounds, or none of the words, whose nearest it offers.
[[nodiscard]] FieldValue field_value(const FieldInfo& field, std::string_view text);

/// A field's bounds where no other is sensible: of a number that may be any, and of a count.
inline constexpr double kAnyNumber = 1e38;  // which f32 holds
inline constexpr std::int64_t kAnyCount = std::int64_t{1} << 40;

/// The value, of the field's type, that a face read. Throws InvalidArgument naming the field if it is out of bounds, or
/// none of the words; `shown` is the value as messages have it.
[[nodiscard]] FieldValue checked_value(const FieldInfo& field, FieldValue value, std::string_view shown);

/// Lists of one field as one, as of an option that is given again. Throws InvalidArgument naming the field for what
/// stands twice in it where each may stand once.
[[nodiscard]] FieldValue one_list(const FieldInfo& field, std::span<const FieldValue> parts);

/// What a value may be, for messages: "a whole number from 0 to 8", "a number above 0, below 1", "f32 or bf16".
[[nodiscard]] std::string expected_of(const FieldInfo& field);

/// The same without the type: "0 to 8", "from 0, below 1", "f32 or bf16"; empty where every value may be.
[[nodiscard]] std::string bounds_of(const FieldInfo& field);

/// What help says of them behind a field's meaning: ": f32 or bf16", "; 2 to 512", "; 1 or more"; of a count without a
/// bound but what numbers hold, and of words that the meaning names, nothing.
[[nodiscard]] std::string bounds_in_help(const FieldInfo& field);

/// Fields by their index, each with its value.
using FieldValues = std::vector<std::pair<std::size_t, FieldValue>>;

/// What a field that is at its default counts as for the needs of others.
enum class Defaults : std::uint8_t { absent, there };

/// The one check of which fields go together. Throws InvalidArgument naming a field that is required and not there, one
/// whose `needs`, or every one of `needs_one`, are not there, one beside what it `excludes`, or beside others without
/// what it needs there, and all of `one_of` and their field where none of them is there, or those that are there where
/// several are. A flag that is off is not there. Of a request that was not read, nobody knows whether what is at its
/// default was given: a default other than "none" meets a need.
void require_company(std::span<const FieldInfo> fields, const FieldValues& values,
                     Defaults defaults = Defaults::absent);

/// A field's name as a face has it.
using ShownName = std::function<std::string(std::string_view)>;

/// What require_company() asks of a field, "needs `map`; not beside `row`"; empty if it may stand beside all others.
/// What another field says of this one is part of it. A reason for which one field excludes more than a few is said of
/// that one alone. Of more than `most_named` that it excludes for one reason, their number is told: each names it. What
/// excluded_by_all() gave of a group, `said` there, is left out.
[[nodiscard]] std::string company_of(std::span<const FieldInfo> fields, const FieldInfo& field, const ShownName& shown,
                                     std::size_t most_named = static_cast<std::size_t>(-1),
                                     std::span<const std::string> said = {});

/// What none of the fields of a group may stand beside, and gives no reason for in company_of().
[[nodiscard]] std::vector<std::string> excluded_by_all(std::span<const FieldInfo> fields,
                                                       std::span<const FieldInfo* const> group);

/// "not beside `map` or `row`".
[[nodiscard]] std::string not_beside(const std::vector<std::string>& others, const ShownName& shown);

/// The name that a mistyped one is a slip of, if there is one; dashes before names are no part of what is compared.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view typed, std::span<const std::string> names);

/// What every face says of a name that is none of these: "there is no field causl; did you mean causal?". `kind` is
/// what the face calls a field; `meant` goes before the nearest of the names.
[[nodiscard]] std::string there_is_no(std::string_view kind, std::string_view name, std::span<const std::string> names,
                                      std::string_view meant = "");

/// The field that the command line calls so, or that was called so before: "text_file" or "--text-file"; null if there
/// is none.
[[nodiscard]] const FieldInfo* field_called(std::span<const FieldInfo> fields, std::string_view name);

/// The members of a JSON object as values of these fields. A null is a field that is left out, a text for a list
/// is read by field_value(). Throws Error for what is no JSON object, NotThere for a key that is no field, and as
/// field_value() and require_company() do.
[[nodiscard]] FieldValues field_values(std::span<const FieldInfo> fields, std::string_view json);

/// Values by the names of their fields, {{"mask", "causal"}, {"tq", 8}}.
using NamedValues = std::map<std::string, FieldValue, std::less<>>;

/// The same of such values; a whole number stands for one of any type, a text for a list.
[[nodiscard]] FieldValues field_values(std::span<const FieldInfo> fields, const NamedValues& named);

/// A value as JSON in one line, and the values as an object, by their names' order.
[[nodiscard]] std::string as_json(const FieldValue& value);
[[nodiscard]] std::string as_json(const NamedValues& named);

/// `threads`, from 1 to 65536.
[[nodiscard]] FieldInfo threads_field(const std::string& group = {});

/// A table in Markdown, one row a field, by their own names or as `shown` has them.
[[nodiscard]] std::string fields_as_markdown(std::span<const FieldInfo> fields, const ShownName& shown = {});

/// Fields that have a table under a heading of their own.
struct ToldFields {
  std::string_view heading;
  std::span<const FieldInfo> fields;
};

/// How many of the fields `told` has just so; nullopt where others would have to be left out of it, more than a few.
[[nodiscard]] std::optional<std::size_t> told_already(const ToldFields& told, std::span<const FieldInfo> fields);

/// A sentence that refers to `told`, with what is shown otherwise and what is not there, and a table of the other
/// fields.
[[nodiscard]] std::string fields_as_markdown(const ToldFields& told, std::span<const FieldInfo> fields,
                                             const ShownName& shown = {});

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
    Bound least, most;
  };
  /// Bounds of fields that must be there.
  void give_bounds(std::initializer_list<Bounds> bounds);

  struct Default {
    std::string_view field, value;
  };
  /// The fallback of fields that must be there, of which the request holds none.
  void give_fallbacks(std::initializer_list<Default> fallbacks);
  /// Likewise the phrase of what follows from other things.
  void give_otherwise(std::initializer_list<Default> otherwise);

  struct Arguments {
    std::string_view field;
    std::vector<std::string> names;
  };
  /// What the library calls the values of fields that must be there. Of several fields, an argument is the last one
  /// that is given, or the first where none is.
  void tell_arguments(std::initializer_list<Arguments> all);

  using Names = std::initializer_list<std::string_view>;
  /// Each of the fields, which must be there, has no meaning beside any of the others: `why` is a few words, "a model
  /// brings its own".
  void exclude(Names names, Names others, std::string_view why);

  /// Leaves fields out, which must be there, and what others say of them: a face that gives them in another way sees to
  /// it.
  void remove(std::span<const std::string_view> names);

  /// Writes a value that field_value() or field_values() gave for the n-th field. A list grows by it.
  void set(void* request, std::size_t n, const FieldValue& value) const;

 protected:
  [[nodiscard]] std::string json_of(const void* request, const void* plain) const;
  [[nodiscard]] FieldValues said_by(const void* request, const void* plain) const;
  [[nodiscard]] NamedValues named(FieldValues&& values) const;
  void add(FieldInfo&& info, api_detail::Holder holder, std::ptrdiff_t offset, const void* plain);
  void add(const FieldTable& part, std::ptrdiff_t offset);

 private:
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
  // What the n-th field holds; nullopt for what is optional and not there.
  [[nodiscard]] std::optional<FieldValue> get(const void* request, std::size_t n) const;
  [[nodiscard]] bool is_equal(const void* a, const void* b, std::size_t n) const;

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

  /// Of several values in a row the n-th.
  template <class Value, std::size_t count>
  Fields& add(std::array<Value, count> Request::* places, std::size_t n, FieldInfo info) {
    FieldTable::add(std::move(info), api_detail::holder_of(static_cast<const Value*>(nullptr)),
                    offset_of(&(plain_.*places).at(n)), &plain_);
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
  /// The same as values.
  [[nodiscard]] NamedValues as_values(const Request& request) const { return named(said_by(&request, &plain_)); }

  /// require_company() of a request that was not read: what differs from the defaults was given.
  void require_company(const Request& request) const {
    qkv::require_company(infos(), said_by(&request, &plain_), Defaults::there);
  }

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
