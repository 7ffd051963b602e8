#include "attention/outputs.h"

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "attention/check.h"

namespace qkv {
namespace {

bool meet(const Reach& one, const Reach& other) {
  return one.begin < one.end && other.begin < other.end && one.begin < other.end && other.begin < one.end;
}

// Each stride exceeds the reach of all smaller ones, as in any slice or transposition of a dense tensor.
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

// Results and gradients of 16-bit inputs may be written in f32, too, so that sums of several are rounded once.
DType written_dtype(const TensorView& input, const TensorView& place) {
  return size_of(input.dtype()) == 2 && place.dtype() == DType::f32 ? DType::f32 : input.dtype();
}

// The lse of results in f32 and 16 bits may be written in f64, too, for the same sums.
void check_lse(const Check& check, const TensorView& lse, const Shape& shape, DType of_results) {
  check_output(check, "lse", lse, shape, lse.dtype());
  const bool is_wide = of_results == DType::f64;
  check.that(lse.dtype() == DType::f64 || lse.dtype() == lse_dtype(of_results), "lse", is_wide ? "f64" : "f32 or f64",
             lse.dtype());
}

// The same elements at the same places: each row is read before it is written.
bool are_same(const TensorView& one, const TensorView& other) {
  return one.data() == other.data() && one.dtype() == other.dtype() && one.shape() == other.shape() &&
         one.strides() == other.strides();
}

// No output overlaps an input or another output.
void check_apart(const Check& check, std::span<const NamedReach> inputs, std::span<const NamedReach> outputs) {
  const auto apart = [&](const NamedReach& one, const NamedReach& other) {
    check.that(
        !meet(one.second, other.second), one.first,
        [&] { return fmt::format("memory apart from that of {}", other.first); },
        "some that reaches over the same bytes");
  };
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    for (const NamedReach& input : inputs) apart(outputs[n], input);
    for (std::size_t m = 0; m < n; ++m) apart(outputs[n], outputs[m]);
  }
}

}  // namespace

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

DType lse_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

void validate_outputs(std::string_view function, const OutputMemory& memory, std::span<const NamedReach> inputs) {
  const Check check(function);
  const Shape& q = memory.q.shape();
  check_output(check, "out", memory.out, {q[0], q[1], q[2], memory.Dv}, written_dtype(memory.q, memory.out));
  check.that(memory.Dv <= 1 || memory.out.strides()[3] == 1, "out", "a last stride of 1", memory.out.strides());
  check_lse(check, memory.lse, {q[0], q[1], q[2]}, memory.q.dtype());
  validate_apart(function, memory, inputs);
}

void validate_apart(std::string_view function, const OutputMemory& memory, std::span<const NamedReach> inputs) {
  const std::array<NamedReach, 3> outputs = {NamedReach{"out", reach_of(memory.out)},
                                             NamedReach{"lse", reach_of(memory.lse)},
                                             NamedReach{"scratch", reach_of(memory.scratch)}};
  check_apart(Check(function), inputs, outputs);
}

void validate_merged(std::string_view function, const MutableTensorView& out, const MutableTensorView& lse,
                     std::span<const PartialAttention> parts) {
  const Check check(function);
  const TensorView& like = parts.front().out;
  check.that(is_floating(out.dtype()), "out", "f64, f32, f16 or bf16", out.dtype());
  check_output(check, "out", out, like.shape(), out.dtype());
  check.that(like.dim(3) <= 1 || out.strides()[3] == 1, "out", "a last stride of 1", out.strides());
  check_lse(check, lse, like.shape().without(3), like.dtype());
  std::vector<NamedReach> inputs;
  const auto read_apart = [&](const TensorView& part, const TensorView& written, std::string_view name) {
    if (!are_same(part, written)) inputs.emplace_back(name, reach_of(part));
  };
  for (const PartialAttention& part : parts) {
    read_apart(part.out, out, "a part's out");
    read_apart(part.lse, lse, "a part's lse");
  }
  const std::array<NamedReach, 2> outputs = {NamedReach{"out", reach_of(out)}, NamedReach{"lse", reach_of(lse)}};
  check_apart(check, inputs, outputs);
}

void validate_places(std::string_view function, const kernels::BackwardProblem& problem,
                     const BackwardOptions& backward) {
  const Check check(function);
  const GradientPlaces& places = backward.into;
  const TensorView& q = problem.problem.q;
  const TensorView& k = problem.problem.k;
  const std::array<NamedReach, 7> inputs = {NamedReach{"q", reach_of(q)},
                                            NamedReach{"k", reach_of(k)},
                                            NamedReach{"v", reach_of(problem.problem.v)},
                                            NamedReach{"out", reach_of(problem.out)},
                                            NamedReach{"lse", reach_of(problem.lse)},
                                            NamedReach{"d_out", reach_of(problem.d_out)},
                                            NamedReach{"d_lse", problem.d_lse ? reach_of(*problem.d_lse) : Reach{}}};
  const auto taken = [&](std::string_view name, const std::optional<MutableTensorView>& place, const TensorView& like) {
    if (!place) return NamedReach{name, {}};
    check_output(check, name, *place, like.shape(), written_dtype(like, *place));
    check.that(like.dim(3) <= 1 || place->strides()[3] == 1, name, "a last stride of 1", place->strides());
    return NamedReach{name, reach_of(*place)};
  };
  const std::array<NamedReach, 4> outputs = {taken("into.d_q", places.d_q, q), taken("into.d_k", places.d_k, k),
                                             taken("into.d_v", places.d_v, problem.problem.v),
                                             NamedReach{"scratch", reach_of(backward.scratch)}};
  check_apart(check, inputs, outputs);
}

}  // namespace qkv
