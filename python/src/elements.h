// A tensor of the engine as Python's other libraries read it.
#pragma once

#include <vector>

#include "python.h"
#include "qkv/tensor.h"

namespace qkv::python {

/// Lends the elements by the buffer protocol, or hands them over by DLPack, once.
struct Elements {
  Tensor tensor;
  std::vector<Py_ssize_t> shape = {};    // of the buffer
  std::vector<Py_ssize_t> strides = {};  // in bytes
};

}  // namespace qkv::python
