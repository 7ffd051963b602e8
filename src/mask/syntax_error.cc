#include <fmt/format.h>

#include "mask/shown_text.h"
#include "qkv/mask.h"

namespace qkv {

MaskSyntaxError::MaskSyntaxError(std::string_view function, std::string_view text, std::size_t column,
                                 std::string_view expected, std::string_view got)
    : InvalidArgument(function, fmt::format("column {}", column), expected,
                      fmt::format("{}\n{}", got, mask_detail::pointed_at(text, column))),
      column_(column) {}

}  // namespace qkv
