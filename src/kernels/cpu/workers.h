// A worker for tasks of many queries and one for tasks of few, as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/cpu/worker.h"

namespace qkv::kernels::cpu {

/// The queries of a key head that has one block of them, or none where it has more: so that it does not matter with
/// which others a block is run.
[[gnu::always_inline]] inline std::optional<std::int64_t> lanes_of(const Settings& settings, const Task& task) {
  const LaneBlocks blocks(task.segment->shape.Tq, settings.call->group());
  if (blocks.count() != 1) return std::nullopt;
  return blocks.block(0, task.key_head).count();
}

/// Of two workers for tasks of few queries: `Own` for the calls that its products take.
template <class Own, class Other>
struct Either {
  static std::int64_t most_lanes(const Forward& call) {
    return Own::takes(call) ? Own::most_lanes(call) : Other::most_lanes(call);
  }

  static std::size_t worker_bytes(const Forward& call) {
    return (Own::takes(call) ? Own::worker_bytes : Other::worker_bytes)(call);
  }

  static void run(const Settings& settings, const Task& task, std::byte* scratch) {
    (Own::takes(*settings.call) ? Own::run : Other::run)(settings, task, scratch);
  }

  static void merge(const Settings& settings, const Task& task, std::span<const KeptStates> kept, std::byte* scratch) {
    (Own::takes(*settings.call) ? Own::merge : Other::merge)(settings, task, kept, scratch);
  }
};

template <class Many, class Few>
struct Workers {
  static std::int64_t blocks_a_task(const Forward& call) { return Many::blocks_a_task(call); }

  static std::size_t worker_bytes(const Forward& call) {
    const std::size_t many = Many::worker_bytes(call);
    const std::size_t few = Few::worker_bytes(call);
    return many > few ? many : few;
  }

  static void run(const Settings& settings, const Task& task, std::byte* scratch) {
    (is_few(settings, task) ? Few::run : Many::run)(settings, task, scratch);
  }

  static void merge(const Settings& settings, const Task& task, std::span<const KeptStates> kept, std::byte* scratch) {
    (is_few(settings, task) ? Few::merge : Many::merge)(settings, task, kept, scratch);
  }

  static bool is_few(const Settings& settings, const Task& task) {
    return lanes_of(settings, task).value_or(kTile) <= Few::most_lanes(*settings.call);
  }
};

}  // namespace qkv::kernels::cpu
