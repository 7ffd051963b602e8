#include "attention/fused_backward.h"

#include <memory>
#include <new>
#include <vector>

#include "attention/fused_segments.h"
#include "kernels/cpu/backward.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using kernels::BackwardProblem;
using kernels::cpu::Backward;
using kernels::cpu::BackwardSegment;
using kernels::cpu::GradientRows;

// A view whose last stride is 1: the given one or a copy.
class RowsOf {
 public:
  explicit RowsOf(const TensorView& view) : view_(view) {
    if (view.strides()[view.rank() - 1] == 1) return;
    copy_ = Tensor(view);
    view_ = copy_;
  }

  RowsOf(const RowsOf&) = delete;
  RowsOf& operator=(const RowsOf&) = delete;

  [[nodiscard]] const TensorView& view() const { return view_; }

 private:
  Tensor copy_;
  TensorView view_;
};

GradientRows rows_of(const MutableTensorView& view) {
  return {.base = static_cast<std::byte*>(view.data()),
          .dtype = view.dtype(),
          .head_stride = view.strides()[0],
          .row_stride = view.strides()[1]};
}

struct BackwardTensors {
  RowsOf q;
  RowsOf k;
  RowsOf v;
  RowsOf out;
  RowsOf d_out;
};

BackwardSegment segment_of(const FusedCall& call, const BackwardProblem& problem, const BackwardTensors& whole,
                           std::int64_t b) {
  BackwardSegment segment;
  segment.forward = segment_of(call, {.q = whole.q.view(), .k = whole.k.view(), .v = whole.v.view()}, b);
  segment.out = queries_of(call, whole.out.view(), b);
  segment.lse = queries_of(call, problem.lse, b);
  segment.d_out = queries_of(call, whole.d_out.view(), b);
  if (problem.d_lse) segment.d_lse = queries_of(call, *problem.d_lse, b);
  if (problem.d_q) segment.d_q = rows_of(queries_of(call, *problem.d_q, b));
  if (problem.d_k) segment.d_k = rows_of(keys_of(call, *problem.d_k, b));
  if (problem.d_v) segment.d_v = rows_of(keys_of(call, *problem.d_v, b));
  return segment;
}

struct Free {
  void operator()(std::byte* block) const { ::operator delete[](block, kAlignment); }
  static constexpr std::align_val_t kAlignment{64};
};

}  // namespace

void run_fused_backward(const FusedCall& call, const BackwardProblem& problem) {
  const BackwardTensors whole = {.q = RowsOf(call.problem.q),
                                 .k = RowsOf(call.problem.k),
                                 .v = RowsOf(call.v),
                                 .out = RowsOf(problem.out),
                                 .d_out = RowsOf(problem.d_out)};
  Plans plans(call);
  std::vector<BackwardSegment> segments;
  for (std::size_t n = 0; n < segments_of(call); ++n) {
    segments.push_back(segment_of(call, problem, whole, static_cast<std::int64_t>(n)));
    plans.give(segments.back().forward);
  }
  const Backward backward = {.forward = forward_of(call, {}), .segments = segments};
  const int workers = call.options.threads.value_or(threads());
  const std::size_t bytes = kernels::cpu::scratch_bytes(call.target, backward, workers);
  const std::unique_ptr<std::byte[], Free> scratch(  // NOLINT: left uninitialised
      static_cast<std::byte*>(::operator new[](bytes, Free::kAlignment)));
  kernels::cpu::backward(call.target, backward, workers, {scratch.get(), bytes});
}

}  // namespace qkv
