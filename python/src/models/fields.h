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

/// Values of fields by Python's names; None is a field that is left out. Throws TypeError for a name that none has and
/// for a value of another type, and InvalidArgument naming `function` and the argument as checked_value() and
/// require_company() do.
[[nodiscard]] FieldValues field_values(std::string_view function, std::span<const FieldInfo> fields,
                                       const nb::dict& given);

/// Throws the error that is being handled as one of `function`, in Python's names.
[[noreturn]] void rethrow_in_python(std::string_view function, std::span<const FieldInfo> fields);

/// Runs `body`, which answers a request: what it says of a field is said of the argument.
template <class Body>
auto said_in_python(std::string_view function, std::span<const FieldInfo> fields, const Body& body) {
  try {
    return body();
  } catch (const Error&) {
    rethrow_in_python(function, fields);
  }
}

template <class Request>
[[nodiscard]] Request request_of(std::string_view function, const Fields<Request>& fields, const nb::dict& given) {
  return fields.from_values(field_values(function, fields.infos(), given));
}

/// A list of (name, type, default, words, meaning), in the order of the fields.
[[nodiscard]] nb::list described(std::span<const FieldInfo> fields);

/// Notes that a function takes these, for its signature and its stub.
void tell_arguments(const char* function, std::span<const FieldInfo> fields);

/// {function: described(its fields)}, of all that were told.
[[nodiscard]] nb::dict told_arguments();

/// The fields of `all` without these: those that a function takes by their place.
template <class Request>
[[nodiscard]] Fields<Request> without(Fields<Request> all, std::initializer_list<std::string_view> names) {
  all.remove(std::span(names.begin(), names.size()));
  return all;
}

}  // namespace qkv::python
