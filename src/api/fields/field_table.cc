// Writes and compares the values of a request by the places of its fields.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "api/fields/byte_size.h"
#include "api/fields/field_example.h"
#include "qkv/api/field.h"

namespace qkv {
namespace {

using api_detail::Holder;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

template <class Value>
struct Inner {
  using type = Value;
};
template <class Value>
struct Inner<std::optional<Value>> {
  using type = Value;
};

// visit(static_cast<Value*>(nullptr)) of what the holder holds.
template <class Visit>
decltype(auto) as_held(Holder holder, const Visit& visit) {
  switch (holder) {
    case Holder::flag:
      return visit(static_cast<bool*>(nullptr));
    case Holder::flag_or_none:
      return visit(static_cast<std::optional<bool>*>(nullptr));
    case Holder::whole:
      return visit(static_cast<std::int64_t*>(nullptr));
    case Holder::whole_or_none:
      return visit(static_cast<std::optional<std::int64_t>*>(nullptr));
    case Holder::small:
      return visit(static_cast<int*>(nullptr));
    case Holder::small_or_none:
      return visit(static_cast<std::optional<int>*>(nullptr));
    case Holder::seed:
      return visit(static_cast<std::uint64_t*>(nullptr));
    case Holder::seed_or_none:
      return visit(static_cast<std::optional<std::uint64_t>*>(nullptr));
    case Holder::number:
      return visit(static_cast<double*>(nullptr));
    case Holder::number_or_none:
      return visit(static_cast<std::optional<double>*>(nullptr));
    case Holder::text:
      return visit(static_cast<std::string*>(nullptr));
    case Holder::text_or_none:
      return visit(static_cast<std::optional<std::string>*>(nullptr));
    case Holder::texts:
      return visit(static_cast<std::vector<std::string>*>(nullptr));
    case Holder::wholes:
      return visit(static_cast<std::vector<std::int64_t>*>(nullptr));
  }
  __builtin_unreachable();
}

template <class Value>
constexpr FieldType type_of() {
  using V = typename Inner<Value>::type;
  if (std::is_same_v<Value, std::optional<bool>>) return FieldType::toggle;
  if (std::is_same_v<V, bool>) return FieldType::flag;
  if (std::is_same_v<V, double>) return FieldType::number;
  if (std::is_same_v<V, std::uint64_t>) return FieldType::seed;
  if (std::is_same_v<V, std::string>) return FieldType::text;
  if (std::is_same_v<V, std::vector<std::string>>) return FieldType::texts;
  if (std::is_same_v<V, std::vector<std::int64_t>>) return FieldType::wholes;
  return FieldType::whole;
}

// Flags are off, lists empty, and what is optional is not there.
template <class Value>
std::string fallback_text(FieldType type, const Value& value) {
  if constexpr (std::is_same_v<Value, std::uint64_t>) {
    return type == FieldType::size ? api_detail::size_as_written(value) : fmt::format("{}", value);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<Value, double>) {
    return api_detail::number_as_written(value);
  } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    return fmt::format("{}", value);
  } else {
    return {};
  }
}

void assign(int& to, const FieldValue& value) { to = static_cast<int>(std::get<std::int64_t>(value)); }
void assign(std::optional<int>& to, const FieldValue& value) { assign(to.emplace(), value); }

template <class Element>
void assign(std::vector<Element>& to, const FieldValue& value) {
  const auto& more = std::get<std::vector<Element>>(value);
  to.insert(to.end(), more.begin(), more.end());
}

template <class Value>
void assign(Value& to, const FieldValue& value) {
  to = std::get<typename Inner<Value>::type>(value);
}

template <class Value>
std::optional<FieldValue> held(const Value& value) {
  if constexpr (std::is_same_v<Value, int>) {
    return std::int64_t{value};
  } else {
    return value;
  }
}
template <class Value>
std::optional<FieldValue> held(const std::optional<Value>& value) {
  return value ? held(*value) : std::nullopt;
}

}  // namespace

void FieldTable::add(FieldInfo&& info, Holder holder, std::ptrdiff_t offset, const void* plain) {
  const void* const value = static_cast<const char*>(plain) + offset;
  as_held(holder, [&]<class Value>(Value*) {
    if (info.type != FieldType::size) info.type = type_of<Value>();
    const bool has_default = !info.fallback.empty() || !info.otherwise.empty();
    if (!has_default) info.fallback = fallback_text(info.type, *static_cast<const Value*>(value));
    info.empty_is_none = std::is_same_v<Value, std::string>;
  });
  if (info.name == "text") info.is_text = true;
  if (info.type == FieldType::size && !info.most.is_finite()) {
    info.least = 0;
    info.most = kMostBytes;
  }
  if (info.example.empty()) info.example = api_detail::example_of(info);
  infos_.push_back(std::move(info));
  places_.push_back({holder, offset});
}

void FieldTable::add(const FieldTable& part, std::ptrdiff_t offset) {
  infos_.insert(infos_.end(), part.infos_.begin(), part.infos_.end());
  for (const Place& place : part.places_) places_.push_back({place.holder, place.offset + offset});
}

void FieldTable::set(void* request, std::size_t n, const FieldValue& value) const {
  void* const to = static_cast<char*>(request) + places_[n].offset;
  as_held(places_[n].holder, [&]<class Value>(Value*) { assign(*static_cast<Value*>(to), value); });
}

std::optional<FieldValue> FieldTable::get(const void* request, std::size_t n) const {
  const void* const from = static_cast<const char*>(request) + places_[n].offset;
  return as_held(places_[n].holder, [&]<class Value>(Value*) { return held(*static_cast<const Value*>(from)); });
}

bool FieldTable::is_equal(const void* a, const void* b, std::size_t n) const {
  const auto at = [&](const void* request) { return static_cast<const char*>(request) + places_[n].offset; };
  return as_held(places_[n].holder, [&]<class Value>(Value*) {
    return *reinterpret_cast<const Value*>(at(a)) == *reinterpret_cast<const Value*>(at(b));
  });
}

FieldInfo& FieldTable::info(std::string_view name) { return infos_[index_of(name)]; }

void FieldTable::give_examples(std::initializer_list<Example> examples) {
  for (const Example& one : examples) info(one.field).example = one.value;
}

void FieldTable::give_bounds(std::initializer_list<Bounds> bounds) {
  for (const Bounds& one : bounds) {
    FieldInfo& field = info(one.field);
    field.least = one.least;
    field.most = one.most;
    field.example = api_detail::example_of(field);
  }
}

void FieldTable::give_fallbacks(std::initializer_list<Default> fallbacks) {
  for (const Default& one : fallbacks) {
    FieldInfo& field = info(one.field);
    field.fallback = one.value;
    if (field.example.empty() || field.example == field.fallback) field.example = api_detail::example_of(field);
  }
}

void FieldTable::give_otherwise(std::initializer_list<Default> otherwise) {
  for (const Default& one : otherwise) {
    FieldInfo& field = info(one.field);
    field.fallback.clear();
    field.otherwise = one.value;
  }
}

void FieldTable::tell_arguments(std::initializer_list<Arguments> all) {
  for (const Arguments& one : all) info(one.field).arguments = one.names;
}

void FieldTable::exclude(Names names, Names others, std::string_view why) {
  for (const std::string_view name : names) {
    FieldInfo& field = info(name);
    for (const std::string_view other : others) {
      field.excludes.emplace_back(other);
      field.reasons.emplace(other, why);
    }
  }
}

FieldValues FieldTable::said_by(const void* request, const void* plain) const {
  FieldValues said;
  for (std::size_t n = 0; n < infos_.size(); ++n) {
    std::optional<FieldValue> value = get(request, n);
    if (value && !is_equal(request, plain, n)) said.emplace_back(n, *std::move(value));
  }
  return said;
}

std::size_t FieldTable::index_of(std::string_view name) const {
  const auto found = std::ranges::find(infos_, name, &FieldInfo::name);
  if (found == infos_.end()) throw std::logic_error(fmt::format("there is no field {}", name));
  return static_cast<std::size_t>(found - infos_.begin());
}

void FieldTable::remove(std::span<const std::string_view> names) {
  const auto is_removed = [&](const std::string& need) {
    return std::ranges::find(names, std::string_view(need).substr(0, need.find('='))) != names.end();
  };
  for (const std::string_view name : names) {
    const auto n = static_cast<std::ptrdiff_t>(index_of(name));
    infos_.erase(infos_.begin() + n);
    places_.erase(places_.begin() + n);
  }
  for (FieldInfo& field : infos_) {
    // One of which one is enough: what is removed may be it.
    if (std::ranges::any_of(field.needs_one, is_removed)) field.needs_one.clear();
    if (std::ranges::any_of(field.one_of, is_removed)) field.one_of.clear();
    std::erase_if(field.beside, [&](const NeedBeside& one) {
      return std::ranges::any_of(one.others, is_removed) || std::ranges::any_of(one.needs_one, is_removed);
    });
    std::erase_if(field.needs, is_removed);
    std::erase_if(field.excludes, is_removed);
  }
}

}  // namespace qkv
