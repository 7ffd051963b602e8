// Times calls of attention() in C++, as those of Python are timed: with what they allocate and plan.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>

#include "qkv/attention.h"

namespace {

namespace nb = nanobind;

using Array = nb::ndarray<const float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

qkv::TensorView view_of(const Array& array) {
  qkv::Shape shape;
  for (std::size_t axis = 0; axis < 4; ++axis) shape.push_back(static_cast<std::int64_t>(array.shape(axis)));
  return {array.data(), shape};
}

// The seconds that `calls` calls take, on float32 arrays [B, H, T, D].
double seconds(const Array& q, const Array& k, const Array& v, bool is_causal, int threads, int calls) {
  qkv::AttentionOptions options;
  if (is_causal) options.mask = qkv::causal();
  options.threads = threads;
  const nb::gil_scoped_release free;
  const auto start = std::chrono::steady_clock::now();
  for (int n = 0; n < calls; ++n) {
    const qkv::AttentionResult result = qkv::attention(view_of(q), view_of(k), view_of(v), options);
    if (result.out.size() == 0) break;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

NB_MODULE(qkv_calls_of_python, module) {
  module.def("seconds", &seconds, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("is_causal"), nb::arg("threads"),
             nb::arg("calls"));
}
