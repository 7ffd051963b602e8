// Errors of the engine as those of Python.
#include <filesystem>
#include <string>

#include "python.h"
#include "qkv/error.h"

namespace qkv::python {

void add_errors(nb::module_& module) {
  const nb::exception<Error> failure(module, "Error", PyExc_RuntimeError);
  failure.doc() =
      "A valid call failed: an unreadable file, memory that another library refuses. Invalid arguments are ValueError "
      "or "
      "TypeError.";
  // Asked before the one above, which was added first.
  const auto translate = [](const std::exception_ptr& error, void* type) {
    try {
      std::rethrow_exception(error);
    } catch (const InvalidArgument& invalid) {
      set_error(PyExc_ValueError, invalid.what());
    } catch (const Error& failed) {
      set_error(static_cast<PyObject*>(type), failed.what());
    } catch (const std::filesystem::filesystem_error& failed) {
      set_error(static_cast<PyObject*>(type),
                "cannot read " + failed.path1().string() + ": " + failed.code().message());
    }
  };
  nb::register_exception_translator(translate, failure.ptr());
}

}  // namespace qkv::python
