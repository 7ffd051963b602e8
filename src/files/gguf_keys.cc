#include "files/gguf_keys.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/number_text.h"
#include "files/json_text.h"

namespace qkv::files {
namespace {

constexpr std::size_t kShownOfList = 8;

nlohmann::json json_of(const GgufValue& value) {
  return std::visit(
      []<class Value>(const Value& one) -> nlohmann::json {
        if constexpr (requires { one.begin(); } && !std::is_same_v<Value, std::string>) {
          nlohmann::json some = nlohmann::json::array();
          for (const auto& each : std::span(one).first(std::min<std::size_t>(kShownOfList, one.size()))) {
            some.push_back(each);
          }
          return some;
        } else if constexpr (std::is_same_v<Value, GgufOther>) {
          return one.text;
        } else {
          return one;
        }
      },
      value.value);
}

std::size_t size_of_list(const GgufValue& value) {
  return std::visit(
      []<class Value>(const Value& one) -> std::size_t {
        if constexpr (requires { one.begin(); } && !std::is_same_v<Value, std::string>) {
          return one.size();
        } else {
          return 0;
        }
      },
      value.value);
}

}  // namespace

double decimals_of_f32(double value) {
  constexpr std::size_t kRoom = 48;
  char digits[kRoom];
  const auto end = std::to_chars(digits, digits + kRoom, static_cast<float>(value)).ptr;
  return core::number_from<double>({digits, static_cast<std::size_t>(end - digits)}).value_or(value);
}

const GgufValue* GgufKeys::find(std::string_view key) const {
  if (!asked_.contains(key)) asked_.emplace(key);
  const auto found = file_->metadata().find(key);
  return found == file_->metadata().end() ? nullptr : &found->second;
}

std::vector<std::string> GgufKeys::unasked(std::string_view begin) const {
  std::vector<std::string> all;
  for (const auto& [key, value] : file_->metadata()) {
    if (key.starts_with(begin) && !asked_.contains(key)) all.push_back(key);
  }
  return all;
}

void GgufKeys::refuse(std::string_view key, const std::string& expected) const {
  const GgufValue* value = find(key);
  throw FileError(file_->source(), std::string(key) + ": expected " + expected + ", got " +
                                       (value == nullptr ? "nothing" : gguf_value_text(*value)));
}

template <class Type>
const Type& GgufKeys::get(std::string_view key, const std::string& expected) const {
  const GgufValue* value = find(key);
  const Type* of_type = value == nullptr ? nullptr : std::get_if<Type>(&value->value);
  if (of_type == nullptr) refuse(key, expected);
  return *of_type;
}

std::int64_t GgufKeys::integer(std::string_view key) const {
  constexpr const char* kExpected = "a whole number from 0 to 2^31";
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const auto value = get<std::int64_t>(key, kExpected);
  if (value < 0 || value > kMost) refuse(key, kExpected);
  return value;
}

std::int64_t GgufKeys::integer(std::string_view key, std::int64_t otherwise) const {
  return has(key) ? integer(key) : otherwise;
}

double GgufKeys::number(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value != nullptr && std::holds_alternative<std::int64_t>(value->value)) {
    return static_cast<double>(std::get<std::int64_t>(value->value));
  }
  const double number = get<double>(key, "a number");
  if (!std::isfinite(number)) refuse(key, "a finite number");
  return value != nullptr && value->type == "f32" ? decimals_of_f32(number) : number;
}

double GgufKeys::number(std::string_view key, double otherwise) const { return has(key) ? number(key) : otherwise; }

bool GgufKeys::flag(std::string_view key, bool otherwise) const {
  return has(key) ? get<bool>(key, "true or false") : otherwise;
}

const std::string& GgufKeys::text(std::string_view key) const { return get<std::string>(key, "a text"); }

std::string GgufKeys::text(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

const std::vector<std::string>& GgufKeys::texts(std::string_view key) const {
  return get<std::vector<std::string>>(key, "a list of texts");
}

std::vector<std::int64_t> GgufKeys::integers(std::string_view key) const {
  return has(key) ? get<std::vector<std::int64_t>>(key, "a list of whole numbers") : std::vector<std::int64_t>();
}

std::vector<double> GgufKeys::numbers(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return {};
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&value->value)) return {whole->begin(), whole->end()};
  return get<std::vector<double>>(key, "a list of numbers");
}

std::string gguf_value_text(const GgufValue& value) {
  if (const auto* other = std::get_if<GgufOther>(&value.value)) return other->text;
  std::string text = json_for_message(json_of(value));
  const std::size_t size = size_of_list(value);
  if (size == 0) return text;
  return "a " + value.type + " with " + std::to_string(size) + ": " + text;
}

}  // namespace qkv::files
