// Errors of the engine as those of Python.
#include "python.h"
#include "qkv/error.h"

namespace qkv::python {

void add_errors(nb::module_& module) {
  nb::exception<Error>(module, "Error", PyExc_RuntimeError).doc() =
      "A valid call failed: an unreadable file, memory that another library refuses. Invalid arguments are ValueError "
      "or "
      "TypeError.";
  // Asked before the one above, which was added first.
  nb::register_exception_translator([](const std::exception_ptr& error, void* /*payload*/) {
    try {
      std::rethrow_exception(error);
    } catch (const InvalidArgument& invalid) {
      PyErr_SetString(PyExc_ValueError, invalid.what());
    }
  });
}

}  // namespace qkv::python
