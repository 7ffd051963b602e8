// Calls that nanobind refuses, in words that name the argument.
#pragma once

#include "python.h"

namespace qkv::python {

/// Puts what qkv._calls says of a refused call in place of nanobind's list of signatures, for all functions and classes
/// of the module.
void name_arguments(nb::module_& module);

/// Gives all functions, classes and methods of nanobind the __signature__ that inspect.signature() asks for, as
/// qkv._signatures makes it. For each kind one is given here: `object` is of a class that has a method array().
void tell_signatures(nb::handle function, nb::handle object);

}  // namespace qkv::python
