// Calls of some ten microseconds on PyTorch's tensors, of which arguments and owners would be the larger part.
#include <array>

#include "exchange.h"
#include "options.h"
#include "qkv/attention.h"

namespace qkv::python {
namespace {

// What a thread is not woken for, either: so much is done before anybody misses the GIL, or a signal its handler.
constexpr std::int64_t kMostWork = std::int64_t{1} << 18;  // multiply-adds

bool is_fused(DType dtype) { return is_floating(dtype) && dtype != DType::f64; }

bool is_short(const TensorView& q, const TensorView& k, const TensorView& v) {
  std::int64_t work = 1;
  for (const std::int64_t extent : {q.dim(0), q.dim(1), q.dim(2), k.dim(2), q.dim(3) + v.dim(3)}) {
    if (extent < 1 || extent > kMostWork) return false;
    work *= extent;  // at most 2^36: it was 2^18 or less before
    if (work > kMostWork) return false;
  }
  return true;
}

// A key head that is alone serves all query heads, as PyTorch broadcasts it.
bool fit_heads(const TensorView& q, const TensorView& k, bool grouped) {
  const std::int64_t heads = k.dim(1);
  if (heads < 1) return false;
  return heads == 1 || (grouped ? q.dim(1) % heads == 0 : q.dim(1) == heads);
}

bool fit(const TensorView& q, const TensorView& k, const TensorView& v, bool grouped) {
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) return false;
  if (q.dtype() != k.dtype() || q.dtype() != v.dtype() || !is_fused(q.dtype())) return false;
  if (q.dim(0) != k.dim(0) || k.dim(0) != v.dim(0) || k.dim(1) != v.dim(1)) return false;
  return fit_heads(q, k, grouped) && q.dim(3) == k.dim(3) && k.dim(2) == v.dim(2) && v.dim(3) > 0 && q.dim(3) > 0;
}

// Numbers or flags over the scores, of the types that PyTorch takes beside q.
bool fits_scores(const TensorView& given, const TensorView& q, const TensorView& k) {
  const DType dtype = given.dtype();
  if (dtype != DType::b8 && dtype != DType::f32 && dtype != q.dtype()) return false;
  const std::array scores = {q.dim(0), q.dim(1), q.dim(2), k.dim(2)};
  if (given.rank() > 4) return false;
  for (int axis = 0; axis < given.rank(); ++axis) {
    const std::int64_t extent = given.dim(axis);
    if (extent != 1 && extent != scores[static_cast<std::size_t>(4 - given.rank() + axis)]) return false;
  }
  return true;
}

void add_to(AttentionOptions& options, const TensorView& given) {
  if (given.dtype() == DType::b8) {
    options.mask = dense(given);
  } else {
    options.bias = dense_bias(given);
  }
}

nb::object short_attention(nb::handle q, nb::handle k, nb::handle v, nb::handle mask, nb::handle scale, bool records,
                           bool grouped, nb::handle over_scores) {
  const ExchangeTable* table = exchange_of(q);
  if (table == nullptr || exchange_of(k) != table || exchange_of(v) != table) return nb::none();
  const Recording recording = records ? Recording::on : Recording::off;
  const auto queries = borrowed_from(*table, q, recording);
  const auto keys = queries ? borrowed_from(*table, k, recording) : std::nullopt;
  const auto values = keys ? borrowed_from(*table, v, recording) : std::nullopt;
  if (!values || !fit(*queries, *keys, *values, grouped) || !is_short(*queries, *keys, *values)) return nb::none();
  AttentionOptions options;
  options.threads = 1;
  if (!scale.is_none()) {
    double factor = 0;
    if (!nb::try_cast(scale, factor)) return nb::none();
    options.scale = factor;
  }
  if (!mask.is_none()) options.mask = nb::cast<const Mask&>(mask);
  if (!over_scores.is_none()) {
    if (!mask.is_none() || exchange_of(over_scores) != table) return nb::none();
    const auto given = borrowed_from(*table, over_scores, recording);
    if (!given || !fits_scores(*given, *queries, *keys)) return nb::none();
    add_to(options, *given);
  }
  return array_of(*table, attention(*queries, *keys, *values, options).out);
}

}  // namespace

void add_short_call(nb::module_& module) {
  module.def(
      "short_attention", &short_attention, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("mask").none(),
      nb::arg("scale").none(), nb::arg("records"), nb::arg("grouped"), nb::arg("over_scores").none(),
      nb::sig("def short_attention(q: object, k: object, v: object, mask: Mask | None, scale: object, records: "
              "bool, grouped: bool, over_scores: object) -> typing.Any"),
      "attention() of small tensors of four axes, without a record for gradients; None where it is no such "
      "call: ask attention() then. records: gradients are recorded, and a tensor that wants one is no such call. "
      "grouped: a key head may serve several query heads. over_scores: flags, true sees, or numbers that are added, "
      "beside no mask.");
}

}  // namespace qkv::python
