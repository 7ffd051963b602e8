// Calls of some ten microseconds on PyTorch's tensors, of which arguments and owners would be the larger part.
#include "exchange.h"
#include "options.h"
#include "qkv/attention.h"

namespace qkv::python {
namespace {

// What a thread is not woken for, either: so much is done before anybody misses the GIL, or a signal its handler.
constexpr std::int64_t kMostWork = std::int64_t{1} << 18;  // multiply-adds

bool is_short(const TensorView& q, const TensorView& k, const TensorView& v) {
  std::int64_t work = 1;
  for (const std::int64_t extent : {q.dim(0), q.dim(1), q.dim(2), k.dim(2), q.dim(3) + v.dim(3)}) {
    if (extent < 1 || extent > kMostWork) return false;
    work *= extent;  // at most 2^36: it was 2^18 or less before
    if (work > kMostWork) return false;
  }
  return true;
}

bool fit(const TensorView& q, const TensorView& k, const TensorView& v, bool grouped) {
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) return false;
  if (q.dtype() != k.dtype() || q.dtype() != v.dtype() || q.dtype() == DType::f64) return false;
  if (q.dim(0) != k.dim(0) || k.dim(0) != v.dim(0) || k.dim(1) != v.dim(1)) return false;
  if (k.dim(1) < 1 || (grouped ? q.dim(1) % k.dim(1) != 0 : q.dim(1) != k.dim(1))) return false;
  return q.dim(3) == k.dim(3) && k.dim(2) == v.dim(2) && v.dim(3) > 0 && q.dim(3) > 0;
}

nb::object short_attention(nb::handle q, nb::handle k, nb::handle v, nb::handle mask, nb::handle scale, bool records,
                           bool grouped) {
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
  return array_of(*table, attention(*queries, *keys, *values, options).out);
}

}  // namespace

void add_short_call(nb::module_& module) {
  module.def(
      "short_attention", &short_attention, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("mask").none(),
      nb::arg("scale").none(), nb::arg("records"), nb::arg("grouped"),
      nb::sig("def short_attention(q: object, k: object, v: object, mask: Mask | None, scale: object, records: "
              "bool, grouped: bool) -> typing.Any"),
      "attention() of small tensors of four axes, without a record for gradients; None where it is no such "
      "call: ask attention() then. records: gradients are recorded, and a tensor that wants one is no such call. "
      "grouped: a key head may serve several query heads.");
}

}  // namespace qkv::python
