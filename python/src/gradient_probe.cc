#include "qkv/gradient_probe.h"

#include <memory>

#include "inputs.h"
#include "options.h"
#include "probe_places.h"
#include "signals.h"

namespace qkv::python {
namespace {

// The arrays that the probe views stay with it.
struct OwningGradientProbe {
  std::vector<Tensor> viewed;
  GradientProbe probe;
};

OwningGradientProbe probe_of(nb::handle d_out, nb::handle q, nb::handle k, nb::handle v, nb::handle out, nb::handle lse,
                             const nb::object& d_lse, const OptionArguments& arguments) {
  const Inputs inputs("GradientProbe", q);
  std::vector<Tensor> viewed = {inputs.read(d_out, "d_out"), inputs.q(),
                                inputs.read(k, "k"),         inputs.read(v, "v"),
                                inputs.read(out, "out"),     inputs.read(lse, "lse", 1)};
  std::optional<TensorView> d_sums;
  if (!d_lse.is_none()) {
    viewed.push_back(inputs.read(d_lse, "d_lse", 1));
    d_sums = viewed.back().view();
  }
  const AttentionOptions options = options_of("GradientProbe", arguments, inputs.shape(viewed[2]));
  GradientProbe probe(viewed[0], viewed[1], viewed[2], viewed[3], viewed[4], viewed[5], options, d_sums);
  return {.viewed = std::move(viewed), .probe = std::move(probe)};
}

nb::object tile_as_array(const OwningGradientProbe& self, std::int64_t h, std::int64_t b, nb::handle queries,
                         nb::handle keys, const std::string& stage) {
  const Tile tile = tile_of("tile", self.probe.shape(), {.b = b, .h = h}, queries, keys);
  const Stage wanted = stage_of("tile", stage);
  Tensor result;
  {
    const nb::gil_scoped_release free;
    result = self.probe.tile(tile, wanted);
  }
  return numpy_array(std::move(result));
}

nb::object row_as_array(const OwningGradientProbe& self, std::int64_t i, std::int64_t h, std::int64_t b,
                        const std::string& stage) {
  const Stage wanted = stage_of("row", stage);
  Tensor result;
  {
    const nb::gil_scoped_release free;
    result = self.probe.row({.b = b, .h = h}, i, wanted);
  }
  return numpy_array(std::move(result));
}

nb::object map_as_arrays(const OwningGradientProbe& self, std::int64_t rows, std::int64_t columns, std::int64_t b,
                         const std::optional<std::vector<std::int64_t>>& heads, const nb::object& queries,
                         const nb::object& keys, const std::string& of, const std::string& stage) {
  const MapRequest request = map_request("map", self.probe.shape(), {rows, columns, b, heads, queries, keys, of});
  const Stage wanted = stage_of("map", stage);
  CellMaps maps;
  {
    const nb::gil_scoped_release free;
    maps = self.probe.map(request, wanted, signal_watch());
  }
  return given(std::move(maps));
}

constexpr const char* kProbe =
    R"doc(The gradients of the T x T intermediates of attention_backward(d_out, q, k, v, out, lse, …), on demand.

For stage "dropped" it is d_out v^T, for "weights" that times dropout's factor (dP), for "masked", "biased" and
"softcapped" w * (d_w - delta) (dS), for "scaled" and "raw" those before the softcap and the scale. The probe reads the
arrays in place: do not change them while it lives. Results are NumPy arrays. Raises ValueError as attention_backward() does.)doc";

}  // namespace

void add_gradient_probe(nb::module_& module) {
  const auto h = nb::arg("h") = 0;
  const auto b = nb::arg("b") = 0;
  const auto stage = nb::arg("stage") = "biased";
  nb::class_<OwningGradientProbe>(module, "GradientProbe", kProbe)
      .def(
          "__init__",
          [](OwningGradientProbe* self, nb::handle d_out, nb::handle q, nb::handle k, nb::handle v, nb::handle out,
             nb::handle lse, const nb::object& mask, const nb::object& bias, std::optional<double> scale,
             std::optional<double> softcap, const nb::object& dropout, const nb::object& sinks,
             std::optional<int> threads, const nb::object& target, const nb::object& within, const nb::object& d_lse) {
            new (self) OwningGradientProbe(
                probe_of(d_out, q, k, v, out, lse, d_lse,
                         {mask, bias, scale, softcap, dropout, sinks, nb::none(), threads, target, within}));
          },
          nb::arg("d_out"), nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("out"), nb::arg("lse"), nb::kw_only(),
          nb::arg("mask") = nb::none(), nb::arg("bias") = nb::none(), nb::arg("scale") = nb::none(),
          nb::arg("softcap") = nb::none(), nb::arg("dropout") = nb::none(), nb::arg("sinks") = nb::none(),
          nb::arg("threads") = nb::none(), nb::arg("target") = nb::none(), nb::arg("within") = nb::none(),
          nb::arg("d_lse") = nb::none(),
          nb::sig("def __init__(self, d_out: qkv._types.AnyArray, q: qkv._types.AnyArray, k: qkv._types.AnyArray, v: "
                  "qkv._types.AnyArray, out: qkv._types.AnyArray, lse: qkv._types.AnyArray, *, " QKV_PROBE_OPTIONS
                  ", d_lse: qkv._types.AnyArray | None = None) -> None"),
          "As attention_backward() takes them.")
      .def_prop_ro(
          "shape", [](const OwningGradientProbe& self) { return given(self.probe.shape()); },
          nb::sig("def shape(self) -> tuple[int, int, int, int]"), "(B, Hq, Tq, Tk)")
      .def("__repr__", [](const OwningGradientProbe& self) { return said_of("GradientProbe", self.probe.shape()); })
      .def("_repr_html_",
           [](nb::handle self) { return nb::module_::import_("qkv._pictures").attr("gradients_html")(self); })
      .def(
          "picture",
          [](nb::handle self, const std::vector<std::string>& rows, const std::vector<std::string>& columns,
             const std::string& title) {
            return nb::module_::import_("qkv._pictures").attr("gradients_picture")(self, title, rows, columns);
          },
          nb::kw_only(), nb::arg("rows") = nb::list(), nb::arg("columns") = nb::list(), nb::arg("title") = "gradients",
          "A Picture of the sizes of the gradients (stage \"biased\") of each head, as Probe.picture() has weights.")
      .def(
          "plot",
          [](nb::handle self, std::int64_t head, std::int64_t entry, nb::handle ax) {
            return nb::module_::import_("qkv._pictures").attr("plot_gradients")(self, head, entry, ax);
          },
          nb::arg("h") = 0, nb::arg("b") = 0, nb::arg("ax") = nb::none(),
          nb::sig("def plot(self, h: int = 0, b: int = 0, ax: typing.Any = None) -> typing.Any"),
          "A map of the sizes of a head's gradients on matplotlib's axes: those given, or new ones. Gives the axes.")
      .def("tile", &tile_as_array, h, b, nb::kw_only(), nb::arg("queries") = nb::none(), nb::arg("keys") = nb::none(),
           stage,
           nb::sig("def tile(self, h: int = 0, b: int = 0, *, queries: qkv._types.Part | None = None, keys: "
                   "qkv._types.Part | None = None, stage: qkv._types.Stage = \"biased\") -> qkv._types.FloatArray"),
           "A part of the gradient, [queries, keys]: slices or pairs (begin, end), all if None.")
      .def("row", &row_as_array, nb::arg("i"), h, b, nb::kw_only(), stage,
           nb::sig("def row(self, i: int, h: int = 0, b: int = 0, *, stage: qkv._types.Stage = \"biased\") -> "
                   "qkv._types.FloatArray"),
           "That of query i, [Tk].")
      .def("map", &map_as_arrays, nb::arg("rows"), nb::arg("columns"), b, nb::kw_only(), nb::arg("heads") = nb::none(),
           nb::arg("queries") = nb::none(), nb::arg("keys") = nb::none(), nb::arg("of") = "each", stage,
           nb::sig("def map(self, rows: int, columns: int, b: int = 0, *, heads: collections.abc.Sequence[int] | None "
                   "= None, queries: qkv._types.Part | None = None, keys: qkv._types.Part | None = None, of: "
                   "typing.Literal[\"each\", \"mean\"] = \"each\", stage: qkv._types.Stage = \"biased\") -> "
                   "qkv._results.CellMaps"),
           "CellMaps of the sizes of the gradients, as Probe.map() has those of weights.");
}

}  // namespace qkv::python
