#include "qkv/bias.h"

#include "arrays.h"
#include "options.h"
#include "said_as.h"

namespace qkv::python {
namespace {

nb::object sum_of(const Bias& bias, nb::handle other, bool other_first) {
  if (!is_operand<Bias>(other)) return nb::borrow(nb::handle(Py_NotImplemented));
  const Bias second = bias_of("Bias", other, nullptr);
  return nb::cast(other_first ? second + bias : bias + second);
}

nb::object array_of_bias(const Bias& bias, std::int64_t Tq, std::int64_t Tk, std::int64_t B, std::int64_t H) {
  const MaskShape shape = {.B = B, .H = H, .Tq = Tq, .Tk = Tk};
  bias.validate(shape);
  Tensor array(DType::f64, {B, H, Tq, Tk});
  auto* row = static_cast<double*>(array.data());
  for (std::int64_t n = 0; n < B * H * Tq; ++n, row += Tk) {
    bias.add_row({.b = n / Tq / H, .h = n / Tq % H, .i = n % Tq}, {row, static_cast<std::size_t>(Tk)}, shape);
  }
  return numpy_array(std::move(array));
}

Bias alibi_of(const nb::args& slopes, const std::string& align) {
  if (slopes.size() == 0) return alibi(align_of("alibi", align));
  const bool is_one_list = slopes.size() == 1 && !PyNumber_Check(slopes[0].ptr());
  const nb::object list = is_one_list || is_array(slopes[0]) ? nb::object(slopes[0]) : nb::object(nb::list(slopes));
  return alibi(numbers_of(list, {"alibi", "slopes"}), align_of("alibi", align));
}

Bias t5_of(nb::handle table, std::int64_t max_distance, bool bidirectional, const std::string& align) {
  const Tensor elements = tensor_of(table, {"t5", "table"});
  if (elements.rank() != 2) throw InvalidArgument("t5", "table", "[buckets, H]", elements.shape().to_string());
  const T5Buckets buckets{.buckets = elements.dim(0), .max_distance = max_distance, .bidirectional = bidirectional};
  return said_as("t5", [&] { return t5_bias(elements, buckets, align_of("t5", align)); });
}

}  // namespace

void add_bias(nb::module_& module) {
  const auto align = nb::arg("align") = "bottom_right";
  nb::class_<Bias> bias(
      module, "Bias",
      "Values added to the scores: an immutable value. Biases are summed with +. Bias(\"alibi\") reads the text "
      "form, Bias(array) takes an array that broadcasts to [B, H, Tq, Tk].");
  bias.attr("__array_ufunc__") = nb::none();  // array + bias is ours, not one of each element
  bias.def(
          "__init__", [](Bias* self, nb::handle source) { new (self) Bias(bias_of("Bias", source, nullptr)); },
          nb::arg("source") = nb::none(),
          nb::sig("def __init__(self, source: qkv._types.BiasValue | None = None) -> None"),
          "A bias of a text, an array or another bias; of nothing the one that adds nothing.")
      .def(
          "__add__", [](const Bias& a, nb::handle b) { return sum_of(a, b, false); },
          nb::sig("def __add__(self, other: qkv._types.BiasValue) -> Bias"), "The sum.")
      .def(
          "__radd__", [](const Bias& a, nb::handle b) { return sum_of(a, b, true); },
          nb::sig("def __radd__(self, other: str | qkv._types.AnyArray) -> Bias"), "The sum.")
      .def(
          "__copy__", [](nb::object self) { return self; }, nb::sig("def __copy__(self) -> Bias"))
      .def(
          "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo"),
          nb::sig("def __deepcopy__(self, memo: typing.Any) -> Bias"))
      .def("__str__", &Bias::to_string)
      .def("__repr__", [](const Bias& a) { return "qkv.Bias(\"" + a.to_string() + "\")"; })
      .def("terms", &Bias::terms, "The summands, left to right; none for zero.")
      .def("array", &array_of_bias, nb::arg("Tq"), nb::arg("Tk"), nb::arg("B") = 1, nb::arg("H") = 1,
           nb::sig("def array(self, Tq: int, Tk: int, B: int = 1, H: int = 1) -> qkv._types.Float64Array"),
           "The bias over a shape as a NumPy array of float64, [B, H, Tq, Tk].")
      .def(
          "picture",
          [](nb::handle self, std::int64_t Tq, std::int64_t Tk, std::int64_t H) {
            return nb::module_::import_("qkv._pictures").attr("bias_picture")(self, Tq, Tk, H);
          },
          nb::arg("Tq"), nb::arg("Tk"), nb::arg("H") = 1,
          nb::sig("def picture(self, Tq: int, Tk: int, H: int = 1) -> qkv._pictures.Picture"),
          "A Picture of what is added, a map a head.")
      .def_static(
          "zero", [] { return Bias(); }, "Nothing is added.")
      .def_static(
          "alibi", &alibi_of, nb::arg("slopes"), nb::kw_only(), align,
          nb::sig("def alibi(*slopes: float | qkv._types.Numbers, align: qkv._types.Align = \"bottom_right\") -> Bias"),
          "-slopes[h] * |p - j|, one slope for each head; without slopes those of Press et al. 2022.")
      .def_static("t5", &t5_of, nb::arg("table"), nb::kw_only(), nb::arg("max_distance") = 128,
                  nb::arg("bidirectional") = true, align,
                  nb::sig("def t5(table: qkv._types.AnyArray, *, max_distance: int = 128, bidirectional: bool = True, "
                          "align: qkv._types.Align = \"bottom_right\") -> Bias"),
                  "table[bucket(j - p), h], a float array [buckets, H] (Raffel et al. 2020).")
      .def_static(
          "dense",
          [](nb::handle values) {
            return said_as("dense", [&] { return dense_bias(tensor_of(values, {"dense", "values"})); });
          },
          nb::arg("values"), nb::sig("def dense(values: qkv._types.AnyArray) -> Bias"),
          "A float array that broadcasts to [B, H, Tq, Tk]; -inf hides a pair. The elements are copied.")
      .def_static(
          "from_function",
          [](const nb::callable& rule, std::int64_t Tq, std::int64_t Tk, std::int64_t B, std::int64_t H) {
            const MaskShape shape = {.B = B, .H = H, .Tq = Tq, .Tk = Tk};
            return bias_of("from_function", rule, &shape);
          },
          nb::arg("rule"), nb::arg("Tq"), nb::arg("Tk"), nb::arg("B") = 1, nb::arg("H") = 1,
          nb::sig("def from_function(rule: qkv._types.BiasRule, Tq: int, Tk: int, B: int = 1, H: int = 1) -> Bias"),
          "rule(b, h, i, j), called once with index arrays that broadcast against each other; what is added to the "
          "score.");
}

}  // namespace qkv::python
