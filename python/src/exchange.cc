#include "exchange.h"

#include <array>
#include <cstddef>
#include <span>

#include "qkv/dlpack.h"

namespace qkv::python {

// DLPackExchangeAPI of dlpack.h 1.3, byte for byte.
struct ExchangeTable {
  dlpack::Version version;
  ExchangeTable* previous;
  void* allocate;
  int (*from_python)(void* object, dlpack::ManagedTensorVersioned** managed);
  int (*to_python)(dlpack::ManagedTensorVersioned* managed, void** object);
  int (*borrow)(void* object, dlpack::Tensor* tensor);  // may be null
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

bool wants_gradient(nb::handle array) {
  static nb::handle requires_grad;
  return holds(array, word(requires_grad, "requires_grad"));
}

bool is_negated(nb::handle array) {
  static nb::handle is_neg;
  return negates(array, word(is_neg, "is_neg"));
}

// What PyTorch's table does not look at.
void require_plain(nb::handle array, const Argument& argument) {
  if (wants_gradient(array)) {
    throw InvalidArgument(argument.function, argument.name, "a tensor that does not record its gradient",
                          "one with requires_grad; give it as tensor.detach(), or call qkv.torch.attention()");
  }
  if (is_negated(array)) {
    throw InvalidArgument(argument.function, argument.name, "a tensor that stores its own signs",
                          "a view of negated elements; give it as tensor.resolve_neg()");
  }
}

// The library's own refusal, as a ValueError that names the argument.
[[noreturn]] void refuse(nb::handle array, const Argument& argument) {
  nb::python_error error;
  const std::string start = std::string(argument.function) + ": " + std::string(argument.name);
  nb::raise_from(error, PyExc_ValueError, "%s: %s does not give its elements away by DLPack: %s", start.c_str(),
                 said_type(array).c_str(), shown_text(error.value()).c_str());
}

const ExchangeTable* table_of(nb::handle type) {
  static nb::handle name;
  const nb::object capsule = nb::steal(PyObject_GetAttr(type.ptr(), word(name, "__dlpack_c_exchange_api__").ptr()));
  if (!capsule.is_valid() || PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) {
    PyErr_Clear();
    return nullptr;
  }
  const auto* table = static_cast<const ExchangeTable*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (table != nullptr && table->version.major != dlpack::kMajorVersion) table = table->previous;
  return table;
}

std::optional<DType> element_type(const dlpack::DataType& type) {
  if (type.lanes != 1) return std::nullopt;
  if (type.code == dlpack::kBool && type.bits == 8) return DType::b8;
  if (type.code == dlpack::kBfloat && type.bits == 16) return DType::bf16;
  if (type.code != dlpack::kFloat) return std::nullopt;
  if (type.bits == 32) return DType::f32;
  if (type.bits == 64) return DType::f64;
  return type.bits == 16 ? std::optional(DType::f16) : std::nullopt;
}

}  // namespace

const ExchangeTable* exchange_of(nb::handle array) {
  // The types that calls come with are few; they are held, so that no other gets their address.
  struct Known {
    nb::handle type;
    const ExchangeTable* table;
  };
  static std::array<Known, 4> known;
  static std::size_t count = 0;
  const nb::handle type = array.type();
  for (std::size_t n = 0; n < count; ++n) {
    if (known[n].type.is(type)) return known[n].table;
  }
  const ExchangeTable* table = table_of(type);
  if (table != nullptr && count < known.size()) known[count++] = {nb::borrow(type).release(), table};
  return table;
}

std::optional<TensorView> borrowed_from(const ExchangeTable& table, nb::handle array, Recording recording) {
  if (table.borrow == nullptr) return std::nullopt;
  if (recording == Recording::on && wants_gradient(array)) return std::nullopt;
  if (is_negated(array)) return std::nullopt;
  dlpack::Tensor tensor{};
  if (table.borrow(array.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const std::optional<DType> dtype = element_type(tensor.dtype);
  const bool is_plain = tensor.device.type == dlpack::kCpu && tensor.ndim >= 0 && tensor.ndim <= kMaxRank;
  if (!dtype || !is_plain || (tensor.ndim > 0 && tensor.strides == nullptr)) return std::nullopt;
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  const void* first =
      tensor.data == nullptr ? nullptr : static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  return TensorView(first, *dtype, Shape{std::span<const std::int64_t>(tensor.shape, rank)},
                    Strides{std::span<const std::int64_t>(tensor.strides, rank)});
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
