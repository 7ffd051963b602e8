// Which fields of a request were given.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/field.h"

namespace qkv {

/// Whatever their values: a default that was said counts, too. Views both, which must outlive it.
class Given {
 public:
  Given(std::span<const FieldInfo> infos, const FieldValues& values) : infos_(infos), values_(values) {}

  [[nodiscard]] bool has(std::string_view field) const;
  /// All of them, in the order of the fields.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::span<const FieldInfo> infos_;
  const FieldValues& values_;
};

}  // namespace qkv
