// What a request holds, described once: from it come the options of the command, the reader of JSON and docs/api.md.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace qkv {

enum class FieldType : std::uint8_t { flag, toggle, whole, seed, number, text };

/// A toggle is a flag that may also be left out. "true or false", "whole number", "whole number from 0", "number",
/// "text".
[[nodiscard]] std::string_view name_of(FieldType type) noexcept;

/// A field of a request, whatever the request is.
struct FieldInfo {
  std::string name;          // "key_totals": the key in JSON, --key-totals on the command line
  std::string form = {};     // what a value looks like, "N" or "FILE"; empty for a flag
  std::string meaning = {};  // a phrase, with the default in brackets where the type does not give it
  std::string group = {};    // of fields that belong together; may be empty
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  // bounds of a whole number
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> words = {};  // if there are any: the only texts
  std::vector<std::string> needs = {};  // other fields without which this one has no meaning
  FieldType type = FieldType::text;
  std::string fallback = {};  // the default as a text; empty where there is none
};

using FieldValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

/// The value that a text on the command line stands for. Throws InvalidArgument naming the field for a text of another
/// type, a whole number out of bounds, or none of the words, whose nearest it offers.
[[nodiscard]] FieldValue field_value(const FieldInfo& field, std::string_view text);

/// The members of a JSON object as values of these fields: pairs of a field's index and its value. A null is a field
/// that is left out. Throws InvalidArgument for what is no JSON object, and as field_value() does, for a key that is no
/// field, and for a field whose `needs` are not there.
[[nodiscard]] std::vector<std::pair<std::size_t, FieldValue>> field_values(std::span<const FieldInfo> fields,
                                                                           std::string_view json);

/// A table in Markdown, one row a field.
[[nodiscard]] std::string fields_as_markdown(std::span<const FieldInfo> fields);

/// Where a field's value lies.
template <class Request>
using FieldPlace =
    std::variant<bool Request::*, std::optional<bool> Request::*, std::string Request::*, std::int64_t Request::*,
                 std::optional<std::int64_t> Request::*, std::optional<int> Request::*,
                 std::optional<std::uint64_t> Request::*, double Request::*, std::optional<double> Request::*>;

namespace view_detail {

template <class Value>
struct Held {
  using type = Value;
};
template <class Value>
struct Held<std::optional<Value>> {
  using type = Value;
};

template <class Value>
constexpr FieldType type_of() {
  if (std::is_same_v<Value, bool>) return FieldType::flag;
  if (std::is_same_v<Value, double>) return FieldType::number;
  if (std::is_same_v<Value, std::uint64_t>) return FieldType::seed;
  return std::is_same_v<Value, std::string> ? FieldType::text : FieldType::whole;
}

[[nodiscard]] inline std::string fallback_text(const std::string& value) { return value; }
[[nodiscard]] inline std::string fallback_text(std::int64_t value) { return std::to_string(value); }
template <class Value>
std::string fallback_text(const Value& /*flags are off, and what is optional is not there*/) {
  return {};
}

}  // namespace view_detail

/// The fields of one kind of request, in the order in which they are shown.
template <class Request>
class Fields {
 public:
  template <class Value>
  Fields& add(Value Request::* place, FieldInfo info) {
    info.type = view_detail::type_of<typename view_detail::Held<Value>::type>();
    if (std::is_same_v<Value, std::optional<bool>>) info.type = FieldType::toggle;
    info.fallback = view_detail::fallback_text(Request{}.*place);
    infos_.push_back(std::move(info));
    places_.push_back(place);
    return *this;
  }

  /// Those of a part that the request is made from.
  template <class Base>
  Fields& add(const Fields<Base>& base) {
    for (std::size_t n = 0; n < base.infos().size(); ++n) {
      infos_.push_back(base.infos()[n]);
      std::visit([&](auto place) { places_.push_back(place); }, base.place(n));
    }
    return *this;
  }

  [[nodiscard]] std::span<const FieldInfo> infos() const noexcept { return infos_; }
  [[nodiscard]] const FieldPlace<Request>& place(std::size_t n) const noexcept { return places_[n]; }

  /// Writes a value that field_value() or field_values() gave for the n-th field.
  void set(Request& request, std::size_t n, const FieldValue& value) const {
    std::visit(
        [&](auto place) {
          auto& target = request.*place;
          using Value = typename view_detail::Held<std::remove_reference_t<decltype(target)>>::type;
          if constexpr (std::is_same_v<Value, int>) {
            target = static_cast<int>(std::get<std::int64_t>(value));
          } else {
            target = std::get<Value>(value);
          }
        },
        places_[n]);
  }

  /// The request that a JSON object describes. Throws as field_values().
  [[nodiscard]] Request from_json(std::string_view json) const {
    Request request;
    for (const auto& [n, value] : field_values(infos_, json)) set(request, n, value);
    return request;
  }

 private:
  std::vector<FieldInfo> infos_;
  std::vector<FieldPlace<Request>> places_;
};

}  // namespace qkv
