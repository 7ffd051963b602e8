#include "qkv/backward.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "attention/fused_backward.h"
#include "attention/outputs.h"
#include "attention/ragged.h"
#include "attention/validate.h"
#include "attention/validate_backward.h"
#include "core/watched.h"
#include "kernels/lse_rows.h"
#include "kernels/parameter_gradients.h"
#include "kernels/reference/backward.h"
#include "kernels/targets.h"
#include "mask/bias_node.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using kernels::BackwardProblem;
using kernels::SharedGradients;

constexpr std::string_view kBackward = "attention_backward";

// A bias applies to each document by itself, so all documents share its elements.
MaskShape shape_of_bias(const BackwardProblem& problem, const AttentionOptions& options) {
  const bool has_document = options.ragged && documents_of(*options.ragged) > 0;
  return has_document ? document_shape(problem.problem, *options.ragged, 0) : problem.problem.shape;
}

void fill_with_zeros(const MutableTensorView& view) {
  const std::size_t bytes = static_cast<std::size_t>(view.dim(3)) * size_of(view.dtype());
  for (std::int64_t b = 0; b < view.dim(0); ++b) {
    for (std::int64_t h = 0; h < view.dim(1); ++h) {
      const MutableTensorView rows = view.select(0, b).select(0, h);
      const std::int64_t step = rows.strides()[0] * static_cast<std::int64_t>(size_of(view.dtype()));
      for (std::int64_t t = 0; t < rows.dim(0); ++t) {
        std::memset(static_cast<std::byte*>(rows.data()) + t * step, 0, bytes);
      }
    }
  }
}

AttentionGradients allocated(const BackwardProblem& problem, const AttentionOptions& options,
                             const GradientWants& wants, const GradientPlaces& places) {
  const auto like = [](const TensorView& x, bool wanted, const std::optional<MutableTensorView>& place) {
    return wanted && !place ? Tensor(x.dtype(), x.shape()) : Tensor();
  };
  const TensorView& q = problem.problem.q;
  AttentionGradients gradients;
  gradients.d_q = like(q, wants.q, places.d_q);
  gradients.d_k = like(problem.problem.k, wants.k, places.d_k);
  gradients.d_v = like(problem.problem.v, wants.v, places.d_v);
  if (wants.bias) {
    const MaskShape shape = shape_of_bias(problem, options);
    for (const bias_detail::TermNode* term : bias_detail::term_nodes(problem.problem.bias)) {
      gradients.d_bias.emplace_back(lse_dtype(q.dtype()), term->gradient_shape(shape));
    }
  }
  if (wants.sinks && !options.sinks.empty()) gradients.d_sinks = Tensor(lse_dtype(q.dtype()), {q.dim(1)});
  return gradients;
}

// The memory of a gradient. Kernels write only what they visit, so it starts as zeros.
std::optional<MutableTensorView> place_of(bool wanted, Tensor& own, const std::optional<MutableTensorView>& given) {
  if (!wanted) return std::nullopt;
  if (!given) return own;
  fill_with_zeros(*given);
  return given;
}

BackwardProblem document_problem(const BackwardProblem& whole, const AttentionOptions& options, std::int64_t n) {
  const auto [queries, keys] = document_of(*options.ragged, n);
  const auto of_queries = [begin = queries.begin, end = queries.end](const auto& x) { return x.slice(2, begin, end); };
  const auto of_keys = [begin = keys.begin, end = keys.end](const auto& x) { return x.slice(2, begin, end); };
  BackwardProblem own = {.problem = document_problem(whole.problem, options, n),
                         .out = of_queries(whole.out),
                         .lse = of_queries(whole.lse),
                         .d_out = of_queries(whole.d_out)};
  if (whole.d_lse) own.d_lse = of_queries(*whole.d_lse);
  if (whole.d_q) own.d_q = of_queries(*whole.d_q);
  if (whole.d_k) own.d_k = of_keys(*whole.d_k);
  if (whole.d_v) own.d_v = of_keys(*whole.d_v);
  return own;
}

// The call split into documents, or the call itself if it is not ragged.
std::vector<BackwardProblem> documents_of(const BackwardProblem& whole, const AttentionOptions& options) {
  if (!options.ragged) return {whole};
  std::vector<BackwardProblem> documents;
  documents.reserve(static_cast<std::size_t>(documents_of(*options.ragged)));
  for (std::int64_t n = 0; n < documents_of(*options.ragged); ++n) {
    documents.push_back(document_problem(whole, options, n));
  }
  return documents;
}

void run_reference(const BackwardProblem& problem, const AttentionOptions& options, AttentionGradients& gradients) {
  SharedGradients shared;
  for (const Tensor& gradient : gradients.d_bias) shared.bias.emplace_back(DType::f64, gradient.shape());
  if (!gradients.d_sinks.empty()) shared.sinks.resize(options.sinks.size());
  for (const BackwardProblem& document : documents_of(problem, options)) {
    kernels::reference::backward(document, shared);
  }
  for (std::size_t n = 0; n < shared.bias.size(); ++n) {
    gradients.d_bias[n] = shared.bias[n].to(gradients.d_bias[n].dtype());
  }
  for (std::size_t h = 0; h < shared.sinks.size(); ++h) {
    gradients.d_sinks.set({static_cast<std::int64_t>(h)}, shared.sinks[h]);
  }
}

// Documents in windows of their own use other elements of a bias by the same tile, so each has a pass of its own.
void write_bias_gradients(std::span<const BackwardProblem> documents, const AttentionOptions& options,
                          const kernels::cpu::Target& target, int workers, std::vector<Tensor>& gradients) {
  if (options.within.size() <= 1) return kernels::write_bias_gradients(documents, target, workers, gradients);
  std::vector<Tensor> sums;
  std::vector<Tensor> terms;
  for (const Tensor& gradient : gradients) {
    sums.emplace_back(DType::f64, gradient.shape());
    terms.emplace_back(gradient.dtype(), gradient.shape());
  }
  for (const BackwardProblem& document : documents) {
    kernels::write_bias_gradients({&document, 1}, target, workers, terms);
    for (std::size_t n = 0; n < sums.size(); ++n) {
      std::ranges::transform(sums[n].values<double>(), std::as_const(terms[n]).values<float>(),
                             sums[n].values<double>().begin(), std::plus<double>());
      std::ranges::fill(terms[n].values<float>(), 0.0F);
    }
  }
  for (std::size_t n = 0; n < sums.size(); ++n) gradients[n] = sums[n].to(gradients[n].dtype());
}

void run_fused(const kernels::cpu::Target& target, const BackwardProblem& problem, const AttentionOptions& options,
               std::span<std::byte> scratch, AttentionGradients& gradients) {
  if (problem.d_q || problem.d_k || problem.d_v) {
    run_fused_backward({.target = target, .problem = problem.problem, .options = options}, problem, scratch);
  }
  if (gradients.d_bias.empty() && gradients.d_sinks.empty()) return;
  std::vector<BackwardProblem> documents = documents_of(problem, options);
  const int workers = options.threads.value_or(threads());
  std::vector<Tensor> settled;  // tensors that the documents view
  for (BackwardProblem& document : documents) {
    settled.push_back(kernels::settled_lse(document.problem, document.lse, target, workers));
    document.lse = settled.back();
  }
  write_bias_gradients(documents, options, target, workers, gradients.d_bias);
  if (!gradients.d_sinks.empty()) kernels::write_sink_gradient(documents, target, workers, gradients.d_sinks);
}

}  // namespace

AttentionGradients attention_backward(const TensorView& d_out, const TensorView& q, const TensorView& k,
                                      const TensorView& v, const TensorView& out, const TensorView& lse,
                                      const AttentionOptions& options, const BackwardOptions& backward) {
  BackwardProblem problem = {.problem = validated_batch(kBackward, q, k, v, options),
                             .out = out,
                             .lse = lse,
                             .d_out = d_out,
                             .d_lse = backward.d_lse};
  validate_backward(kBackward, problem);
  validate_places(kBackward, problem, backward);
  const core::Watched watched(options.watch);
  const std::string_view target = kernels::target_for(kBackward, q.dtype(), options.target);
  AttentionGradients gradients = allocated(problem, options, backward.wants, backward.into);
  problem.d_q = place_of(backward.wants.q, gradients.d_q, backward.into.d_q);
  problem.d_k = place_of(backward.wants.k, gradients.d_k, backward.into.d_k);
  problem.d_v = place_of(backward.wants.v, gradients.d_v, backward.into.d_v);
  if (const kernels::cpu::Target* fused = kernels::cpu::find_target(target); fused != nullptr) {
    run_fused(*fused, problem, options, backward.scratch, gradients);
  } else {
    run_reference(problem, options, gradients);
  }
  return gradients;
}

std::size_t attention_backward_scratch_bytes(const TensorView& d_out, const TensorView& q, const TensorView& k,
                                             const TensorView& v, const TensorView& out, const TensorView& lse,
                                             const AttentionOptions& options, const BackwardOptions& backward) {
  constexpr std::string_view kFunction = "attention_backward_scratch_bytes";
  const BackwardProblem problem = {.problem = validated_batch(kFunction, q, k, v, options),
                                   .out = out,
                                   .lse = lse,
                                   .d_out = d_out,
                                   .d_lse = backward.d_lse};
  validate_backward(kFunction, problem);
  const auto* fused = kernels::cpu::find_target(kernels::target_for(kFunction, q.dtype(), options.target));
  const GradientWants& wants = backward.wants;
  if (fused == nullptr || !(wants.q || wants.k || wants.v)) return 0;
  return backward_scratch_bytes({.target = *fused, .problem = problem.problem, .options = options}, problem);
}

}  // namespace qkv
