#include "api/fields/field_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/number_text.h"

namespace qkv::api_detail {
namespace {

// Twice the default, or the first that is more than 0.
std::string example_of_whole(const FieldInfo& field) {
  const auto as_whole = [](const Bound& bound, std::int64_t otherwise) {
    return bound.is_finite() ? static_cast<std::int64_t>(bound.at) : otherwise;
  };
  const std::int64_t least = as_whole(field.least, std::numeric_limits<std::int64_t>::min());
  const std::int64_t most = as_whole(field.most, std::numeric_limits<std::int64_t>::max());
  const auto fallback = core::number_from<std::int64_t>(field.fallback);
  const std::int64_t begin = std::max<std::int64_t>(0, fallback.value_or(least));
  const std::int64_t wanted = std::max<std::int64_t>(1, 2 * begin);
  if (wanted >= least && wanted <= most) return std::to_string(wanted);
  return std::to_string(std::max(least, fallback ? begin / 2 : least));
}

std::string example_of_number(const FieldInfo& field) {
  const double fallback = core::number_from<double>(field.fallback).value_or(1);
  return number_as_written(fallback == 0 ? 0.5 : fallback / 2);
}

std::string example_of_words(const FieldInfo& field) {
  for (const std::string& word : field.words) {
    if (!word.empty() && word != field.fallback) return word;
  }
  return {};
}

}  // namespace

std::string number_as_written(double number) {
  std::string text = fmt::format("{}", number);
  if (const std::size_t zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);
  if (const std::size_t plus = text.find("e+"); plus != std::string::npos) text.erase(plus + 1, 1);
  return text;
}

std::string example_of(const FieldInfo& field) {
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      return "true";
    case FieldType::whole:
      return example_of_whole(field);
    case FieldType::seed:
      return field.fallback == "7" ? "8" : "7";
    case FieldType::number:
      return example_of_number(field);
    case FieldType::size:
      return field.fallback == "512MiB" ? "1GiB" : "512MiB";
    case FieldType::text:
    case FieldType::texts:
      return example_of_words(field);
    case FieldType::wholes:
      return {};
  }
  __builtin_unreachable();
}

}  // namespace qkv::api_detail
