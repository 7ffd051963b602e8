#include "train/tasks/random.h"

namespace qkv::training {

std::uint32_t task_number(std::string_view name) noexcept {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash >> 16U) ^ (hash & 0xFFFFU);
}

TaskRandom::TaskRandom(const RandomOrigin& origin) noexcept
    : key_{static_cast<std::uint32_t>(origin.seed), static_cast<std::uint32_t>(origin.seed >> 32U)},
      counter_{origin.task << 16U, origin.attempt, static_cast<std::uint32_t>(origin.n),
               static_cast<std::uint32_t>(static_cast<std::uint64_t>(origin.n) >> 32U) | (origin.split << 31U)} {}

std::uint32_t TaskRandom::next() noexcept {
  if (used_ == block_.size()) {
    block_ = core::philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

std::uint32_t TaskRandom::below(std::uint32_t bound) noexcept {
  const std::uint32_t least = (0U - bound) % bound;
  std::uint64_t product = std::uint64_t{next()} * bound;
  while (static_cast<std::uint32_t>(product) < least) product = std::uint64_t{next()} * bound;
  return static_cast<std::uint32_t>(product >> 32U);
}

}  // namespace qkv::training
