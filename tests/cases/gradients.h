// The gradients of a case: on a target, by the reference, and as anyone would first write them in f32.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cases/run.h"
#include "cases/scores.h"
#include "qkv/backward.h"

namespace qkv::cases {

/// What a backward is given beside q, k and v: the reference's results, rounded to their types, and gradients of normal
/// numbers, of which d_lse where the seed is even. All laid out as out.
struct Upstream {
  Placed out;
  Placed lse;
  Tensor exact_lse;  // f64, before rounding: the reference's
  Placed d_out;
  Placed d_lse;
  bool has_d_lse;

  [[nodiscard]] static Upstream of(const Case& one, const Inputs& inputs);
};

/// d_q, d_k, d_v, then that of each term of the bias, and d_sinks where there are sinks.
struct Gradient {
  std::string name;
  DType dtype;
  std::vector<double> values;
};
using Gradients = std::vector<Gradient>;

[[nodiscard]] Gradients run_backward_on(std::string_view target, const Case& one, const Inputs& inputs,
                                        const Upstream& upstream, int threads);

/// The reference's answer to the same numbers, but for its own lse, in f64.
[[nodiscard]] Gradients run_reference_backward(const Inputs& inputs, const Upstream& upstream);

/// Bit patterns, NaN of any kind being one: equal bits give equal numbers here.
[[nodiscard]] std::vector<std::uint32_t> bits_of(const Gradients& gradients);

struct PlainGradients {
  Gradients gradients;
  /// For each, the largest error of an element to be expected where every pair's weight, d_weight and delta are off by
  /// their rounding in f32, each by itself, and all weights by what exp is off.
  std::vector<double> luck;
};

/// Rows of weights, by lse where that is fine enough, d_weights and d_scores in f32; weights and d_scores are rounded
/// to the storage type before the products that make d_v, d_q and d_k, as FlashAttention's test does. Biases sum in
/// f64.
[[nodiscard]] PlainGradients run_plain_backward(const Case& one, const Inputs& inputs, const Upstream& upstream);

struct GradientVerdict {
  std::string fault;  // the last one in words; empty where all is well
  double times = 0;   // how far off d_q, d_k and d_v of the worst target are, as a mean multiple of plain loops'
};

/// Whether the case's gradients on every target are no farther from the reference than twice as far as plain loops come
/// at their worst element (three times with a softcap), plus what is luck, and the rounding of the result.
[[nodiscard]] GradientVerdict judge_gradients(const Case& one);

/// Gradients on a target, and for each by how much more than those of one call they may be off.
struct AllowedGradients {
  Gradients gradients;
  std::vector<double> slack;  // none: 0
};
using GradientsOn = std::function<AllowedGradients(std::string_view target, const Inputs& inputs, const Upstream&)>;
[[nodiscard]] GradientVerdict judge_gradients(const Case& one, const GradientsOn& run);

/// The gradients by their names.
[[nodiscard]] Gradients named(const AttentionGradients& gradients);

/// What is wrong with the gradients of any case. Ordinary numbers are judged, NaN and infinities held to
/// spread_fault(); of others, whose products leave the dtype's range, nothing is asked.
[[nodiscard]] std::string gradient_fault(const Case& one);

/// Of a case with NaN and infinities: the first target and gradient that is finite where the reference's is not, or the
/// other way round, in words.
[[nodiscard]] std::string spread_fault(const Case& one);

}  // namespace qkv::cases
