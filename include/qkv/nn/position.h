// Position encodings: vectors added to the embeddings, and rotations of q and k. ALiBi and T5's buckets, which are
// biases on the scores, are in qkv/bias.h.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "qkv/autograd/rotary.h"
#include "qkv/tensor.h"

namespace qkv {

/// [T, d_model]: column 2i holds sin(t / base^(2i / d_model)), column 2i + 1 the cosine of the same angle; an odd
/// d_model ends on a sine that has no cosine. Vaswani et al. 2017, section 3.5. Throws InvalidArgument naming T,
/// d_model, base or dtype.
[[nodiscard]] Tensor sinusoidal(std::int64_t T, std::int64_t d_model, double base = 10000.0, DType dtype = DType::f64);

/// Positions divided by `factor` (Chen et al. 2023, position interpolation).
struct LinearScaling {
  double factor = 1.0;  // > 0

  bool operator==(const LinearScaling&) const = default;
};

/// The base becomes base * factor^(dim / (dim - 2)): high frequencies stay, the lowest is divided by `factor`
/// ("NTK-aware" RoPE, bloc97 2023; in Peng et al. 2023, section 3.1). dim > 2.
struct NtkScaling {
  double factor = 1.0;  // > 0

  bool operator==(const NtkScaling&) const = default;
};

/// YaRN (Peng et al. 2023, section 3): frequencies that turn more than `beta_fast` times within `original_max`
/// positions stay, those that turn less than `beta_slow` times are divided by `factor`, with a ramp between them.
struct YarnScaling {
  double factor = 1.0;                                    // >= 1
  std::int64_t original_max = 0;                          // positions seen in training, > 0
  double beta_fast = 32.0;                                // > beta_slow
  double beta_slow = 1.0;                                 // > 0
  std::optional<double> attention_factor = std::nullopt;  // cos and sin times this; default: 0.1 ln(factor) + 1
  std::optional<double> mscale = std::nullopt;            // DeepSeek's form: both or neither;
  std::optional<double> mscale_all_dim = std::nullopt;    // the ratio of the two magnitudes, not with attention_factor
  bool truncate = true;                                   // the ramp begins and ends at whole pairs

  bool operator==(const YarnScaling&) const = default;
};

/// Llama 3.1: wavelengths beyond original_max / low_freq_factor are stretched by `factor`, those under
/// original_max / high_freq_factor stay, with a ramp between them (Dubey et al. 2024; as in Meta's reference code).
struct Llama3Scaling {
  double factor = 8.0;               // > 0
  double low_freq_factor = 1.0;      // > 0
  double high_freq_factor = 4.0;     // > low_freq_factor
  std::int64_t original_max = 8192;  // > 0

  bool operator==(const Llama3Scaling&) const = default;
};

/// LongRoPE (Ding et al. 2024): each frequency is divided by a factor of its own, of one list for texts of up to
/// `original_max` tokens and of another for longer ones, of which every token then turns otherwise.
struct LongRopeScaling {
  std::vector<double> shorter = {};  // [dim / 2], > 0
  std::vector<double> longer = {};   // likewise
  std::int64_t original_max = 0;     // tokens, > 0
  double shorter_magnitude = 1;      // cos and sin times this, > 0
  double longer_magnitude = 1;

  bool operator==(const LongRopeScaling&) const = default;
};

using RotaryScaling =
    std::variant<std::monostate, LinearScaling, NtkScaling, YarnScaling, Llama3Scaling, LongRopeScaling>;

struct RotaryOptions {
  std::int64_t dim = 0;   // even; the first `dim` elements of each head are rotated
  double base = 10000.0;  // > 0
  RotaryLayout layout = RotaryLayout::half_split;
  RotaryScaling scaling = {};

  bool operator==(const RotaryOptions&) const = default;
};

/// The dim / 2 angles per position, after scaling; without scaling base^(-2i / dim) (Su et al. 2021, section 3.2.2).
/// `tokens` of the text, which LongRoPE alone asks for. Throws InvalidArgument naming dim, base or the scaling's
/// parameter.
[[nodiscard]] std::vector<double> rotary_frequencies(const RotaryOptions& options, std::int64_t tokens = 0);

/// The factor of cos and sin: YaRN's attention factor, LongRoPE's magnitude, else 1.
[[nodiscard]] double rotary_magnitude(const RotaryOptions& options, std::int64_t tokens = 0);

/// Whether a text of so many tokens turns otherwise than short ones: LongRoPE.
[[nodiscard]] bool is_turned_as_long(const RotaryScaling& scaling, std::int64_t tokens) noexcept;

/// Tables at integer `positions` [T] or [B, T], any values, negative ones too, of a text that ends with the largest of
/// them. Throws InvalidArgument as rotary_frequencies does, or naming positions or dtype.
[[nodiscard]] RotaryTables rotary_tables(const RotaryOptions& options, const TensorView& positions,
                                         DType dtype = DType::f64);
/// Positions 0 … T-1.
[[nodiscard]] RotaryTables rotary_tables(const RotaryOptions& options, std::int64_t T, DType dtype = DType::f64);
/// The same of a text of `tokens` tokens.
[[nodiscard]] RotaryTables rotary_tables(const RotaryOptions& options, std::int64_t T, DType dtype,
                                         std::int64_t tokens);

}  // namespace qkv
