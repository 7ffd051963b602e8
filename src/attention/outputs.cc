#include "attention/outputs.h"

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "attention/check.h"

namespace qkv {
namespace {

// From its lowest byte to behind its highest.
struct Reach {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] bool meets(const Reach& other) const {
    return begin < end && other.begin < other.end && begin < other.end && other.begin < end;
  }
};

Reach reach_of(const TensorView& view) {
  if (view.size() == 0) return {};
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  std::int64_t low = 0;
  std::int64_t high = size;
  for (int axis = 0; axis < view.rank(); ++axis) {
    const std::int64_t step = (view.shape()[axis] - 1) * view.strides()[axis] * size;
    (step < 0 ? low : high) += step;
  }
  const auto first = std::bit_cast<std::uintptr_t>(view.data());
  return {first + static_cast<std::uintptr_t>(low), first + static_cast<std::uintptr_t>(high)};
}

Reach reach_of(std::span<const std::byte> bytes) {
  const auto first = std::bit_cast<std::uintptr_t>(bytes.data());
  return {first, first + bytes.size()};
}

// Each stride steps over all that the smaller ones reach. True of any cut and transposition of a dense tensor.
bool elements_lie_apart(const TensorView& view) {
  const auto steps = [&](int axis) { return static_cast<std::uint64_t>(view.shape()[axis] - 1); };
  const auto stride = [&](int axis) {
    const std::int64_t value = view.strides()[axis];
    return value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  };
  for (int axis = 0; axis < view.rank(); ++axis) {
    if (steps(axis) == 0) continue;
    std::uint64_t reach = 0;
    for (int other = 0; other < view.rank(); ++other) {
      const bool steps_within = stride(other) < stride(axis) || (stride(other) == stride(axis) && other < axis);
      if (steps_within) reach += stride(other) * steps(other);
    }
    if (stride(axis) <= reach) return false;
  }
  return true;
}

void check_output(const Check& check, std::string_view argument, const TensorView& view, const Shape& shape,
                  DType dtype) {
  check.that(view.shape() == shape, argument, [&] { return "the shape " + shape.to_string(); }, view.shape());
  check.that(view.dtype() == dtype, argument, dtype, view.dtype());
  check.that(view.size() == 0 || elements_lie_apart(view), argument,
             "strides under which no two elements share a place", view.strides());
}

using Named = std::pair<std::string_view, Reach>;

// Each of `outputs` apart from all inputs, and from the other outputs.
void check_apart(const Check& check, std::span<const Named> inputs, std::span<const Named> outputs) {
  const auto apart = [&](const Named& one, const Named& other) {
    check.that(
        !one.second.meets(other.second), one.first,
        [&] { return fmt::format("memory apart from that of {}", other.first); },
        "some that reaches over the same bytes");
  };
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    for (const Named& input : inputs) apart(outputs[n], input);
    for (std::size_t m = 0; m < n; ++m) apart(outputs[n], outputs[m]);
  }
}

template <class Memory>
void check_result(const Check& check, const Memory& memory, std::int64_t Dv) {
  const Shape& q = memory.q.shape();
  check_output(check, "out", memory.out, {q[0], q[1], q[2], Dv}, memory.q.dtype());
  check.that(Dv <= 1 || memory.out.strides()[3] == 1, "out", "a last stride of 1", memory.out.strides());
  check_output(check, "lse", memory.lse, {q[0], q[1], q[2]}, lse_dtype(memory.q.dtype()));
}

template <class Memory>
std::array<Named, 3> outputs_of(const Memory& memory) {
  return {Named{"out", reach_of(memory.out)}, Named{"lse", reach_of(memory.lse)},
          Named{"scratch", reach_of(memory.scratch)}};
}

// The entries that the length of sequence b needs.
Reach reach_of_table(const KvCacheView& cache, std::int64_t b) {
  const std::int32_t* entries = cache.pages(b);
  if (entries == nullptr) return {};
  const std::int64_t tokens = cache.buffers().k.dim(2);
  const std::int64_t count = (cache.length(b) - 1) / tokens + 1;
  return reach_of(std::as_bytes(std::span(entries, static_cast<std::size_t>(count))));
}

}  // namespace

DType lse_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

void validate_outputs(std::string_view function, const CallMemory& memory) {
  const Check check(function);
  check_result(check, memory, memory.v.dim(3));
  const std::array<Named, 3> inputs = {Named{"q", reach_of(memory.q)}, Named{"k", reach_of(memory.k)},
                                       Named{"v", reach_of(memory.v)}};
  check_apart(check, inputs, outputs_of(memory));
}

void validate_outputs(std::string_view function, const DecodeMemory& memory) {
  const Check check(function);
  const KvCacheView& cache = memory.cache;
  check_result(check, memory, cache.Dv());
  const auto& [k, v, k_scales, v_scales] = cache.buffers();
  const std::array<Named, 5> inputs = {
      Named{"q", reach_of(memory.q)}, Named{"the cache's k", reach_of(k)}, Named{"the cache's v", reach_of(v)},
      Named{"the cache's k_scales", reach_of(k_scales)}, Named{"the cache's v_scales", reach_of(v_scales)}};
  const auto outputs = outputs_of(memory);
  check_apart(check, inputs, outputs);
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    const Named table = {"the cache's page_table", reach_of_table(cache, b)};
    check_apart(check, {&table, 1}, outputs);
  }
}

void validate_places(std::string_view function, const kernels::BackwardProblem& problem, const GradientPlaces& places) {
  const Check check(function);
  const TensorView& q = problem.problem.q;
  const TensorView& k = problem.problem.k;
  std::vector<Named> inputs = {{"q", reach_of(q)},
                               {"k", reach_of(k)},
                               {"v", reach_of(problem.v)},
                               {"out", reach_of(problem.out)},
                               {"lse", reach_of(problem.lse)},
                               {"d_out", reach_of(problem.d_out)}};
  if (problem.d_lse) inputs.emplace_back("d_lse", reach_of(*problem.d_lse));
  std::vector<Named> outputs;
  const auto take = [&](std::string_view name, const std::optional<MutableTensorView>& place, const TensorView& like) {
    if (!place) return;
    check_output(check, name, *place, like.shape(), like.dtype());
    check.that(like.dim(3) <= 1 || place->strides()[3] == 1, name, "a last stride of 1", place->strides());
    outputs.emplace_back(name, reach_of(*place));
  };
  take("into.d_q", places.d_q, q);
  take("into.d_k", places.d_k, k);
  take("into.d_v", places.d_v, problem.v);
  check_apart(check, inputs, outputs);
}

}  // namespace qkv
