#include "qkv/gradient_probe.h"

#include <algorithm>

#include "attention/validate.h"
#include "attention/validate_backward.h"
#include "kernels/gradient_tiles.h"
#include "kernels/targets.h"
#include "probe/gradient_probe_state.h"
#include "probe/probe_places.h"

namespace qkv {

namespace {

constexpr std::string_view kFunction = "GradientProbe";

template <class Real>
Tensor tile_of(const kernels::BackwardProblem& problem, const kernels::cpu::Target* target, const kernels::LseRows& lse,
               const Tile& wanted, Stage stage) {
  using kernels::kTile;
  const std::int64_t columns = wanted.j_end - wanted.j_begin;
  Tensor result(dtype_of_v<Real>, {wanted.i_end - wanted.i_begin, columns});
  const std::span<Real> values = result.values<Real>();
  kernels::GradientTiles<Real> tiles(problem, target, lse);
  for (std::int64_t i = wanted.i_begin; i < wanted.i_end; i += kTile) {
    tiles.set_queries(wanted.b, wanted.h, i, std::min(i + kTile, wanted.i_end));
    for (std::int64_t j = wanted.j_begin; j < wanted.j_end; j += kTile) {
      if (!tiles.set_keys({j, std::min(j + kTile, wanted.j_end)})) continue;
      const kernels::ScoreTile<Real>& tile = tiles.by(stage);
      for (std::int64_t n = 0; n < tiles.queries(); ++n) {
        Real* row = values.data() + (i - wanted.i_begin + n) * columns + (j - wanted.j_begin);
        for (std::int64_t c = 0; c < tiles.keys(); ++c) row[c] = tile[static_cast<std::size_t>(c * kTile + n)];
      }
    }
  }
  return result;
}

}  // namespace

GradientProbe::GradientProbe(const TensorView& d_out, const TensorView& q, const TensorView& k, const TensorView& v,
                             const TensorView& out, const TensorView& lse, const AttentionOptions& options,
                             std::optional<TensorView> d_lse) {
  require_no_ragged(kFunction, options);
  kernels::BackwardProblem problem = {
      .problem = validated_batch(kFunction, q, k, v, options), .out = out, .lse = lse, .d_out = d_out, .d_lse = d_lse};
  validate_backward(kFunction, problem);
  const std::string_view target = kernels::target_for(kFunction, q.dtype(), options.target);
  state_ = std::make_unique<const State>(std::move(problem), options.threads, kernels::cpu::find_target(target));
}

GradientProbe::GradientProbe(GradientProbe&&) noexcept = default;
GradientProbe& GradientProbe::operator=(GradientProbe&&) noexcept = default;
GradientProbe::~GradientProbe() = default;

const MaskShape& GradientProbe::shape() const noexcept { return state_->problem.problem.shape; }

Tensor GradientProbe::tile(const Tile& tile, Stage stage) const {
  probe_detail::check_tile("GradientProbe::tile", tile, shape());
  if (state_->target == nullptr) return tile_of<double>(state_->problem, nullptr, state_->lse, tile, stage);
  return tile_of<float>(state_->problem, state_->target, state_->lse, tile, stage);
}

Tensor GradientProbe::row(HeadPlace head, std::int64_t i, Stage stage) const {
  probe_detail::check_row("GradientProbe::row", head, i, shape());
  return tile({head.b, head.h, i, i + 1, 0, shape().Tk}, stage).reshaped({shape().Tk});
}

}  // namespace qkv
