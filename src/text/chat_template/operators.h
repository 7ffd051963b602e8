// Operators, members and slices of values.
#pragma once

#include <string>
#include <string_view>

#include "text/chat_template/value.h"

namespace qkv::text::jinja {

/// One of + - * / // % **. Throws Fault for values that have no such operator, division by 0, and integers of more
/// than 64 bits.
[[nodiscard]] Value arithmetic(Budget& budget, std::string_view operation, const Value& a, const Value& b);
[[nodiscard]] Value with_sign(std::string_view sign, const Value& value);

/// value.name, and value[key]: undefined if there is none. Throws Fault for a member of undefined.
[[nodiscard]] Value member(Budget& budget, const Value& value, const std::string& name);
[[nodiscard]] Value item(Budget& budget, const Value& value, const Value& key);
/// value[start:stop:step]; bounds are none where they are left out.
[[nodiscard]] Value slice(Budget& budget, const Value& value, const Value& start, const Value& stop, const Value& step);

}  // namespace qkv::text::jinja
