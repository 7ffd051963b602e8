// Which questions take little, as far as their requests tell.
#pragma once

#include <span>
#include <utility>

#include "api/studio/studio_questions.h"

namespace qkv::api_detail {

[[nodiscard]] bool is_always_light(std::span<const FieldInfo> fields, const FieldValues& values);
/// A mask of few queries and keys.
[[nodiscard]] bool is_short_mask(std::span<const FieldInfo> fields, const FieldValues& values);
/// Narrow heads that are drawn or typed, of no model and of no file.
[[nodiscard]] bool is_small_explanation(std::span<const FieldInfo> fields, const FieldValues& values);
/// A few words that a model of the box reads, or narrow heads of none.
[[nodiscard]] bool is_short_text(std::span<const FieldInfo> fields, const FieldValues& values);

/// A question that takes little where `when` says so.
[[nodiscard]] inline Answerer light(Answerer one, IsLight when = is_always_light) {
  one.is_light = when;
  return one;
}

}  // namespace qkv::api_detail
