// An element type by its name.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "qkv/dtype.h"

namespace qkv::core {

/// "bf16"; nullopt for what is the name of none.
[[nodiscard]] inline std::optional<DType> dtype_named(std::string_view name) noexcept {
  constexpr std::array kAll = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                               DType::i32, DType::i8,  DType::u8,  DType::b8};
  for (const DType dtype : kAll) {
    if (name == name_of(dtype)) return dtype;
  }
  return std::nullopt;
}

}  // namespace qkv::core
