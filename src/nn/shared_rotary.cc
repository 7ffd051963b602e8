#include "nn/shared_rotary.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace qkv::nn {

std::shared_ptr<SharedRotary> SharedRotary::of(const RotaryOptions& options) {
  static std::mutex mutex;
  static auto* const kHeld = new std::vector<std::weak_ptr<SharedRotary>>;
  static_cast<void>(rotary_frequencies(options));
  const std::scoped_lock lock(mutex);
  std::erase_if(*kHeld, [](const auto& held) { return held.expired(); });
  for (const std::weak_ptr<SharedRotary>& held : *kHeld) {
    std::shared_ptr<SharedRotary> shared = held.lock();
    if (shared != nullptr && shared->options() == options) return shared;
  }
  auto made = std::make_shared<SharedRotary>(options);
  kHeld->push_back(made);
  return made;
}

RotaryTables SharedRotary::tables(std::int64_t begin, std::int64_t end, DType dtype) {
  constexpr std::int64_t kLeast = 64;
  const DType held = dtype == DType::f64 ? DType::f64 : DType::f32;
  const std::scoped_lock lock(mutex_);
  const bool is_long = is_turned_as_long(options_.scaling, end);
  RotaryTables& whole = whole_[is_long ? 1 : 0][held == DType::f64 ? 1 : 0];
  if (whole.cos.empty() || whole.cos.dim(0) < end) {
    const auto positions = std::bit_ceil(static_cast<std::uint64_t>(std::max(end, kLeast)));
    whole = rotary_tables(options_, static_cast<std::int64_t>(positions), held, end);
  }
  return {.cos = whole.cos.slice(0, begin, end), .sin = whole.sin.slice(0, begin, end), .layout = whole.layout};
}

}  // namespace qkv::nn
