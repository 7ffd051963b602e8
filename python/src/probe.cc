#include "qkv/probe.h"

#include <memory>

#include "inputs.h"
#include "options.h"
#include "owning_probe.h"
#include "probe_places.h"
#include "signals.h"

namespace qkv::python {
namespace {

// The arrays that a probe views.
struct Viewed {
  Tensor q;
  Tensor k;
  Tensor lse;
};

OwningProbe probe_of(nb::handle q, nb::handle k, const nb::object& lse, const nb::object& mask, const nb::object& bias,
                     std::optional<double> scale, std::optional<double> softcap, const nb::object& dropout,
                     const nb::object& sinks, std::optional<int> threads, const nb::object& target,
                     const nb::object& within) {
  const Inputs inputs("Probe", q);
  auto viewed = std::make_shared<Viewed>();
  viewed->q = inputs.q();
  viewed->k = inputs.read(k, "k");
  std::optional<TensorView> known;
  if (!lse.is_none()) {
    viewed->lse = inputs.read(lse, "lse", 1);
    known = viewed->lse.view();
  }
  const AttentionOptions options =
      options_of("Probe", {mask, bias, scale, softcap, dropout, sinks, nb::none(), threads, target, within},
                 inputs.shape(viewed->k));
  Probe probe(viewed->q, viewed->k, options, known);
  return {.viewed = std::move(viewed),
          .probe = std::move(probe),
          .mask = options.within.empty() ? options.mask : qkv::within(options.mask, options.within.front())};
}

// Calls without the GIL.
template <class Call>
auto freely(const Call& call) {
  const nb::gil_scoped_release free;
  return call();
}

nb::object tile_as_array(const OwningProbe& self, std::int64_t h, std::int64_t b, nb::handle queries, nb::handle keys,
                         const std::string& stage) {
  const Tile tile = tile_of("tile", self.probe.shape(), {.b = b, .h = h}, queries, keys);
  const Stage wanted = stage_of("tile", stage);
  return numpy_array(freely([&] { return self.probe.tile(tile, wanted); }));
}

nb::object top_keys_as_arrays(const OwningProbe& self, std::int64_t count, std::int64_t h, std::int64_t b) {
  TopKeys top = freely([&] { return self.probe.top_keys({.b = b, .h = h}, count, signal_watch()); });
  return nb::module_::import_("qkv._results")
      .attr("TopKeys")(numpy_array(std::move(top.keys)), numpy_array(std::move(top.weights)));
}

nb::object statistics_as_arrays(const OwningProbe& self, std::int64_t h, std::int64_t b, const std::string& align) {
  const Align positions = align_of("statistics", align);
  RowStatistics rows = freely([&] { return self.probe.statistics({.b = b, .h = h}, positions, signal_watch()); });
  return nb::module_::import_("qkv._results")
      .attr("RowStatistics")(numpy_array(std::move(rows.visible)), numpy_array(std::move(rows.mass)),
                             numpy_array(std::move(rows.entropy)), numpy_array(std::move(rows.normalised_entropy)),
                             numpy_array(std::move(rows.distance)), numpy_array(std::move(rows.largest)),
                             numpy_array(std::move(rows.first)), numpy_array(std::move(rows.diagonal)));
}

constexpr const char* kProbe =
    R"doc(The weights of attention(q, k, …), any part of them, computed on demand: they are never stored.

q [B, Hq, Tq, D] and k [B, Hk, Tk, D] as for attention(), with its options; lse [B, Hq, Tq] is its result, and is computed
row by row where it is not given. The probe reads the arrays in place: do not change them while it lives. Results are NumPy
arrays, float64 for float64 inputs, else float32 scores and weights. A pass needs O(T * D) memory. h and b name the query
head and the batch entry. Raises ValueError for a place outside of the tensors.)doc";

void add_parts(nb::class_<OwningProbe>& probe) {
  const auto h = nb::arg("h") = 0;
  const auto b = nb::arg("b") = 0;
  probe
      .def("tile", &tile_as_array, h, b, nb::kw_only(), nb::arg("queries") = nb::none(), nb::arg("keys") = nb::none(),
           nb::arg("stage") = "weights",
           nb::sig("def tile(self, h: int = 0, b: int = 0, *, queries: qkv._types.Part | None = None, keys: "
                   "qkv._types.Part | None = None, stage: qkv._types.Stage = \"weights\") -> qkv._types.FloatArray"),
           "A part of an intermediate, [queries, keys]: slices or pairs (begin, end), all if None. stage is one of "
           "those of "
           "attention_stage().")
      .def(
          "weights",
          [](const OwningProbe& self, std::int64_t head, std::int64_t entry, nb::handle queries, nb::handle keys) {
            return tile_as_array(self, head, entry, queries, keys, "weights");
          },
          h, b, nb::kw_only(), nb::arg("queries") = nb::none(), nb::arg("keys") = nb::none(),
          nb::sig("def weights(self, h: int = 0, b: int = 0, *, queries: qkv._types.Part | None = None, keys: "
                  "qkv._types.Part | None = None) -> qkv._types.FloatArray"),
          "The weights of a head, or a part of them, [queries, keys]; slices or pairs (begin, end), all if None.")
      .def(
          "row",
          [](const OwningProbe& self, std::int64_t i, std::int64_t head, std::int64_t entry, const std::string& stage) {
            const Stage wanted = stage_of("row", stage);
            return numpy_array(freely([&] { return self.probe.row({.b = entry, .h = head}, i, wanted); }));
          },
          nb::arg("i"), h, b, nb::kw_only(), nb::arg("stage") = "weights",
          nb::sig("def row(self, i: int, h: int = 0, b: int = 0, *, stage: qkv._types.Stage = \"weights\") -> "
                  "qkv._types.FloatArray"),
          "The weights of query i, [Tk].")
      .def(
          "lse",
          [](const OwningProbe& self, std::int64_t head, std::int64_t entry) {
            return numpy_array(freely([&] { return self.probe.lse({.b = entry, .h = head}, signal_watch()); }));
          },
          h, b, nb::sig("def lse(self, h: int = 0, b: int = 0) -> qkv._types.Float64Array"),
          "The lse of a head, float64 [Tq]: as given, or computed.");
}

void add_passes(nb::class_<OwningProbe>& probe) {
  const auto h = nb::arg("h") = 0;
  const auto b = nb::arg("b") = 0;
  probe
      .def(
          "map",
          [](const OwningProbe& self, std::int64_t rows, std::int64_t columns, std::int64_t entry,
             const std::optional<std::vector<std::int64_t>>& heads, const nb::object& queries, const nb::object& keys,
             const std::string& of) {
            const MapRequest request =
                map_request("map", self.probe.shape(), {rows, columns, entry, heads, queries, keys, of});
            return given(freely([&] { return self.probe.map(request, signal_watch()); }));
          },
          nb::arg("rows"), nb::arg("columns"), b, nb::kw_only(), nb::arg("heads") = nb::none(),
          nb::arg("queries") = nb::none(), nb::arg("keys") = nb::none(), nb::arg("of") = "each",
          nb::sig("def map(self, rows: int, columns: int, b: int = 0, *, heads: collections.abc.Sequence[int] | None = "
                  "None, queries: qkv._types.Part | None = None, keys: qkv._types.Part | None = None, of: "
                  "typing.Literal[\"each\", \"mean\"] = \"each\") -> qkv._results.CellMaps"),
          "CellMaps of the weights in rows x columns cells: of each head (all, or those in `heads`), or of=\"mean\" of "
          "them. "
          "queries and keys name a part: slices or pairs (begin, end).")
      .def("top_keys", &top_keys_as_arrays, nb::arg("count"), h, b,
           nb::sig("def top_keys(self, count: int, h: int = 0, b: int = 0) -> qkv._results.TopKeys"),
           "TopKeys: the `count` keys of largest weight for each query.")
      .def(
          "key_totals",
          [](const OwningProbe& self, std::int64_t head, std::int64_t entry) {
            return numpy_array(freely([&] { return self.probe.key_totals({.b = entry, .h = head}, signal_watch()); }));
          },
          h, b, nb::sig("def key_totals(self, h: int = 0, b: int = 0) -> qkv._types.Float64Array"),
          "The sum over queries of the weight on each key, float64 [Tk].")
      .def("statistics", &statistics_as_arrays, h, b, nb::kw_only(), nb::arg("align") = "bottom_right",
           nb::sig("def statistics(self, h: int = 0, b: int = 0, *, align: qkv._types.Align = \"bottom_right\") -> "
                   "qkv._results.RowStatistics"),
           "RowStatistics of a head. align gives the positions of the queries, for distance and diagonal.");
}

}  // namespace

void add_probe(nb::module_& module) {
  nb::class_<OwningProbe> probe(module, "Probe", kProbe);
  probe
      .def(
          "__init__",
          [](OwningProbe* self, nb::handle q, nb::handle k, const nb::object& lse, const nb::object& mask,
             const nb::object& bias, std::optional<double> scale, std::optional<double> softcap,
             const nb::object& dropout, const nb::object& sinks, std::optional<int> threads, const nb::object& target,
             const nb::object& within) {
            new (self)
                OwningProbe(probe_of(q, k, lse, mask, bias, scale, softcap, dropout, sinks, threads, target, within));
          },
          nb::arg("q"), nb::arg("k"), nb::arg("lse") = nb::none(), nb::kw_only(), nb::arg("mask") = nb::none(),
          nb::arg("bias") = nb::none(), nb::arg("scale") = nb::none(), nb::arg("softcap") = nb::none(),
          nb::arg("dropout") = nb::none(), nb::arg("sinks") = nb::none(), nb::arg("threads") = nb::none(),
          nb::arg("target") = nb::none(), nb::arg("within") = nb::none(),
          nb::sig("def __init__(self, q: qkv._types.AnyArray, k: qkv._types.AnyArray, lse: qkv._types.AnyArray | None "
                  "= None, *, " QKV_PROBE_OPTIONS ") -> None"),
          "As attention() takes them.")
      .def_prop_ro(
          "shape", [](const OwningProbe& self) { return given(self.probe.shape()); },
          nb::sig("def shape(self) -> tuple[int, int, int, int]"), "(B, Hq, Tq, Tk)")
      .def("__repr__", [](const OwningProbe& self) { return said_of("Probe", self.probe.shape()); })
      .def("_repr_html_",
           [](nb::handle self) { return nb::module_::import_("qkv._pictures").attr("probe_html")(self); })
      .def(
          "picture",
          [](nb::handle self, const std::vector<std::string>& rows, const std::vector<std::string>& columns,
             const std::string& title) {
            return nb::module_::import_("qkv._pictures").attr("probe_picture")(self, title, rows, columns);
          },
          nb::kw_only(), nb::arg("rows") = nb::list(), nb::arg("columns") = nb::list(), nb::arg("title") = "weights",
          "A Picture of the heads' maps, of at most 32 x 32 cells. rows and columns name the queries and the keys, "
          "where "
          "each is a cell. Raises ValueError for another number of names.")
      .def(
          "plot",
          [](nb::handle self, std::int64_t head, std::int64_t entry, nb::handle ax) {
            return nb::module_::import_("qkv._pictures").attr("plot_probe")(self, head, entry, ax);
          },
          nb::arg("h") = 0, nb::arg("b") = 0, nb::arg("ax") = nb::none(),
          nb::sig("def plot(self, h: int = 0, b: int = 0, ax: typing.Any = None) -> typing.Any"),
          "A map of a head's weights on matplotlib's axes: those given, or new ones. Gives the axes.")
      .def(
          "show",
          [](nb::handle self, std::int64_t head, const std::vector<std::string>& rows,
             const std::vector<std::string>& columns, const std::string& title, int height) {
            return nb::module_::import_("qkv._pictures").attr("probe_page")(self, head, rows, columns, title, height);
          },
          nb::arg("h") = 0, nb::kw_only(), nb::arg("rows") = nb::list(), nb::arg("columns") = nb::list(),
          nb::arg("title") = "a probe", nb::arg("height") = 720,
          nb::sig("def show(self, h: int = 0, *, rows: collections.abc.Sequence[str] = [], columns: "
                  "collections.abc.Sequence[str] = [], title: str = 'a probe', height: int = 720) -> "
                  "qkv._widget.Live"),
          "The studio's page Far of this probe, live in the cell: its map from afar and from near, rows, and places. "
          "rows "
          "and columns name the queries and the keys; height is in pixels. Of a batch the first entry is shown. Needs "
          "anywidget: raises ImportError without it, and ValueError for another number of names.")
      .def(
          "of_queries",
          [](const OwningProbe& self, nb::handle queries) {
            const Range range = range_of("of_queries", "queries", queries, self.probe.shape().Tq);
            return OwningProbe{
                .viewed = self.viewed,
                .probe = self.probe.of_queries({.begin = range.begin, .end = range.end, .step = range.step}),
                .mask = self.mask};
          },
          nb::arg("queries"), nb::sig("def of_queries(self, queries: qkv._types.Part) -> Probe"),
          "A probe of some of the queries, slice(begin, end, step) or (begin, end). They keep their places in mask and "
          "bias.");
  add_parts(probe);
  add_passes(probe);
}

}  // namespace qkv::python
