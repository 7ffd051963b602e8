#include "insight/outcome.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "insight/question.h"
#include "insight/removed_heads.h"
#include "insight/text_batch.h"
#include "model/require_finite.h"

namespace qkv::insight {
namespace {

std::string last_state_name(const Model& model) {
  const SiteScope scope = said_scope(model);
  const NetworkParts parts = model.parts();
  if (parts.image_encoder != nullptr) return scope.stack + "ln_final";
  const NormOrder order = parts.decoder != nullptr ? parts.decoder->options().order : parts.encoder->options().order;
  if (order != NormOrder::post) return scope.stack + "ln_final";
  return fmt::format("{}blocks.{}", scope.stack, scope.layers - 1);
}

double cosine_between(const std::vector<double>& a, const std::vector<double>& b) {
  const auto product = [](const auto& x, const auto& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  if (a == b) return 1;
  return product(a, b) / std::sqrt(product(a, a) * product(b, b));
}

std::vector<double> row_of_matrix(const Tensor& matrix, std::int64_t row) {
  return matrix.view().select(0, row).to_vector();
}

}  // namespace

Outcome outcome_of(const Model& model) {
  if (model.traits().is_pair) return Outcome::pair;
  const ImageEncoder* const images = model.parts().image_encoder;
  if (images != nullptr && images->options().classes > 0) return Outcome::classes;
  return model.scores_tokens() ? Outcome::scores : Outcome::states;
}

std::vector<std::string> outcome_names(const Model& model) {
  switch (outcome_of(model)) {
    case Outcome::pair:
      return {"image_map", "text_map"};
    case Outcome::states:
      return {last_state_name(model)};
    case Outcome::scores:
    case Outcome::classes:
      break;
  }
  return {logits_name(model)};
}

Tensor outcome_in(const Model& model, std::span<const Tensor> values, std::int64_t row) {
  if (values.size() == 1) {
    const TensorView all = values.front().view();
    const bool is_one = all.rank() == 2;  // row of classes
    Tensor outcome(is_one ? all.slice(0, row, row + 1) : all.select(0, row), DType::f64);
    require_numbers(model, kQuestion, "what the model says of the text", std::as_const(outcome).values<double>());
    return outcome;
  }
  Tensor pair(DType::f64, {2, values.front().dim(1)});
  for (std::int64_t n = 0; n < 2; ++n) {
    const std::vector<double> vector = values[static_cast<std::size_t>(n)].view().select(0, row).to_vector();
    require_numbers(model, kQuestion, "the vectors of picture and text", vector);
    pair.store_row(std::array{n}, vector);
  }
  return pair;
}

Tensor outcome_left(const Model& model, const Trace& trace) {
  return outcome_in(model, values_in(trace, outcome_names(model)), 0);
}

Tensor run_outcome(const Model& model, const HeadText& text, Trace& trace) {
  run_text(model, text, trace);
  return outcome_left(model, trace);
}

StateCosines cosines_of(const Tensor& before, const Tensor& after, const EmbedOptions& vectors) {
  StateCosines cosines;
  for (std::int64_t t = 0; t < before.dim(0); ++t) {
    cosines.states.push_back(cosine_between(row_of_matrix(before, t), row_of_matrix(after, t)));
  }
  cosines.vector = cosine_between(vector_of_states(before, vectors), vector_of_states(after, vectors));
  return cosines;
}

double cosine_of_pair(const Tensor& pair) { return cosine_between(row_of_matrix(pair, 0), row_of_matrix(pair, 1)); }

std::vector<std::string> stream_names(const SiteScope& scope) {
  std::vector<std::string> names = {fmt::format("{}blocks.0.resid_pre", scope.stack)};
  for (std::int64_t n = 0; n < scope.layers; ++n) names.push_back(fmt::format("{}blocks.{}", scope.stack, n));
  return names;
}

SiteScope said_scope(const Model& model) {
  const std::optional<SiteScope> tokens = model.scope_of(AttentionSite::tokens);
  return tokens ? *tokens : *model.scope_of(AttentionSite::source);
}

std::string logits_name(const Model& model) {
  return model.traits().sees ? "classes" : model.scope_of(AttentionSite::tokens)->stack + "logits";
}

}  // namespace qkv::insight
