// Tables of rotary positions that all layers of the same options share.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "qkv/nn/position.h"

namespace qkv::nn {

/// cos and sin of positions 0, 1, …, as many as were asked for so far, in f32 and f64. Lives as long as a layer that
/// holds it. Safe from several threads.
class SharedRotary {
 public:
  /// Those of these options, made where no layer holds any. Throws as rotary_frequencies() does.
  [[nodiscard]] static std::shared_ptr<SharedRotary> of(const RotaryOptions& options);

  explicit SharedRotary(const RotaryOptions& options) : options_(options) {}

  /// Positions begin … end-1 of a text that ends there, [end - begin, dim / 2], which share the elements of the tables;
  /// f64 for f64, else f32.
  [[nodiscard]] RotaryTables tables(std::int64_t begin, std::int64_t end, DType dtype);
  [[nodiscard]] const RotaryOptions& options() const noexcept { return options_; }

 private:
  RotaryOptions options_;
  std::mutex mutex_;
  std::array<std::array<RotaryTables, 2>, 2> whole_;  // of short and of long texts, f32 and f64
};

}  // namespace qkv::nn
