#include "attention/fused.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attention/dense_rows.h"
#include "attention/ragged.h"
#include "mask/batch_entry.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using kernels::cpu::Forward;
using kernels::cpu::KvHeads;
using kernels::cpu::Segment;

static_assert(std::is_trivially_destructible_v<Segment>, "segments lie in scratch");

constexpr std::size_t kAlignment = 64;
constexpr TileSize kTiles = {kernels::cpu::kTile, kernels::cpu::kTile};

std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::size_t segments_of(const FusedCall& call) {
  return static_cast<std::size_t>(call.options.ragged ? documents_of(*call.options.ragged) : call.problem.shape.B);
}

MaskShape shape_of(const FusedCall& call, std::int64_t b) {
  return call.options.ragged ? document_shape(call.problem, *call.options.ragged, b) : call.problem.shape;
}

KvHeads heads_of(const TensorView& view) {
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  return {.first = {.base = static_cast<const std::byte*>(view.data()),
                    .dtype = view.dtype(),
                    .row_stride_bytes = view.strides()[1] * size},
          .head_stride_bytes = view.strides()[0] * size};
}

// The tensors of a call, [B, H, T, …].
struct Tensors {
  TensorView q;
  TensorView k;
  TensorView v;
  MutableTensorView out;
  MutableTensorView lse;
};

Segment segment_of(const FusedCall& call, const Tensors& whole, std::int64_t b) {
  Tensors own = whole;
  if (call.options.ragged) {
    const auto [queries, keys] = document_of(*call.options.ragged, b);
    own = {.q = whole.q.slice(2, queries.begin, queries.end),
           .k = whole.k.slice(2, keys.begin, keys.end),
           .v = whole.v.slice(2, keys.begin, keys.end),
           .out = whole.out.slice(2, queries.begin, queries.end),
           .lse = whole.lse.slice(2, queries.begin, queries.end)};
  }
  const std::int64_t entry = call.options.ragged ? 0 : b;
  const MutableTensorView out = own.out.select(0, entry);
  const MutableTensorView lse = own.lse.select(0, entry);
  return {.b = b,
          .shape = shape_of(call, b),
          .q = own.q.select(0, entry),
          .k = heads_of(own.k.select(0, entry)),
          .v = heads_of(own.v.select(0, entry)),
          .out = static_cast<std::byte*>(out.data()),
          .out_head_stride = out.strides()[0],
          .out_row_stride = out.strides()[1],
          .lse = static_cast<float*>(lse.data()),
          .lse_head_stride = lse.strides()[0],
          .lse_row_stride = lse.strides()[1]};
}

Forward forward_of(const FusedCall& call, std::span<const Segment> segments) {
  const kernels::Problem& problem = call.problem;
  return {.segments = segments,
          .dtype = problem.q.dtype(),
          .Hq = problem.q.dim(1),
          .Hk = problem.k.dim(1),
          .D = problem.q.dim(3),
          .Dv = call.v.dim(3),
          .scale = problem.scale,
          .softcap = problem.softcap,
          .bias = problem.bias.is_zero() ? nullptr : &problem.bias,
          .dropout = problem.dropout,
          .sinks = problem.sinks};
}

// The plans of a call, and which segment has which. Documents of the same lengths share one, unless the mask is another
// for each.
class Plans {
 public:
  Plans(const FusedCall& call, std::span<Segment> segments) {
    for (Segment& segment : segments) {
      segment.plan = call.options.ragged ? &of_document(call, segment) : &of_batch(call);
      segment.plan_b = call.options.ragged ? 0 : segment.b;
    }
  }

 private:
  const TilePlan& of_batch(const FusedCall& call) {
    if (call.options.plan != nullptr) return *call.options.plan;
    if (made_.empty()) made_.emplace_back(call.problem.mask, call.problem.shape, kTiles);
    return made_.front();
  }

  const TilePlan& of_document(const FusedCall& call, const Segment& segment) {
    const Mask& mask = call.problem.mask;
    const MaskShape one = {.B = 1, .H = segment.shape.H, .Tq = segment.shape.Tq, .Tk = segment.shape.Tk};
    const TilePlan*& shared = by_lengths_[{one.Tq, one.Tk}];
    if (shared == nullptr || mask.varies_by_batch()) {
      shared = &made_.emplace_back(batch_entry(mask, segment.b, segment.shape.B), one, kTiles);
    }
    return *shared;
  }

  std::list<TilePlan> made_;  // which stay where they are
  std::map<std::pair<std::int64_t, std::int64_t>, const TilePlan*> by_lengths_;
};

// Scratch from an aligned place on: segments, copies of inputs without rows, then the kernels' own.
struct Layout {
  std::size_t segments;
  std::size_t q;
  std::size_t k;
  std::size_t v;
  std::size_t kernel;

  [[nodiscard]] std::size_t total() const { return segments + q + k + v + kernel + kAlignment; }
};

std::size_t bytes_of_segments(const FusedCall& call) { return rounded(segments_of(call) * sizeof(Segment)); }

int threads_of(const FusedCall& call) { return call.options.threads.value_or(threads()); }

// `segments` is where the shapes go that the kernel looks at.
Layout layout_of(const FusedCall& call, std::span<Segment> segments) {
  for (std::size_t n = 0; n < segments.size(); ++n) {
    segments[n].shape = shape_of(call, static_cast<std::int64_t>(n));
    segments[n].k.first.dtype = call.problem.k.dtype();
    segments[n].v.first.dtype = call.v.dtype();
  }
  return {.segments = bytes_of_segments(call),
          .q = rounded(bytes_of_rows(call.problem.q)),
          .k = rounded(bytes_of_rows(call.problem.k)),
          .v = rounded(bytes_of_rows(call.v)),
          .kernel = rounded(kernels::cpu::scratch_bytes(call.target, forward_of(call, segments), threads_of(call)))};
}

std::byte* aligned(std::span<std::byte> scratch) {
  const auto address = std::bit_cast<std::uintptr_t>(scratch.data());
  return scratch.data() + (kAlignment - address % kAlignment) % kAlignment;
}

std::span<Segment> segments_in(std::byte* place, std::size_t count) {
  auto* first = reinterpret_cast<Segment*>(place);
  std::uninitialized_value_construct_n(first, count);
  return {first, count};
}

void run_in(const FusedCall& call, const Layout& layout, std::byte* place, const MutableTensorView& out,
            const MutableTensorView& lse) {
  const std::span<Segment> segments = segments_in(place, segments_of(call));
  const auto take = [&](std::size_t bytes) {
    place += bytes;
    return place - bytes;
  };
  take(layout.segments);
  const Tensors whole = {.q = with_rows(call.problem.q, take(layout.q)),
                         .k = with_rows(call.problem.k, take(layout.k)),
                         .v = with_rows(call.v, take(layout.v)),
                         .out = out,
                         .lse = lse};
  for (std::size_t n = 0; n < segments.size(); ++n) {
    segments[n] = segment_of(call, whole, static_cast<std::int64_t>(n));
  }
  const Plans plans(call, segments);
  kernels::cpu::forward(call.target, forward_of(call, segments), threads_of(call), {place, layout.kernel});
}

void require_scratch(std::string_view function, std::size_t needed, std::size_t given) {
  if (given >= needed) return;
  throw InvalidArgument(function, "scratch", std::to_string(needed) + " bytes or more", std::to_string(given));
}

}  // namespace

std::size_t scratch_bytes(const FusedCall& call) {
  std::vector<Segment> segments(segments_of(call));
  return layout_of(call, segments).total();
}

void run_fused(std::string_view function, const FusedCall& call, const MutableTensorView& out,
               const MutableTensorView& lse) {
  const std::span<std::byte> given = call.options.scratch;
  if (given.empty()) {
    std::vector<Segment> segments(segments_of(call));
    const Layout layout = layout_of(call, segments);
    const std::unique_ptr<std::byte[]> own(new std::byte[layout.total()]);  // NOLINT: left uninitialised
    run_in(call, layout, aligned({own.get(), layout.total()}), out, lse);
    return;
  }
  if (given.size() < bytes_of_segments(call) + kAlignment) require_scratch(function, scratch_bytes(call), given.size());
  std::byte* place = aligned(given);
  const Layout layout = layout_of(call, segments_in(place, segments_of(call)));
  require_scratch(function, layout.total(), given.size());
  run_in(call, layout, place, out, lse);
}

}  // namespace qkv
