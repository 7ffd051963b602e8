#include <span>

#include "arrays.h"
#include "python.h"
#include "qkv/random.h"

namespace qkv::python {
namespace {

using Extents = std::vector<std::int64_t>;

DType dtype_of(std::string_view function, const std::string& name) {
  if (name == "float32") return DType::f32;
  if (name == "float64") return DType::f64;
  throw InvalidArgument(function, "dtype", "\"float32\" or \"float64\"", "\"" + name + "\"");
}

Shape shape_of(const Extents& extents) { return Shape(std::span(extents)); }

constexpr const char* kGenerator =
    R"doc(Random numbers, those of PyTorch's CPU generator: after torch.manual_seed(seed) the same calls in the same order
give the same numbers, to 1e-6.

A shape is a tuple, a dtype "float32" or "float64". Results are new NumPy arrays. Raises ValueError for a negative extent, an
empty range, a probability outside of [0, 1] or another dtype.)doc";

}  // namespace

void add_generator(nb::module_& module) {
  const auto dtype = nb::arg("dtype") = "float32";
  nb::class_<Generator>(module, "Generator", kGenerator)
      .def(nb::init<std::uint64_t>(), nb::arg("seed"), "As torch.manual_seed(seed).")
      .def("__repr__", [](const Generator&) { return "qkv.Generator(…)"; })
      .def(
          "randn",
          [](Generator& self, const Extents& shape, const std::string& type) {
            return numpy_array(self.randn(shape_of(shape), dtype_of("randn", type)));
          },
          nb::arg("shape"), nb::kw_only(), dtype,
          nb::sig("def randn(self, shape: collections.abc.Sequence[int], *, dtype: typing.Literal[\"float32\", "
                  "\"float64\"] = \"float32\") -> qkv._types.FloatArray"),
          "Standard normal numbers.")
      .def(
          "rand",
          [](Generator& self, const Extents& shape, const std::string& type) {
            return numpy_array(self.rand(shape_of(shape), dtype_of("rand", type)));
          },
          nb::arg("shape"), nb::kw_only(), dtype,
          nb::sig("def rand(self, shape: collections.abc.Sequence[int], *, dtype: typing.Literal[\"float32\", "
                  "\"float64\"] = \"float32\") -> qkv._types.FloatArray"),
          "Uniform numbers of [0, 1).")
      .def(
          "randint",
          [](Generator& self, std::int64_t low, std::int64_t high, const Extents& shape) {
            return numpy_array(self.randint(low, high, shape_of(shape)));
          },
          nb::arg("low"), nb::arg("high"), nb::arg("shape"),
          nb::sig("def randint(self, low: int, high: int, shape: collections.abc.Sequence[int]) -> qkv._types.Places"),
          "Uniform integers of [low, high), int64.")
      .def(
          "randperm", [](Generator& self, std::int64_t n) { return numpy_array(self.randperm(n)); }, nb::arg("n"),
          nb::sig("def randperm(self, n: int) -> qkv._types.Places"), "A permutation of 0 to n - 1, int64 [n].")
      .def(
          "bernoulli",
          [](Generator& self, double p, const Extents& shape, const std::string& type) {
            return numpy_array(self.bernoulli(p, shape_of(shape), dtype_of("bernoulli", type)));
          },
          nb::arg("p"), nb::arg("shape"), nb::kw_only(), dtype,
          nb::sig("def bernoulli(self, p: float, shape: collections.abc.Sequence[int], *, dtype: "
                  "typing.Literal[\"float32\", \"float64\"] = \"float32\") -> qkv._types.FloatArray"),
          "1 with probability p, else 0.")
      .def(
          "bernoulli",
          [](Generator& self, nb::handle p) { return numpy_array(self.bernoulli(tensor_of(p, {"bernoulli", "p"}))); },
          nb::arg("p"), nb::sig("def bernoulli(self, p: qkv._types.AnyArray) -> qkv._types.FloatArray"),
          "1 with the probability at the same place of an array, else 0, in its shape and type.");
}

}  // namespace qkv::python
