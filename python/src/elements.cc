#include "elements.h"

#include <string>
#include <utility>

#include "qkv/dlpack.h"

namespace qkv::python {
namespace {

// As the buffer protocol names them; bf16 goes as its bits.
const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "d";
    case DType::f32:
      return "f";
    case DType::f16:
      return "e";
    case DType::bf16:
      return "H";
    case DType::i64:
      return "q";
    case DType::i32:
      return "i";
    case DType::i8:
      return "b";
    case DType::u8:
      return "B";
    case DType::b8:
      return "?";
  }
  return "B";
}

int get_buffer(PyObject* object, Py_buffer* buffer, int /*flags*/) {
  auto& elements = *nb::inst_ptr<Elements>(object);
  Tensor& tensor = elements.tensor;
  const auto item = static_cast<Py_ssize_t>(size_of(tensor.dtype()));
  buffer->buf = tensor.data();  // dense from here on
  const Strides strides = tensor.strides();
  elements.shape.assign(tensor.shape().begin(), tensor.shape().end());
  elements.strides.clear();
  for (const std::int64_t stride : strides) elements.strides.push_back(stride * item);
  buffer->obj = Py_NewRef(object);
  buffer->len = tensor.size() * item;
  buffer->itemsize = item;
  buffer->readonly = 0;
  buffer->ndim = tensor.rank();
  buffer->format = const_cast<char*>(format_of(tensor.dtype()));
  buffer->shape = elements.shape.data();
  buffer->strides = elements.strides.data();
  buffer->suboffsets = nullptr;
  buffer->internal = nullptr;
  return 0;
}

// The consumer renames a capsule that it has taken over.
template <class Managed>
void delete_unused(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

nb::object versioned_capsule(Tensor tensor) {
  return nb::steal(PyCapsule_New(to_dlpack(std::move(tensor)), "dltensor_versioned", [](PyObject* capsule) {
    delete_unused<dlpack::ManagedTensorVersioned>(capsule, "dltensor_versioned");
  }));
}

nb::object unversioned_capsule(Tensor tensor) {
  return nb::steal(PyCapsule_New(to_dlpack_unversioned(std::move(tensor)), "dltensor",
                                 [](PyObject* capsule) { delete_unused<dlpack::ManagedTensor>(capsule, "dltensor"); }));
}

nb::object capsule_of_elements(Elements& elements, const nb::object& /*stream*/,
                               std::optional<std::pair<int, int>> max_version, const nb::object& /*dl_device*/,
                               const nb::object& /*copy*/) {
  if (elements.tensor.empty()) throw Error("these elements have been handed over already");
  Tensor tensor = std::exchange(elements.tensor, {});
  const bool knows_versions = max_version && max_version->first >= static_cast<int>(dlpack::kMajorVersion);
  return knows_versions ? versioned_capsule(std::move(tensor)) : unversioned_capsule(std::move(tensor));
}

}  // namespace

void add_elements(nb::module_& module) {
  static const PyType_Slot kSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)}, {0, nullptr}};
  nb::class_<Elements>(module, "_Elements", nb::type_slots(kSlots))
      .def("__dlpack__", &capsule_of_elements, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const Elements&) { return std::pair(dlpack::kCpu, 0); });
}

}  // namespace qkv::python
