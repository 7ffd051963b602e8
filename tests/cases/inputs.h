// The tensors and options that a case stands for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cases/case.h"
#include "qkv/kv_cache.h"

namespace qkv::cases {

/// A view in memory of its own, every byte of which was 0xFF: a NaN in each dtype.
class Placed {
 public:
  Placed(DType dtype, const Shape& shape, Layout layout);

  [[nodiscard]] MutableTensorView view() const { return view_; }
  /// True if every byte that belongs to no element is still 0xFF.
  [[nodiscard]] bool gaps_untouched() const;

 private:
  Tensor memory_;  // u8
  MutableTensorView view_;
};

struct Inputs {
  Placed q;
  Placed k;
  Placed v;
  AttentionOptions options;
  std::optional<KvCache> cache = std::nullopt;  // k and v hold what it holds

  [[nodiscard]] static Inputs of(const Case& one);
};

}  // namespace qkv::cases
