#include "kernels/fused_call.h"

#include "kernels/cpu/forward_run.h"
#include "qkv/targets.h"

namespace qkv::kernels {

Tensor normal(std::mt19937_64& engine, const Shape& shape, DType dtype) {
  std::normal_distribution<double> draw;
  Tensor tensor(DType::f64, shape);
  for (double& value : tensor.values<double>()) value = draw(engine);
  return tensor.to(dtype);
}

NormalQkv::NormalQkv(DType dtype, const Sizes& chosen, std::uint64_t seed) : engine(seed), sizes(chosen) {
  q = normal(engine, {sizes.B, sizes.Hk * sizes.group, sizes.Tq, sizes.D}, dtype);
  k = normal(engine, {sizes.B, sizes.Hk, sizes.Tk, sizes.D}, dtype);
  v = normal(engine, {sizes.B, sizes.Hk, sizes.Tk, sizes.Dv}, dtype);
}

Problem NormalQkv::problem(double scale) const {
  return {.q = q,
          .k = k,
          .shape = {.B = sizes.B, .H = sizes.Hk * sizes.group, .Tq = sizes.Tq, .Tk = sizes.Tk},
          .group = sizes.group,
          .scale = scale};
}
namespace {

cpu::KvHeads heads_of(const TensorView& rows, std::int64_t b) {
  const auto bytes = static_cast<std::int64_t>(size_of(rows.dtype()));
  return {.first = {.base = static_cast<const std::byte*>(rows.data()) + b * rows.strides()[0] * bytes,
                    .dtype = rows.dtype(),
                    .row_stride_bytes = rows.strides()[2] * bytes},
          .head_stride_bytes = rows.strides()[1] * bytes};
}

}  // namespace

Results fused_call(const cpu::Target& target, const Problem& problem, const TensorView& v, int threads) {
  const MaskShape& shape = problem.shape;
  const std::int64_t Dv = v.dim(3);
  Results result = {.out = Tensor(problem.q.dtype(), {shape.B, shape.H, shape.Tq, Dv}),
                    .lse = Tensor(DType::f32, {shape.B, shape.H, shape.Tq})};
  const TilePlan plan(problem.mask, shape, {.queries = kTile, .keys = kTile});
  const auto bytes = static_cast<std::int64_t>(size_of(problem.q.dtype()));
  std::vector<cpu::Segment> segments;
  segments.reserve(static_cast<std::size_t>(shape.B));
  for (std::int64_t b = 0; b < shape.B; ++b) {
    segments.push_back({.b = b,
                        .shape = shape,
                        .plan = &plan,
                        .plan_b = b,
                        .q = problem.q.select(0, b),
                        .k = heads_of(problem.k, b),
                        .v = heads_of(v, b),
                        .out = static_cast<std::byte*>(result.out.data()) + b * shape.H * shape.Tq * Dv * bytes,
                        .out_dtype = result.out.dtype(),
                        .out_head_stride = shape.Tq * Dv,
                        .out_row_stride = Dv,
                        .lse = reinterpret_cast<std::byte*>(result.lse.values<float>().data() + b * shape.H * shape.Tq),
                        .lse_head_stride = shape.Tq,
                        .lse_row_stride = 1});
  }
  const cpu::Forward call = {.segments = segments,
                             .problem = &problem,
                             .dtype = problem.q.dtype(),
                             .Hq = shape.H,
                             .Hk = shape.H / problem.group,
                             .D = problem.q.dim(3),
                             .Dv = Dv};
  cpu::ForwardRun run(target, call, threads);
  const std::size_t size = run.scratch_bytes();
  Tensor scratch(DType::f32, {static_cast<std::int64_t>(size / sizeof(float))});
  run.run({static_cast<std::byte*>(scratch.data()), size});
  return result;
}

Results fused_call(std::string_view target, const Problem& problem, const TensorView& v, int threads) {
  return fused_call(*cpu::find_target(target), problem, v, threads);
}

std::vector<std::string_view> fused_targets() {
  static const std::vector<CpuTarget> kTargets = cpu_targets();
  std::vector<std::string_view> names;
  for (const CpuTarget& target : kTargets) {
    if (target.runs_here && cpu::find_target(target.name) != nullptr) names.emplace_back(target.name);
  }
  return names;
}

}  // namespace qkv::kernels
