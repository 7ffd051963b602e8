// Answers to why from the numbers of a real head.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "explain/numbers.h"
#include "explain/trained/model_run.h"

namespace qkv::explain_detail {
namespace {

// Those of explain() that compute with the q, k, v and options of the call, not with numbers drawn for the purpose.
constexpr std::array<std::string_view, 5> kOfTheCall = {"no-scale", "order", "mask-after-softmax", "minus-1e9",
                                                        "softmax-axis"};

struct Moments {
  double count = 0;
  double sum = 0;
  double squares = 0;

  [[nodiscard]] double mean() const { return sum / count; }
  [[nodiscard]] double variance() const { return squares / count - mean() * mean(); }
};

// Of the scores of one head that the mask lets pass.
Moments moments_of(const TensorView& scores, const TensorView& masked, std::int64_t head) {
  const std::vector<double> values = matrix_of(scores, head).to_vector();
  const std::vector<double> seen = matrix_of(masked, head).to_vector();
  Moments moments;
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (!std::isfinite(seen[n])) continue;
    ++moments.count;
    moments.sum += values[n];
    moments.squares += values[n] * values[n];
  }
  return moments;
}

Section variance_why(const ModelRun& model_run) {
  const LayerCall& call = model_run.call;
  const auto stage = [&](Stage which) { return attention_stage(call.q, call.k, call.options, which); };
  const Tensor raw = stage(Stage::raw);
  const Tensor scaled = stage(Stage::scaled);
  const Tensor masked = stage(Stage::masked);
  Section why;
  why.id = "variance";
  why.title = fmt::format("Why divide by √d_k? The variance of the scores of layer {}", model_run.layer);
  why.text = fmt::format(
      "q · k adds d_k = {} terms. Training decides how large they are; the division takes the factor d_k out of the "
      "variance, so that softmax starts where it has a gradient. Over the pairs that the mask lets pass in this text.",
      call.q.dim(3));
  Table table{"", {"head", "mean of q·k", "Var(q·k)", "after scaling"}, {}};
  for (std::int64_t h = 0; h < call.q.dim(1); ++h) {
    const Moments before = moments_of(raw, masked, h);
    const Moments after = moments_of(scaled, masked, h);
    table.rows.push_back(
        {whole(h), rounded(before.mean(), 2), rounded(before.variance(), 2), rounded(after.variance(), 3)});
    if (h != static_cast<std::int64_t>(model_run.head)) continue;
    why.finding = fmt::format("the scores of head {} have the variance {}; after scaling, the variance is {}", h,
                              shown(before.variance(), 1), shown(after.variance(), 3));
  }
  why.tables = {std::move(table)};
  return why;
}

}  // namespace

std::vector<Section> whys_of(const ModelRun& model_run, std::vector<Section> all) {
  if (!model_run.whys) return {};
  std::erase_if(all, [](const Section& why) { return std::ranges::find(kOfTheCall, why.id) == kOfTheCall.end(); });
  all.insert(all.begin(), variance_why(model_run));
  return all;
}

}  // namespace qkv::explain_detail
