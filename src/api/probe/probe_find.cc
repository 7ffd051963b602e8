// Computes what a probe is asked, one head and one thing after the other.
#include <cmath>
#include <span>

#include "api/fields/refuse.h"
#include "api/probe/probe_parts.h"
#include "core/numbered.h"
#include "qkv/attention.h"
#include "qkv/gradient_probe.h"

namespace qkv {
namespace {

using api_detail::refuse;

Tensor forbidden(const Tensor& masked) {
  Tensor hidden(DType::b8, masked.shape());
  const std::vector<double> scores = masked.to_vector();
  for (std::size_t n = 0; n < scores.size(); ++n) hidden.values<bool>()[n] = scores[n] == -HUGE_VAL;
  return hidden;
}

class Finder {
 public:
  /// `gradients` is there where gradients are asked for.
  Finder(const Probe& probe, const std::optional<GradientProbe>& gradients, const ProbeReply& reply,
         const ProbeReport& report)
      : probe_(probe), gradients_(gradients), choice_(reply.choice), b_(reply.b), report_(report) {}

  [[nodiscard]] ProbeHead head(std::int64_t h) const {
    using api_detail::with_memory_for;
    const HeadPlace place = {b_, h};
    const ProbeStage& stage = choice_.stage;
    ProbeHead found;
    found.h = h;
    if (choice_.map && !choice_.average) found.map = map({&h, 1});
    if (choice_.row) {
      found.row = stage.gradient ? gradients_->row(place, *choice_.row, stage.stage)
                                 : probe_.row(place, *choice_.row, stage.stage);
    }
    if (choice_.tile) with_memory_for("tile", "these numbers of the matrix", [&] { add_tile(found); });
    if (choice_.top_k) {
      found.top = with_memory_for("top_k", "so many keys of each query",
                                  [&] { return probe_.top_keys(place, *choice_.top_k, watch("top keys", h)); });
    }
    if (choice_.key_totals) found.key_totals = probe_.key_totals(place, watch("key totals", h));
    if (choice_.stats) found.statistics = probe_.statistics(place, Align::bottom_right, watch("statistics", h));
    return found;
  }

  /// Of the heads' mean.
  [[nodiscard]] ProbeMap map(std::span<const std::int64_t> heads) const {
    return api_detail::with_memory_for("map", "so many cells", [&] { return map_of(heads); });
  }

 private:
  [[nodiscard]] ProbeMap map_of(std::span<const std::int64_t> heads) const {
    const ProbeWatch watching = watch("map", heads.front());
    const MapRequest request = {
        .b = b_, .heads = {heads.begin(), heads.end()}, .size = *choice_.map, .area = choice_.area, .of = MapOf::mean};
    const CellMaps maps =
        gradients_ ? gradients_->map(request, choice_.stage.stage, watching) : probe_.map(request, watching);
    const Tensor& cells = choice_.reduce == Reduce::mean ? maps.mean : maps.largest;
    return {.cells = cells.select(0, 0), .visible = maps.visible.select(0, 0)};
  }

  void add_tile(ProbeHead& found) const {
    const ProbeStage& stage = choice_.stage;
    Tile tile = *choice_.tile;
    tile.b = b_;
    tile.h = found.h;
    found.tile = stage.gradient ? gradients_->tile(tile, stage.stage) : probe_.tile(tile, stage.stage);
    if (stage.gradient || stage.is_weights()) found.hidden = forbidden(probe_.tile(tile, Stage::masked));
  }

  [[nodiscard]] ProbeWatch watch(std::string_view what, std::int64_t h) const {
    if (!report_) return {};
    return [this, what, h](const ProbeProgress& progress) { return report_(what, h, progress); };
  }

  const Probe& probe_;
  const std::optional<GradientProbe>& gradients_;
  const ProbeChoice& choice_;
  std::int64_t b_;
  const ProbeReport& report_;
};

// The forward call, whose results gradients need, and them.
class Gradients {
 public:
  explicit Gradients(const ProbeInputs& inputs) {
    if (inputs.upstream.d_out.empty()) return;
    const auto& [layout, q, k, v, options] = inputs.problem;
    result_ = attention(q, k, v, options);
    std::optional<TensorView> d_lse;
    if (!inputs.upstream.d_lse.empty()) d_lse = inputs.upstream.d_lse;
    probe_.emplace(inputs.upstream.d_out, q, k, v, result_.out, result_.lse, options, d_lse);
  }

  [[nodiscard]] const std::optional<GradientProbe>& probe() const { return probe_; }

 private:
  AttentionResult result_;
  std::optional<GradientProbe> probe_;
};

}  // namespace

ProbeReply probe(const ProbeRequest& request, const ProbeInputs& inputs, const ProbeReport& report) {
  const AttentionProblem& problem = inputs.problem;
  std::optional<TensorView> lse;
  if (!inputs.lse.empty()) lse = inputs.lse;
  const Probe probe(problem.q, problem.k, problem.options, lse);
  ProbeReply reply{
      .choice = probe_choice(request), .shape = probe.shape(), .b = request.batch, .heads = {}, .average = {}};
  api_detail::fit(reply.choice, reply.shape);
  if (reply.shape.B == 0) refuse("q", "B >= 1 in [B, Hq, Tq, D]", problem.q.shape().to_string());
  if (reply.b < 0 || reply.b >= reply.shape.B) {
    refuse("batch", core::numbered("entry", reply.shape.B), std::to_string(reply.b));
  }
  const std::vector<std::int64_t> heads = api_detail::heads_of(request, reply.shape.H);
  if (!request.lse.empty()) api_detail::check_lse(request.lse, inputs.lse, problem, reply.b, heads);
  const Gradients gradients(inputs);
  const Finder finder(probe, gradients.probe(), reply, report);
  if (reply.choice.map && reply.choice.average) reply.average = finder.map(heads);
  for (const std::int64_t h : heads) reply.heads.push_back(finder.head(h));
  return reply;
}

}  // namespace qkv
