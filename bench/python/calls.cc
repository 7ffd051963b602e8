// Calls of attention() in C++, with what they allocate and plan, as those of Python have it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "qkv/attention.h"

namespace {

namespace nb = nanobind;

using Array = nb::ndarray<const float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

qkv::TensorView view_of(const Array& array) {
  qkv::Shape shape;
  for (std::size_t axis = 0; axis < 4; ++axis) shape.push_back(static_cast<std::int64_t>(array.shape(axis)));
  return {array.data(), shape};
}

// So many calls on float32 arrays [B, H, T, D].
void attend(const Array& q, const Array& k, const Array& v, int threads, int calls) {
  qkv::AttentionOptions options;
  options.threads = threads;
  const nb::gil_scoped_release free;
  for (int n = 0; n < calls; ++n) {
    const qkv::AttentionResult result = qkv::attention(view_of(q), view_of(k), view_of(v), options);
    if (result.out.size() == 0) break;
  }
}

}  // namespace

NB_MODULE(qkv_calls_of_python, module) {
  module.def("attend", &attend, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("threads"), nb::arg("calls"));
}
