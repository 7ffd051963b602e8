// Keyword arguments of Python as the fields of a request.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "../python.h"
#include "qkv/api/field.h"
#include "qkv/error.h"

namespace qkv::python {

/// Keyword arguments.
using Given = nb::typed<nb::dict, nb::str, nb::object>;

/// The field's name in Python.
[[nodiscard]] inline const std::string& python_name(const FieldInfo& field) {
  return field.python.empty() ? field.name : field.python;
}

/// A function of the package that asks a question.
struct AskingFunction {
  std::string name;                      // "sweep"
  std::span<const FieldInfo> fields;     // all of the question, as the function calls them
  std::vector<std::string> placed = {};  // those that have a parameter of their own, by the question's names
  std::vector<std::string> absent = {};  // those that it does not have
};

/// Values of fields: `given` by the function's names, `placed` by the question's. None is a field that is left out.
/// Throws TypeError for a name that none has and for a value of another type, and InvalidArgument naming the argument
/// as checked_value() and require_company() do.
[[nodiscard]] FieldValues field_values(const AskingFunction& function, const nb::dict& given,
                                       const nb::dict& placed = {});

/// Takes fields that the function does not have out of what others need, or are one of.
void leave_out(FieldTable& fields, const std::vector<std::string>& absent);

/// Throws the error that is being handled as one of `function`, in Python's names.
[[noreturn]] void rethrow_in_python(const AskingFunction& function);

/// Runs `body`, which answers a request: what it says of a field is said of the argument.
template <class Body>
auto said_in_python(const AskingFunction& function, const Body& body) {
  try {
    return body();
  } catch (const Error&) {
    rethrow_in_python(function);
  }
}

/// A list of (name, type, default, whether it is required, meaning), in the order of the fields: those that are neither
/// placed nor absent.
[[nodiscard]] nb::list described(const AskingFunction& function);

/// Notes the function, for its signature and its stub.
void tell_arguments(const AskingFunction& function);

/// {function: described()}, of all that were told.
[[nodiscard]] nb::dict told_arguments();

}  // namespace qkv::python
