#include "qkv/mask.h"

#include <algorithm>

#include "arrays.h"
#include "options.h"
#include "qkv/tile_plan.h"
#include "said_as.h"

namespace qkv::python {
namespace {

using Lengths = std::vector<std::int64_t>;

Lengths lengths_of(std::string_view function, const nb::args& lengths) {
  const bool is_one_list = lengths.size() == 1 && !nb::isinstance<nb::int_>(lengths[0]);
  return whole_numbers_of(is_one_list ? nb::object(lengths[0]) : nb::object(nb::list(lengths)), {function, "lengths"});
}

Mask causal_of(const nb::object& offset, const std::string& align) {
  std::int64_t one = 0;
  if (nb::try_cast(offset, one)) return causal(align_of("causal", align), one);
  if (PyLong_Check(offset.ptr())) {
    throw InvalidArgument("causal", "offset", "a whole number of 64 bits", shown_text(offset));
  }
  const Lengths offsets = whole_numbers_of(offset, {"causal", "offset"});
  return said_as("causal", [&] { return causal_offsets(offsets, align_of("causal", align)); }, {{"offsets", "offset"}});
}

Mask window_of(std::optional<std::int64_t> width, std::optional<std::int64_t> left, std::optional<std::int64_t> right,
               const std::string& align) {
  if (!width) return window(left, right, align_of("window", align));
  if (left || right) throw InvalidArgument("window", "width", "either a width or sides", "both");
  return window(*width, align_of("window", align));
}

Mask global_of(std::optional<std::int64_t> count, const nb::object& at, const std::string& align) {
  if (count.has_value() != at.is_none()) {
    throw InvalidArgument("global_tokens", "count", "either a count or positions (at=…)", count ? "both" : "neither");
  }
  if (count) return global_tokens(*count, align_of("global_tokens", align));
  const Lengths positions = whole_numbers_of(at, {"global_tokens", "at"});
  return said_as("global_tokens", [&] { return global_tokens_at(positions, align_of("global_tokens", align)); },
                 {{"positions", "at"}});
}

// An operand of & and |: NotImplemented for what is no mask, so that Python asks the other side.
template <class Combine>
nb::object combined(const Mask& mask, nb::handle other, const Combine& combine) {
  if (!is_operand<Mask>(other)) return nb::borrow(nb::handle(Py_NotImplemented));
  return nb::cast(combine(mask, mask_of("Mask", other, nullptr)));
}

void add_words(nb::class_<Mask>& mask) {
  const auto align = nb::arg("align") = "bottom_right";
  mask.def_static("all", &all, "Every query sees every key.")
      .def_static("none", &none, "Nothing is visible.")
      .def_static(
          "causal", &causal_of, nb::arg("offset") = 0, align,
          nb::sig("def causal(offset: int | qkv._types.WholeNumbers = 0, align: qkv._types.Align = \"bottom_right\") "
                  "-> Mask"),
          "j <= p + offset. p is the query's position: i + Tk - Tq, or i with align=\"top_left\". A list of offsets "
          "has one for each batch entry.")
      .def_static("window", &window_of, nb::arg("width") = nb::none(), nb::kw_only(), nb::arg("left") = nb::none(),
                  nb::arg("right") = nb::none(), align,
                  nb::sig("def window(width: int | None = None, *, left: int | None = None, right: int | None = None, "
                          "align: qkv._types.Align = \"bottom_right\") -> Mask"),
                  "p - width < j < p + width; or p - left <= j <= p + right, where a side not given has no bound.")
      .def_static("prefix", &prefix, nb::arg("length"), "j < length: the first keys are open to all.")
      .def_static(
          "documents",
          [](const nb::args& lengths, const std::string& word) {
            return documents(lengths_of("documents", lengths), align_of("documents", word));
          },
          nb::arg("lengths"), nb::kw_only(), align,
          nb::sig("def documents(*lengths: int | qkv._types.WholeNumbers, align: qkv._types.Align = \"bottom_right\") "
                  "-> Mask"),
          "Query and key lie in the same document; the lengths sum to Tk.")
      .def_static(
          "keys",
          [](const nb::args& lengths) {
            return said_as("keys", [&] { return key_lengths(lengths_of("keys", lengths)); });
          },
          nb::arg("lengths"), nb::sig("def keys(*lengths: int | qkv._types.WholeNumbers) -> Mask"),
          "j < length: padding at the end. One length, or one for each batch entry.")
      .def_static(
          "strided",
          [](std::int64_t stride, const std::string& word) { return strided(stride, align_of("strided", word)); },
          nb::arg("stride"), align,
          nb::sig("def strided(stride: int, align: qkv._types.Align = \"bottom_right\") -> Mask"),
          "(p - j) mod stride == 0 (Child et al. 2019).")
      .def_static(
          "dilated",
          [](std::int64_t width, std::int64_t dilation, const std::string& word) {
            return dilated(width, dilation, align_of("dilated", word));
          },
          nb::arg("width"), nb::arg("dilation"), align,
          nb::sig("def dilated(width: int, dilation: int, align: qkv._types.Align = \"bottom_right\") -> Mask"),
          "|p - j| < width * dilation and (p - j) mod dilation == 0 (Beltagy et al. 2020).")
      .def_static("global_tokens", &global_of, nb::arg("count") = nb::none(), nb::kw_only(), nb::arg("at") = nb::none(),
                  align,
                  nb::sig("def global_tokens(count: int | None = None, *, at: qkv._types.WholeNumbers | None = None, "
                          "align: qkv._types.Align = \"bottom_right\") -> Mask"),
                  "The word `global` of the text form: the first `count` tokens, or those at positions `at`, see all "
                  "and are seen by all.")
      .def_static(
          "blocks",
          [](std::int64_t size, nb::handle kept) {
            return said_as("blocks", [&] { return block_sparse(size, tensor_of(kept, {"blocks", "kept"})); });
          },
          nb::arg("size"), nb::arg("kept"), nb::sig("def blocks(size: int, kept: qkv._types.AnyArray) -> Mask"),
          "Block (i / size, j / size) of the bool array [ceil(Tq / size), ceil(Tk / size)], or with leading [H] or [B, "
          "H].")
      .def_static(
          "dense", [](nb::handle visible) { return dense(tensor_of(visible, {"dense", "visible"})); },
          nb::arg("visible"), nb::sig("def dense(visible: qkv._types.AnyArray) -> Mask"),
          "A bool or uint8 array that broadcasts to [B, H, Tq, Tk]; nonzero is visible. The elements are copied.");
}

MaskShape shape_of(std::int64_t B, std::int64_t H, std::int64_t Tq, std::int64_t Tk) {
  return {.B = B, .H = H, .Tq = Tq, .Tk = Tk};
}

nb::object array_of(const Mask& mask, std::int64_t Tq, std::int64_t Tk, std::int64_t B, std::int64_t H) {
  const MaskShape shape = shape_of(B, H, Tq, Tk);
  mask.validate(shape);
  Tensor array(DType::b8, {B, H, Tq, Tk});
  bool* one = static_cast<bool*>(array.data());
  for (std::int64_t row = 0; row < B * H * Tq; ++row) {
    const Place place = {.b = row / Tq / H, .h = row / Tq % H, .i = row % Tq};
    for (std::int64_t j = 0; j < Tk; j += 64) {
      const int count = static_cast<int>(std::min<std::int64_t>(64, Tk - j));
      const std::uint64_t bits = mask.row_bits({.b = place.b, .h = place.h, .i = place.i, .j = j}, count, shape);
      for (int c = 0; c < count; ++c) *one++ = (bits >> c & 1) != 0;
    }
  }
  return numpy_array(std::move(array));
}

nb::object pickled(const Mask& mask) {
  const std::string text = mask.to_string();
  if (text.find('<') != std::string::npos) {
    const std::string said = "pickle: expected a mask whose text says it all, got " + text + "; pickle its array";
    throw nb::type_error(said.c_str());
  }
  return nb::make_tuple(nb::type<Mask>(), nb::make_tuple(text));
}

}  // namespace

void add_mask(nb::module_& module) {
  nb::class_<Mask> mask(
      module, "Mask",
      "Which query sees which key: an immutable value. Masks combine with & (both), | (either) and ~ (not). "
      "Mask(\"causal & window(512)\") reads the text form, Mask(array) takes a bool array.");
  mask.attr("__array_ufunc__") = nb::none();  // array & mask is ours, not one of each element
  mask.def(
          "__init__", [](Mask* self, nb::handle source) { new (self) Mask(mask_of("Mask", source, nullptr)); },
          nb::arg("source") = nb::none(),
          nb::sig("def __init__(self, source: qkv._types.MaskValue | None = None) -> None"),
          "A mask of a text, an array or another mask; of nothing the one that hides nothing.")
      .def(
          "__and__",
          [](const Mask& a, nb::handle b) {
            return combined(a, b, [](const Mask& x, const Mask& y) { return x & y; });
          },
          nb::sig("def __and__(self, other: qkv._types.MaskValue) -> Mask"), "Both.")
      .def(
          "__rand__",
          [](const Mask& a, nb::handle b) {
            return combined(a, b, [](const Mask& x, const Mask& y) { return y & x; });
          },
          nb::sig("def __rand__(self, other: str | qkv._types.AnyArray) -> Mask"), "Both.")
      .def(
          "__or__",
          [](const Mask& a, nb::handle b) {
            return combined(a, b, [](const Mask& x, const Mask& y) { return x | y; });
          },
          nb::sig("def __or__(self, other: qkv._types.MaskValue) -> Mask"), "Either.")
      .def(
          "__ror__",
          [](const Mask& a, nb::handle b) {
            return combined(a, b, [](const Mask& x, const Mask& y) { return y | x; });
          },
          nb::sig("def __ror__(self, other: str | qkv._types.AnyArray) -> Mask"), "Either.")
      .def(
          "__invert__", [](const Mask& a) { return !a; }, "What the mask hides.")
      .def(
          "__copy__", [](nb::object self) { return self; }, nb::sig("def __copy__(self) -> Mask"))
      .def(
          "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo"),
          nb::sig("def __deepcopy__(self, memo: typing.Any) -> Mask"))
      .def("__reduce__", &pickled, nb::sig("def __reduce__(self) -> tuple[type[Mask], tuple[str]]"))
      .def("__str__", &Mask::to_string)
      .def("__repr__", [](const Mask& a) { return "qkv.Mask(\"" + a.to_string() + "\")"; })
      .def("array", &array_of, nb::arg("Tq"), nb::arg("Tk"), nb::arg("B") = 1, nb::arg("H") = 1,
           nb::sig("def array(self, Tq: int, Tk: int, B: int = 1, H: int = 1) -> qkv._types.BoolArray"),
           "The mask over a shape as a NumPy array of bool, [B, H, Tq, Tk].")
      .def(
          "coverage",
          [](const Mask& a, std::int64_t Tq, std::int64_t Tk, std::int64_t B, std::int64_t H) {
            return TilePlan(a, shape_of(B, H, Tq, Tk)).counts().coverage();
          },
          nb::arg("Tq"), nb::arg("Tk"), nb::arg("B") = 1, nb::arg("H") = 1,
          "The share of pairs that are visible, 0 to 1.")
      .def(
          "cost",
          [](const Mask& a, std::int64_t Tq, std::int64_t Tk, std::int64_t B, std::int64_t H) {
            return TilePlan(a, shape_of(B, H, Tq, Tk)).counts().cost();
          },
          nb::arg("Tq"), nb::arg("Tk"), nb::arg("B") = 1, nb::arg("H") = 1,
          "The share of tiles of 64 x 64 pairs that hold a visible one, 0 to 1: those that attention computes.")
      .def(
          "picture",
          [](nb::handle self, std::int64_t Tq, std::int64_t Tk, std::int64_t B, std::int64_t H) {
            return nb::module_::import_("qkv._pictures").attr("mask_picture")(self, Tq, Tk, B, H);
          },
          nb::arg("Tq"), nb::arg("Tk"), nb::arg("B") = 1, nb::arg("H") = 1,
          nb::sig("def picture(self, Tq: int, Tk: int, B: int = 1, H: int = 1) -> qkv._pictures.Picture"),
          "A Picture of the mask over a shape: pairs up to 64 queries and keys, beyond the share that is visible in "
          "each cell.")
      .def(
          "show",
          [](nb::handle self, std::int64_t Tq, std::int64_t Tk, std::int64_t height, const nb::object& live) {
            return nb::module_::import_("qkv._pictures").attr("mask_page")(self, Tq, Tk, height, live);
          },
          nb::arg("Tq") = 512, nb::arg("Tk") = 512, nb::kw_only(), nb::arg("height") = 720,
          nb::arg("live") = nb::none(),
          nb::sig("def show(self, Tq: int = 512, Tk: int = 512, *, height: int = 720, live: bool | None = None) -> "
                  "qkv._pictures.Page | qkv._widget.Live"),
          "The studio's page of masks in the cell, as Model.show() has pages: who sees whom, and which tiles are "
          "computed. The mask goes as its text; a file (live=False) has 512 queries and keys.")
      .def_static(
          "from_function",
          [](const nb::callable& rule, std::int64_t Tq, std::int64_t Tk, std::int64_t B, std::int64_t H) {
            const MaskShape shape = shape_of(B, H, Tq, Tk);
            return mask_of("from_function", rule, &shape);
          },
          nb::arg("rule"), nb::arg("Tq"), nb::arg("Tk"), nb::arg("B") = 1, nb::arg("H") = 1,
          nb::sig("def from_function(rule: qkv._types.MaskRule, Tq: int, Tk: int, B: int = 1, H: int = 1) -> Mask"),
          "rule(b, h, i, j), called once with index arrays that broadcast against each other; true: query i sees key "
          "j.");
  add_words(mask);
}

}  // namespace qkv::python
