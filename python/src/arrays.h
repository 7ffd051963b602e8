// Arrays of Python as tensors of the engine, and back, without a copy.
#pragma once

#include <string_view>

#include "python.h"
#include "qkv/tensor.h"

namespace qkv::python {

/// Where an array stands in a call, for messages.
struct Argument {
  std::string_view function;
  std::string_view name;
};

/// The elements of an array in place: one with the buffer protocol (NumPy, memoryview) or DLPack (PyTorch, JAX). The
/// tensor keeps `array` alive; destroy it with the GIL held. Throws TypeError if it is no array, and InvalidArgument
/// for another device than the processor, another element type, another byte order, or elements that are not aligned.
[[nodiscard]] Tensor tensor_of(nb::handle array, const Argument& argument);

/// True if tensor_of() can be asked: it has one of the two protocols.
[[nodiscard]] bool is_array(nb::handle object);

/// The tensor as an array of the library that `source` comes from; NumPy's for a buffer.
[[nodiscard]] nb::object array_like(nb::handle source, Tensor tensor);

[[nodiscard]] nb::object numpy_array(Tensor tensor);

/// Throws InvalidArgument for another of DLPack's devices than the processor, saying what to do.
void require_cpu(int type, int number, const Argument& argument);

/// Numbers out of a list, a tuple or a one-dimensional array.
[[nodiscard]] std::vector<double> numbers_of(nb::handle object, const Argument& argument);
[[nodiscard]] std::vector<std::int64_t> whole_numbers_of(nb::handle object, const Argument& argument);

/// "a list", "a numpy.ndarray": for messages.
[[nodiscard]] std::string said_type(nb::handle object);

/// str(object) in UTF-8, with "\ud800" for what that has not.
[[nodiscard]] std::string shown_text(nb::handle object);

/// A str in UTF-8. Throws InvalidArgument for one with half a pair of surrogates, which has none.
[[nodiscard]] std::string utf8_of(nb::handle text, const Argument& argument);

}  // namespace qkv::python
