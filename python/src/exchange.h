// DLPack's table of C functions, which a library's type lends: arrays in and out without a call into Python.
#pragma once

#include <cstdint>
#include <optional>

#include "arrays.h"

namespace qkv::python {

struct ExchangeTable;

/// The table of the array's type, or null: the library has none, or one of another major version.
[[nodiscard]] const ExchangeTable* exchange_of(nb::handle array);

/// The elements in place, as tensor_of() gives them. Throws as it does.
[[nodiscard]] Tensor tensor_of(const ExchangeTable& table, nb::handle array, const Argument& argument);

/// What a library that differentiates is doing.
enum class Recording : std::uint8_t { off, on };

/// The elements in place, floating or bool, as long as the array lives and the GIL is held: nothing is allocated or
/// owned. None where the table cannot, and where tensor_of() would refuse or have to look closer: another device or
/// element type, signs that are not in memory, and, while gradients are recorded, an array that wants one.
[[nodiscard]] std::optional<TensorView> borrowed_from(const ExchangeTable& table, nb::handle array,
                                                      Recording recording);

/// The tensor as an array of the table's library.
[[nodiscard]] nb::object array_of(const ExchangeTable& table, Tensor tensor);

}  // namespace qkv::python
