// Exact attention. docs/semantics.md writes down what every option means.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "qkv/bias.h"
#include "qkv/mask.h"
#include "qkv/tensor.h"

namespace qkv {

struct Dropout {
  double p = 0.0;  // in [0, 1)
  std::uint64_t seed = 0;
};

/// The T x T intermediates in the order in which they are made.
enum class Stage : std::uint8_t {
  raw,         // q . k
  scaled,      // * scale
  softcapped,  // c * tanh(x / c)
  biased,      // + bias
  masked,      // hidden pairs are -inf
  weights,     // softmax of each row; a row that sees nothing is zero
  dropped,     // dropout: 0, or weight / (1 - p)
};
inline constexpr int kStages = 7;
[[nodiscard]] std::string_view name_of(Stage stage) noexcept;

struct AttentionOptions {
  std::optional<double> scale = std::nullopt;    // 1 / sqrt(D) where not given
  std::optional<double> softcap = std::nullopt;  // > 0
  Bias bias = {};
  Mask mask = {};
  std::optional<Dropout> dropout = std::nullopt;
};

struct AttentionResult {
  Tensor out;  // [B, Hq, Tq, Dv], the dtype of q
  Tensor lse;  // [B, Hq, Tq], log of the sum of exp of the masked scores; -inf where a row sees nothing. f64 if q is,
               // else f32
};

/// softmax(mask(softcap(scale * q k^T) + bias)) v, with the rows of `k` and `v` that no query may see never read.
/// q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv], all of one floating dtype, any strides; Hq a multiple of Hk.
/// Sums in f64 (reference target). Allocates the result and a few rows of scratch. Throws InvalidArgument naming q, k,
/// v, scale, softcap, mask, bias or dropout. Vaswani et al. 2017, section 3.2.
[[nodiscard]] AttentionResult attention(const TensorView& q, const TensorView& k, const TensorView& v,
                                        const AttentionOptions& options = {});

/// One T x T intermediate as a tensor [B, Hq, Tq, Tk] of `dtype`: this one does allocate T x T.
/// For `raw`, `scaled`, `softcapped` and `biased` hidden pairs hold their true numbers; from `masked` on they are -inf
/// or 0.
[[nodiscard]] Tensor attention_stage(const TensorView& q, const TensorView& k, const AttentionOptions& options,
                                     Stage stage, DType dtype = DType::f64);

}  // namespace qkv
