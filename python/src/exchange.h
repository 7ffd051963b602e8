// DLPack's table of C functions, which a library's type lends: arrays in and out without a call into Python.
#pragma once

#include <optional>

#include "arrays.h"

namespace qkv::python {

struct ExchangeTable;

/// The table of the array's type, or null: the library has none, or one of another major version.
[[nodiscard]] const ExchangeTable* exchange_of(nb::handle array);

/// The elements in place, as tensor_of() gives them. Throws as it does.
[[nodiscard]] Tensor tensor_of(const ExchangeTable& table, nb::handle array, const Argument& argument);

/// The tensor as an array of the table's library.
[[nodiscard]] nb::object array_of(const ExchangeTable& table, Tensor tensor);

}  // namespace qkv::python
