// The T x T intermediates of attention, by name.
#pragma once

#include <cstdint>
#include <string_view>

namespace qkv {

/// In the order in which they are made.
enum class Stage : std::uint8_t {
  raw,         // q . k
  scaled,      // * scale
  softcapped,  // c * tanh(x / c)
  biased,      // + bias
  masked,      // forbidden pairs are -inf
  weights,     // softmax of each row; a row that sees nothing is zero
  dropped,     // dropout: 0, or weight / (1 - p)
};
inline constexpr int kStages = 7;

/// "raw", "scaled", … as in the enum.
[[nodiscard]] std::string_view name_of(Stage stage) noexcept;

}  // namespace qkv
