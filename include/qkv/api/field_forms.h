// What a field takes beside a value of its type: numbers in place of a text, and an empty list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "qkv/api/field.h"

namespace qkv {

/// Numbers that stand for a text: one, one or a list, a list of rows, or a list of lists to any depth, a tensor.
enum class NumbersForm : std::uint8_t { none, one, list, rows, tensor };

/// Of a text whose example is numbers, as its example has them.
[[nodiscard]] NumbersForm numbers_form_of(const FieldInfo& field);

/// The text for numbers as JSON has them, 3, [3, 4] or [[1, 0], [0, 1]], with all their digits; nullopt where the field
/// takes none of that form.
[[nodiscard]] std::optional<std::string> text_of_numbers(const FieldInfo& field, std::string_view json);

/// Whether an empty list says what the field's absence says, none: of words, and where the default is others, it does
/// not, and is refused.
[[nodiscard]] bool takes_empty_list(const FieldInfo& field);

}  // namespace qkv
