#include "exchange.h"

#include "qkv/dlpack.h"

namespace qkv::python {

// DLPackExchangeAPI of dlpack.h 1.3, byte for byte.
struct ExchangeTable {
  dlpack::Version version;
  ExchangeTable* previous;
  void* allocate;
  int (*from_python)(void* object, dlpack::ManagedTensorVersioned** managed);
  int (*to_python)(dlpack::ManagedTensorVersioned* managed, void** object);
  void* borrow;
  void* stream;
};

namespace {

nb::handle word(nb::handle& place, const char* text) {
  if (!place.is_valid()) place = nb::steal(PyUnicode_InternFromString(text)).release();
  return place;
}

bool holds(nb::handle array, nb::handle name) {
  nb::object value = nb::steal(PyObject_GetAttr(array.ptr(), name.ptr()));
  if (!value.is_valid()) {
    PyErr_Clear();
    return false;
  }
  return value.is(Py_True);
}

bool negates(nb::handle array, nb::handle name) {
  nb::object value = nb::steal(PyObject_CallMethodObjArgs(array.ptr(), name.ptr(), nullptr));
  if (!value.is_valid()) {
    PyErr_Clear();
    return false;
  }
  return value.is(Py_True);
}

// What PyTorch's table does not look at.
void require_plain(nb::handle array, const Argument& argument) {
  static nb::handle requires_grad;
  static nb::handle is_neg;
  if (holds(array, word(requires_grad, "requires_grad"))) {
    throw InvalidArgument(argument.function, argument.name, "a tensor that does not record its gradient",
                          "one with requires_grad; give it as tensor.detach(), or call qkv.torch.attention()");
  }
  if (negates(array, word(is_neg, "is_neg"))) {
    throw InvalidArgument(argument.function, argument.name, "a tensor that stores its own signs",
                          "a view of negated elements; give it as tensor.resolve_neg()");
  }
}

// The library's own refusal, as a ValueError that names the argument.
[[noreturn]] void refuse(nb::handle array, const Argument& argument) {
  nb::python_error error;
  const std::string start = std::string(argument.function) + ": " + std::string(argument.name);
  nb::raise_from(error, PyExc_ValueError, "%s: %s does not give its elements away by DLPack: %s", start.c_str(),
                 said_type(array).c_str(), nb::str(error.value()).c_str());
}

}  // namespace

const ExchangeTable* exchange_of(nb::handle array) {
  static nb::handle name;
  const nb::object capsule = nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())),
                                                        word(name, "__dlpack_c_exchange_api__").ptr()));
  if (!capsule.is_valid() || PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) {
    PyErr_Clear();
    return nullptr;
  }
  const auto* table = static_cast<const ExchangeTable*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (table != nullptr && table->version.major != dlpack::kMajorVersion) table = table->previous;
  return table;
}

Tensor tensor_of(const ExchangeTable& table, nb::handle array, const Argument& argument) {
  require_plain(array, argument);
  dlpack::ManagedTensorVersioned* managed = nullptr;
  if (table.from_python(array.ptr(), &managed) != 0) refuse(array, argument);
  try {
    require_cpu(managed->tensor.device.type, managed->tensor.device.id, argument);
    return from_dlpack(managed);
  } catch (const InvalidArgument& invalid) {
    managed->deleter(managed);
    throw InvalidArgument(argument.function, argument.name, invalid.expected(), invalid.got());
  }
}

nb::object array_of(const ExchangeTable& table, Tensor tensor) {
  void* object = nullptr;
  if (table.to_python(to_dlpack(std::move(tensor)), &object) != 0) nb::raise_python_error();
  return nb::steal(static_cast<PyObject*>(object));
}

}  // namespace qkv::python
