// nanobind as the files of this module use it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string_view>

namespace qkv::python {

namespace nb = nanobind;

/// What came may be no UTF-8, for which Python has a sign.
inline void set_error(PyObject* type, std::string_view text) {
  const nb::object said = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  PyErr_SetObject(type, said.ptr());
}

// What each file adds to the module.
void add_errors(nb::module_& module);
void add_elements(nb::module_& module);
void add_mask(nb::module_& module);
void add_bias(nb::module_& module);
void add_attention(nb::module_& module);
void add_short_call(nb::module_& module);
void add_backward(nb::module_& module);
void add_probe(nb::module_& module);
void add_gradient_probe(nb::module_& module);
void add_generator(nb::module_& module);
void add_info(nb::module_& module);

}  // namespace qkv::python
