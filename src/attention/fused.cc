#include "attention/fused.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "attention/dense_rows.h"
#include "attention/fused_segments.h"
#include "core/bytes.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using kernels::cpu::Segment;

static_assert(std::is_trivially_destructible_v<Segment>, "segments lie in scratch");

// Aligned scratch: the segments, dense copies of inputs whose last stride is not 1, then the kernels' own.
struct Layout {
  std::size_t segments;
  std::size_t q;
  std::size_t k;
  std::size_t v;
  std::size_t kernel;

  [[nodiscard]] std::size_t total() const {
    return core::checked_sum("attention", {segments, q, k, v, kernel, core::kAlignment});
  }
};

std::size_t bytes_of_segments(const FusedCall& call) {
  return core::aligned_bytes(segments_of(call) * sizeof(Segment));
}

int threads_of(const FusedCall& call) { return call.options.threads.value_or(threads()); }

// `segments` receives the shapes that the kernel reads.
Layout layout_of(const FusedCall& call, std::span<Segment> segments) {
  for (std::size_t n = 0; n < segments.size(); ++n) {
    segments[n].shape = shape_of(call, static_cast<std::int64_t>(n));
    segments[n].k.first.dtype = call.problem.k.dtype();
    segments[n].v.first.dtype = call.v.dtype();
  }
  return {.segments = bytes_of_segments(call),
          .q = core::aligned_bytes(bytes_of_rows(call.problem.q)),
          .k = core::aligned_bytes(bytes_of_rows(call.problem.k)),
          .v = core::aligned_bytes(bytes_of_rows(call.v)),
          .kernel = core::aligned_bytes(
              kernels::cpu::scratch_bytes(call.target, forward_of(call, segments), threads_of(call)))};
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
  const SegmentTensors whole = {.q = with_rows(call.problem.q, take(layout.q)),
                                .k = with_rows(call.problem.k, take(layout.k)),
                                .v = with_rows(call.v, take(layout.v))};
  for (std::size_t n = 0; n < segments.size(); ++n) {
    const auto b = static_cast<std::int64_t>(n);
    segments[n] = segment_of(call, whole, b);
    segments[n].write_to(queries_of(call, out, b), queries_of(call, lse, b));
  }
  Plans plans(call);
  for (Segment& segment : segments) plans.give(segment);
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
    run_in(call, layout, core::aligned({own.get(), layout.total()}).data(), out, lse);
    return;
  }
  const std::size_t least = bytes_of_segments(call) + core::kAlignment;
  if (given.size() < least) require_scratch(function, scratch_bytes(call), given.size());
  std::byte* place = core::aligned(given).data();
  const Layout layout = layout_of(call, segments_in(place, segments_of(call)));
  require_scratch(function, layout.total(), given.size());
  run_in(call, layout, place, out, lse);
}

}  // namespace qkv
