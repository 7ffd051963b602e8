#include "api/studio/question_weight.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "qkv/files.h"

namespace qkv {
namespace {

constexpr std::array<std::string_view, 5> kWidths = {"heads", "kv_heads", "d_model", "d_k", "d_v"};
constexpr std::array<std::string_view, 4> kExtents = {"tq", "tk", "batch", "heads"};
constexpr std::array<std::string_view, 4> kTensors = {"q", "k", "v", "npz"};
constexpr std::size_t kFewNumbers = 2048;  // bytes of matrices

// What a request says of a field; null where it says nothing.
template <class Value>
const Value* told(std::span<const FieldInfo> fields, const FieldValues& values, std::string_view name) {
  const auto is_it = [&](const auto& one) { return fields[one.first].name == name; };
  const auto found = std::ranges::find_if(values, is_it);
  return found == values.end() ? nullptr : std::get_if<Value>(&found->second);
}

std::size_t bytes_of_texts(const FieldValues& values) {
  std::size_t bytes = 0;
  for (const auto& [n, value] : values) {
    if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
  }
  return bytes;
}

bool are_at_most(std::span<const FieldInfo> fields, const FieldValues& values, std::span<const std::string_view> names,
                 std::int64_t most) {
  return std::ranges::all_of(names, [&](std::string_view name) {
    const auto* number = told<std::int64_t>(fields, values, name);
    return number == nullptr || *number <= most;
  });
}

// Of tensors that lie in files a request does not say how large they are.
bool reads_tensors(std::span<const FieldInfo> fields, const FieldValues& values) {
  return std::ranges::any_of(fields, [&](const FieldInfo& field) {
    if (std::ranges::find(kTensors, field.name) == kTensors.end()) return false;
    const auto* text = told<std::string>(fields, values, field.name);
    return text != nullptr && !text->empty() && !is_tensor_text(*text);
  });
}

std::string model_of(std::span<const FieldInfo> fields, const FieldValues& values) {
  const auto* model = told<std::string>(fields, values, "model");
  return model == nullptr ? "" : *model;
}

bool is_narrow(std::span<const FieldInfo> fields, const FieldValues& values) {
  constexpr std::int64_t kNarrow = 64;
  return are_at_most(fields, values, kWidths, kNarrow) && bytes_of_texts(values) <= kFewNumbers;
}

}  // namespace

bool api_detail::is_always_light(std::span<const FieldInfo> /*fields*/, const FieldValues& /*values*/) { return true; }

bool api_detail::is_short_mask(std::span<const FieldInfo> fields, const FieldValues& values) {
  constexpr std::int64_t kShort = 16'384;
  return are_at_most(fields, values, kExtents, kShort) && bytes_of_texts(values) <= kFewNumbers;
}

bool api_detail::is_small_explanation(std::span<const FieldInfo> fields, const FieldValues& values) {
  return model_of(fields, values).empty() && !reads_tensors(fields, values) && is_narrow(fields, values);
}

// A name without a path is a model of the box, all of which are small.
bool api_detail::is_short_text(std::span<const FieldInfo> fields, const FieldValues& values) {
  constexpr std::size_t kFewWords = 192;  // bytes, which a model of the box reads in a hundredth of a second
  const std::string model = model_of(fields, values);
  if (model.empty()) return is_narrow(fields, values);
  return model.find_first_of("./") == std::string::npos && bytes_of_texts(values) <= kFewWords;
}

bool Studio::is_light(std::string_view name, std::string_view request) {
  try {
    const api_detail::Answerer& one = api_detail::answerer_named(name);
    if (!one.question.refusal.empty()) return true;
    const FieldValues values = field_values(one.question.fields, request);
    return one.is_light != nullptr && one.is_light(one.question.fields, values);
  } catch (const Error&) {
    return true;  // refused at once
  }
}

}  // namespace qkv
