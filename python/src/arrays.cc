#include "arrays.h"

#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "elements.h"
#include "exchange.h"
#include "qkv/dlpack.h"

namespace qkv::python {
namespace {

constexpr std::string_view kElementTypes = "elements of float64, float32, float16 or bfloat16 (masks: bool or uint8)";

// Modules that are asked for by many calls.
nb::handle numpy() {
  static const nb::handle kNumpy = nb::module_::import_("numpy").release();
  return kNumpy;
}

nb::handle numpy_array_type() {
  static const nb::handle kType = nb::object(numpy().attr("ndarray")).release();
  return kType;
}

nb::handle numpy_asarray() {
  static const nb::handle kFunction = nb::object(numpy().attr("asarray")).release();
  return kFunction;
}

std::string module_of(nb::handle object) { return shown_text(object.type().attr("__module__")); }

bool is_numpy(nb::handle object) { return PyObject_TypeCheck(object.ptr(), (PyTypeObject*)numpy_array_type().ptr()); }

// The buffer of a masked array has the elements alone: its mask would be lost.
void require_unmasked(nb::handle array, const Argument& argument) {
  if (array.type().is(numpy_array_type()) || !is_numpy(array)) return;
  static const nb::handle kCount = nb::object(nb::module_::import_("numpy.ma").attr("count_masked")).release();
  const auto hidden = nb::cast<std::int64_t>(kCount(array));
  if (hidden == 0) return;
  throw InvalidArgument(argument.function, argument.name, "an array without masked elements",
                        "a masked array that hides " + std::to_string(hidden) +
                            "; fill them: x.filled(value), or hide the pairs by mask");
}

struct Format {
  char code;
  Py_ssize_t size;
  DType dtype;
};
constexpr std::array kFormats{Format{'d', 8, DType::f64}, Format{'f', 4, DType::f32}, Format{'e', 2, DType::f16},
                              Format{'q', 8, DType::i64}, Format{'l', 8, DType::i64}, Format{'i', 4, DType::i32},
                              Format{'b', 1, DType::i8},  Format{'B', 1, DType::u8},  Format{'?', 1, DType::b8}};

DType dtype_of_format(const Py_buffer& buffer, const Argument& argument) {
  const std::string_view whole = buffer.format == nullptr ? "B" : buffer.format;
  std::string_view code = whole;
  constexpr bool kLittle = std::endian::native == std::endian::little;
  if (code.starts_with(kLittle ? '>' : '<') || code.starts_with('!')) {
    throw InvalidArgument(argument.function, argument.name, "elements in this machine's byte order",
                          "the format " + std::string(whole) + "; convert them: x.astype(x.dtype.newbyteorder(\"=\"))");
  }
  if (code.starts_with('@') || code.starts_with('=') || code.starts_with(kLittle ? '<' : '>')) code.remove_prefix(1);
  for (const Format& format : kFormats) {
    if (code.size() == 1 && code[0] == format.code && buffer.itemsize == format.size) return format.dtype;
  }
  throw InvalidArgument(argument.function, argument.name, kElementTypes, "the format " + std::string(whole));
}

struct ReleaseBuffer {
  void operator()(Py_buffer* buffer) const {
    PyBuffer_Release(buffer);
    delete buffer;
  }
};
using OwnedBuffer = std::unique_ptr<Py_buffer, ReleaseBuffer>;

// Null if the object does not lend its elements so: NumPy's bfloat16.
OwnedBuffer buffer_of(nb::handle array) {
  auto place = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(array.ptr(), place.get(), PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  return OwnedBuffer(place.release());
}

Tensor borrowed(OwnedBuffer buffer, DType dtype, const Argument& argument) {
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  Shape shape;
  Strides strides;
  for (int axis = 0; axis < buffer->ndim; ++axis) {
    if (axis == kMaxRank) {
      throw InvalidArgument(argument.function, argument.name, "at most 8 axes", std::to_string(buffer->ndim));
    }
    shape.push_back(buffer->shape[axis]);
    if (buffer->strides[axis] % item != 0) {
      throw InvalidArgument(argument.function, argument.name, "strides of whole elements",
                            std::to_string(buffer->strides[axis]) + " bytes for elements of " + std::to_string(item) +
                                "; copy them: numpy.ascontiguousarray(x)");
    }
    strides.push_back(buffer->strides[axis] / item);
  }
  if (reinterpret_cast<std::uintptr_t>(buffer->buf) % size_of(dtype) != 0) {
    throw InvalidArgument(argument.function, argument.name, "elements that are aligned",
                          "an address in the middle of one; copy them: x.copy()");
  }
  const TensorView view(buffer->buf, dtype, shape, strides);
  return Tensor::borrow(view, std::shared_ptr<const void>(std::shared_ptr<Py_buffer>(std::move(buffer))));
}

std::string_view device_name(int type) {
  switch (type) {
    case 2:
    case 13:
      return "CUDA";
    case 8:
      return "Metal";
    case 10:
      return "ROCm";
    case 14:
      return "oneAPI";
    default:
      return "another device";
  }
}

// A library's own refusal, as a ValueError that names the argument.
[[noreturn]] void refuse_after(nb::python_error& error, nb::handle array, const Argument& argument) {
  const std::string start = std::string(argument.function) + ": " + std::string(argument.name);
  nb::raise_from(error, PyExc_ValueError, "%s: %s does not give its elements away by DLPack: %s", start.c_str(),
                 said_type(array).c_str(), shown_text(error.value()).c_str());
}

std::pair<int, int> device_of(nb::handle array, const Argument& argument) {
  try {
    return nb::cast<std::pair<int, int>>(array.attr("__dlpack_device__")());
  } catch (nb::python_error& error) {
    refuse_after(error, array, argument);
  }
}

}  // namespace

void require_cpu(int type, int number, const Argument& argument) {
  if (type == dlpack::kCpu) return;
  const std::string name(argument.name);
  throw InvalidArgument(argument.function, argument.name, "an array in the processor's memory",
                        "one on " + std::string(device_name(type)) + " (device " + std::to_string(number) +
                            "); qkv computes on the CPU: copy it there, with " + name + ".cpu() in PyTorch");
}

namespace {

nb::object asked_capsule(nb::handle array) {
  const nb::object ask = array.attr("__dlpack__");
  try {
    return ask(nb::arg("max_version") = nb::make_tuple(dlpack::kMajorVersion, dlpack::kMinorVersion));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return ask();  // a library that predates DLPack 1.0
}

nb::object capsule_of(nb::handle array, const Argument& argument) {
  try {
    return asked_capsule(array);
  } catch (nb::python_error& error) {
    refuse_after(error, array, argument);
  }
}

template <class Managed>
Tensor taken(const nb::object& capsule, const char* name, const char* used) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr) nb::raise_python_error();
  Tensor tensor = from_dlpack(managed);
  PyCapsule_SetName(capsule.ptr(), used);
  return tensor;
}

Tensor tensor_of_dlpack(nb::handle array, const Argument& argument) {
  const auto [type, number] = device_of(array, argument);
  require_cpu(type, number, argument);
  const nb::object capsule = capsule_of(array, argument);
  try {
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
      return taken<dlpack::ManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned");
    }
    return taken<dlpack::ManagedTensor>(capsule, "dltensor", "used_dltensor");
  } catch (const InvalidArgument& invalid) {
    throw InvalidArgument(argument.function, argument.name, invalid.expected(), invalid.got());
  }
}

bool has_dlpack(nb::handle object) {
  return nb::hasattr(object, "__dlpack__") && nb::hasattr(object, "__dlpack_device__");
}

// NumPy has no bfloat16 of its own, and lends ml_dtypes' by neither protocol.
Tensor tensor_of_bf16(nb::handle array, const Argument& argument) {
  const std::string name = shown_text(array.attr("dtype").attr("name"));
  if (name != "bfloat16") throw InvalidArgument(argument.function, argument.name, kElementTypes, name);
  return borrowed(buffer_of(nb::object(array.attr("view")("uint16"))), DType::bf16, argument);
}

}  // namespace

bool is_array(nb::handle object) { return PyObject_CheckBuffer(object.ptr()) != 0 || has_dlpack(object); }

std::string utf8_of(nb::handle text, const Argument& argument) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
  PyErr_Clear();
  throw InvalidArgument(std::string(argument.function), std::string(argument.name), "text that UTF-8 has",
                        "one with half a pair of surrogates");
}

std::string shown_text(nb::handle object) {
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(nb::str(object).ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) nb::raise_python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

std::string said_type(nb::handle object) {
  const std::string module = module_of(object);
  const std::string name = shown_text(object.type().attr("__qualname__"));
  return (module == "builtins" ? "" : module + ".") + name;
}

Tensor tensor_of(nb::handle array, const Argument& argument) {
  require_unmasked(array, argument);
  if (PyObject_CheckBuffer(array.ptr()) != 0) {
    if (OwnedBuffer buffer = buffer_of(array)) {
      const DType dtype = dtype_of_format(*buffer, argument);
      return borrowed(std::move(buffer), dtype, argument);
    }
  }
  if (const ExchangeTable* table = exchange_of(array)) return tensor_of(*table, array, argument);
  if (is_numpy(array)) return tensor_of_bf16(array, argument);
  if (has_dlpack(array)) return tensor_of_dlpack(array, argument);
  const std::string start = std::string(argument.function) + ": " + std::string(argument.name);
  throw nb::type_error((start +
                        ": expected an array (NumPy, PyTorch, JAX, or one with DLPack or the buffer protocol), got " +
                        said_type(array))
                           .c_str());
}

nb::object numpy_array(Tensor tensor) {
  const bool is_bf16 = tensor.dtype() == DType::bf16;
  nb::object array = numpy_asarray()(nb::cast(Elements{.tensor = std::move(tensor)}));
  if (is_bf16) array = array.attr("view")(nb::module_::import_("ml_dtypes").attr("bfloat16"));
  return array;
}

nb::object array_like(nb::handle source, Tensor tensor) {
  if (is_numpy(source)) return numpy_array(std::move(tensor));
  if (const ExchangeTable* table = exchange_of(source)) return array_of(*table, std::move(tensor));
  const std::string module = module_of(source);
  const auto elements = [&] { return nb::cast(Elements{.tensor = std::move(tensor)}); };
  if (module.starts_with("torch")) return nb::module_::import_("torch").attr("from_dlpack")(elements());
  if (module.starts_with("jax")) return nb::module_::import_("jax.dlpack").attr("from_dlpack")(elements());
  if (nb::hasattr(source, "__array_namespace__")) {
    return source.attr("__array_namespace__")().attr("from_dlpack")(elements());
  }
  return numpy_array(std::move(tensor));
}

namespace {

[[noreturn]] void refuse_list(const Argument& argument, const std::string& got) {
  const std::string start = std::string(argument.function) + ": " + std::string(argument.name);
  throw nb::type_error((start + ": expected a list of numbers, got " + got).c_str());
}

Tensor one_axis_of(nb::handle array, const Argument& argument) {
  Tensor tensor = tensor_of(array, argument);
  if (tensor.rank() != 1) {
    throw InvalidArgument(argument.function, argument.name, "one axis", tensor.shape().to_string());
  }
  return tensor;
}

std::vector<nb::object> items_of(nb::handle list, const Argument& argument) {
  std::vector<nb::object> items;
  if (!nb::try_cast(list, items)) refuse_list(argument, said_type(list));
  return items;
}

double number_of(nb::handle item, const Argument& argument) {
  double number = 0;
  if (nb::try_cast(item, number)) return number;
  if (!PyLong_Check(item.ptr())) refuse_list(argument, "one that holds " + said_type(item));
  throw InvalidArgument(argument.function, argument.name, "numbers that a float holds", shown_text(item));
}

// Numbers that a double need not hold.
std::vector<std::int64_t> exactly(const Tensor& numbers) {
  const Tensor dense(numbers.view());
  const auto values = dense.values<std::int64_t>();
  return {values.begin(), values.end()};
}

std::int64_t whole_number_of(double number, const Argument& argument) {
  if (number == std::floor(number) && std::fabs(number) <= 0x1p53) return static_cast<std::int64_t>(number);
  throw InvalidArgument(argument.function, argument.name, "whole numbers", shown_text(nb::float_(number)));
}

std::int64_t whole_number_of(nb::handle item, const Argument& argument) {
  std::int64_t number = 0;
  if (nb::try_cast(item, number)) return number;
  if (!PyLong_Check(item.ptr())) return whole_number_of(number_of(item, argument), argument);
  throw InvalidArgument(argument.function, argument.name, "whole numbers of 64 bits", shown_text(item));
}

}  // namespace

std::vector<double> numbers_of(nb::handle object, const Argument& argument) {
  if (is_array(object)) return one_axis_of(object, argument).to_vector();
  std::vector<double> numbers;
  for (const nb::object& item : items_of(object, argument)) numbers.push_back(number_of(item, argument));
  return numbers;
}

std::vector<std::int64_t> whole_numbers_of(nb::handle object, const Argument& argument) {
  std::vector<std::int64_t> whole;
  if (is_array(object)) {
    const Tensor numbers = one_axis_of(object, argument);
    if (numbers.dtype() == DType::i64) return exactly(numbers);
    for (const double number : numbers.to_vector()) whole.push_back(whole_number_of(number, argument));
    return whole;
  }
  for (const nb::object& item : items_of(object, argument)) whole.push_back(whole_number_of(item, argument));
  return whole;
}

}  // namespace qkv::python
