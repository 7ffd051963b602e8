// Calls that nanobind refuses, in words that name the argument.
#pragma once

#include "python.h"

namespace qkv::python {

/// Puts what qkv._calls says of a refused call in place of nanobind's list of signatures, for all functions and classes
/// of the module.
void name_arguments(nb::module_& module);

}  // namespace qkv::python
