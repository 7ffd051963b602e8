// A value of a field, for whoever has not seen one.
#pragma once

#include <string>

#include "qkv/api/field.h"

namespace qkv::api_detail {

/// "1e-5", where fmt has "1e-05".
[[nodiscard]] std::string number_as_written(double number);

/// As on the command line, other than the default; empty for a text without words, and for a list of numbers.
[[nodiscard]] std::string example_of(const FieldInfo& field);

}  // namespace qkv::api_detail
