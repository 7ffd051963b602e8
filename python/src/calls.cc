#include "calls.h"

#include <nb_internals.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "arrays.h"

namespace qkv::python {
namespace {

using Call = PyObject* (*)(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names);

// nanobind has a handful of ways to call a function, by what it takes; each function has one of them.
constexpr std::size_t kMostWays = 8;
std::array<Call, kMostWays> ways{};

nb::tuple positional_of(PyObject* const* arguments, std::size_t count) {
  nb::list list;
  for (std::size_t n = 0; n < count; ++n) list.append(nb::handle(arguments[n]));
  return nb::tuple(list);
}

nb::dict named_of(PyObject* const* arguments, PyObject* names) {
  nb::dict all;
  if (names == nullptr) return all;
  for (nb::handle name : nb::borrow<nb::tuple>(names)) all[name] = nb::handle(*arguments++);
  return all;
}

bool is_refusal(const nb::python_error& error) {
  constexpr std::string_view kRefusal = "(): incompatible function arguments.";
  return error.matches(PyExc_TypeError) && shown_text(error.value()).find(kRefusal) != std::string::npos;
}

// Another error in place of the one that is set, if there are better words for it.
void explain(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) noexcept {
  nb::python_error error;
  try {
    if (is_refusal(error)) {
      const nb::object better = nb::module_::import_("qkv._calls")
                                    .attr("explained")(nb::handle(function), positional_of(arguments, count),
                                                       named_of(arguments + count, names));
      if (!better.is_none()) {
        PyErr_SetObject(better.type().ptr(), better.ptr());
        return;
      }
    }
  } catch (const std::exception&) {
    PyErr_Clear();  // the words of nanobind are better than none
  }
  error.restore();
}

template <std::size_t kWay>
PyObject* told(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) {
  PyObject* result = ways[kWay](function, arguments, count, names);
  if (result == nullptr) explain(function, arguments, static_cast<std::size_t>(NB_VECTORCALL_NARGS_EXT(count)), names);
  return result;
}

template <std::size_t... kWay>
constexpr std::array<Call, kMostWays> all_told(std::index_sequence<kWay...> /*ways*/) {
  return {&told<kWay>...};
}
constexpr std::array<Call, kMostWays> kTold = all_told(std::make_index_sequence<kMostWays>());

void name_arguments_of(nb::handle function) {
  Call& call = reinterpret_cast<nb::detail::nb_func*>(function.ptr())->vectorcall;
  if (std::ranges::find(kTold, call) != kTold.end()) return;
  auto* way = std::ranges::find_if(ways, [&](Call one) { return one == call || one == nullptr; });
  if (way == ways.end()) return;
  *way = call;
  call = kTold[static_cast<std::size_t>(way - ways.begin())];
}

bool is_function(nb::handle object) {
  const nb::str name = nb::type_name(object.type());
  const std::string_view type = name.c_str();
  return type == "nanobind.nb_func" || type == "nanobind.nb_method";
}

void name_arguments_in(nb::handle names) {
  for (nb::handle member : nb::list(names.attr("values")())) {
    if (is_function(member)) name_arguments_of(member);
  }
}

// nanobind's types of functions take no attributes from Python, nor do its functions.
void tell_signature(nb::handle function, const char* of) {
  const nb::object property = nb::module_::import_("builtins").attr("property");
  const nb::object told = property(nb::module_::import_("qkv._signatures").attr(of));
  const nb::handle type = function.type();
  if (PyObject_GenericSetAttr(type.ptr(), nb::str("__signature__").ptr(), told.ptr()) != 0) throw nb::python_error();
  PyType_Modified(reinterpret_cast<PyTypeObject*>(type.ptr()));
}

}  // namespace

void tell_signatures(nb::handle function, nb::handle object) {
  tell_signature(function, "of_function");
  tell_signature(object.type(), "of_class");
  tell_signature(object.type().attr("array"), "of_function");
  tell_signature(object.attr("array"), "of_bound_method");
}

void name_arguments(nb::module_& module) {
  const nb::object members = module.attr("__dict__");
  name_arguments_in(members);
  for (nb::handle member : nb::list(members.attr("values")())) {
    if (member.is_type() && nb::type_check(member)) name_arguments_in(member.attr("__dict__"));
  }
}

}  // namespace qkv::python
