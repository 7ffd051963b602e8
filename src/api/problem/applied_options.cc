#include <fmt/format.h>

#include <cmath>

#include "api/replies/lines.h"
#include "qkv/api/problem.h"
#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

constexpr int kMostText = 200;  // a text that goes on for more than a screen tells nobody anything

double scale_of(const AttentionProblem& problem) {
  return problem.options.scale.value_or(1 / std::sqrt(static_cast<double>(problem.q.dim(3))));
}

std::string_view target_of(const AttentionProblem& problem) {
  return attention_target(problem.q.dtype(), {.target = problem.options.target});
}

}  // namespace

std::string applied_as_text(const AttentionProblem& problem, int width) {
  const AttentionOptions& options = problem.options;
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    text += api_detail::named_lines(name, fit_to_width(value, kMostText, " …"), width);
  };
  add("scale", fmt::format("{}{}", scale_of(problem), options.scale ? "" : " (1 / sqrt(D))"));
  if (options.softcap) add("softcap", fmt::to_string(*options.softcap));
  if (!options.bias.is_zero()) add("bias", options.bias.to_string());
  add("mask", options.mask.to_string());
  if (options.dropout) add("dropout", fmt::format("p = {}, seed {}", options.dropout->p, options.dropout->seed));
  if (!options.sinks.empty()) add("sinks", fmt::format("{}", fmt::join(options.sinks, ", ")));
  add("target", std::string(target_of(problem)));
  return text;
}

AppliedOptions applied_options(const AttentionProblem& problem) {
  const AttentionOptions& options = problem.options;
  AppliedOptions applied;
  applied.scale = scale_of(problem);
  applied.softcap = options.softcap;
  if (!options.bias.is_zero()) applied.bias = options.bias.to_string();
  applied.mask = options.mask.to_string();
  if (options.dropout) applied.dropout = {.p = options.dropout->p, .seed = options.dropout->seed};
  applied.sinks.assign(options.sinks.begin(), options.sinks.end());
  applied.target = target_of(problem);
  return applied;
}

MatrixExtents matrix_extents(const MaskShape& shape) {
  const auto [B, H, Tq, Tk] = shape;
  return {.B = B, .Hq = H, .Tq = Tq, .Tk = Tk};
}

Members<MatrixExtents> describe(const MatrixExtents* /*type*/) {
  using E = MatrixExtents;
  return Members<E>("MatrixExtents")
      .add(&E::B, "B", "Batch entries")
      .add(&E::Hq, "Hq", "Query heads")
      .add(&E::Tq, "Tq", "Queries")
      .add(&E::Tk, "Tk", "Keys");
}

Members<AppliedDropout> describe(const AppliedDropout* /*type*/) {
  return Members<AppliedDropout>("AppliedDropout")
      .add(&AppliedDropout::p, "p", "With which probability a weight is dropped")
      .add(&AppliedDropout::seed, "seed", "By which it is drawn");
}

Members<AppliedOptions> describe(const AppliedOptions* /*type*/) {
  using A = AppliedOptions;
  return Members<A>("AppliedOptions")
      .add(&A::scale, "scale", "Factor of the scores")
      .add(&A::softcap, "softcap", "c * tanh(x / c)")
      .add(&A::bias, "bias", "Added to the scores")
      .add(&A::mask, "mask", "As it was read")
      .add(&A::dropout, "dropout", "Of the weights")
      .add(&A::sinks, "sinks", "Of each head; empty without any")
      .add(&A::target, "target", "The kernels that ran");
}

}  // namespace qkv
