#include "kernels/cpu/forward.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/targets.h"

namespace qkv::kernels::cpu {
namespace {

constexpr double kLog2e = 1.4426950408889634;

Settings settings_of(const Forward& call) {
  const bool shaped = call.softcap || call.bias != nullptr;
  Settings settings;
  settings.call = &call;
  settings.query_sign = call.scale > 0 ? 1 : call.scale < 0 ? -1 : 0;
  const double scale = call.scale == 0 ? 1 : std::abs(call.scale);
  settings.scale = static_cast<float>(scale);
  settings.softcap = static_cast<float>(call.softcap.value_or(0));
  settings.to_nats = shaped ? 1 : scale;
  settings.to_log2 = static_cast<float>(settings.to_nats * kLog2e);
  if (call.dropout) {
    settings.dropout = {.seed_low = static_cast<std::uint32_t>(call.dropout->seed),
                        .seed_high = static_cast<std::uint32_t>(call.dropout->seed >> 32U),
                        .least = static_cast<std::uint32_t>(call.dropout->p * 0x1p32),
                        .kept_scale = static_cast<float>(1 / (1 - call.dropout->p))};
  }
  return settings;
}

// Tasks are numbered through segments, then key heads, then blocks from the last, which under a causal mask have most
// to do.
class TaskList {
 public:
  TaskList(const Forward& call, std::int64_t blocks_a_task) : call_(call), blocks_a_task_(blocks_a_task) {}

  [[nodiscard]] std::int64_t count() const {
    std::int64_t tasks = 0;
    for (const Segment& segment : call_.segments) tasks += call_.Hk * tasks_a_head(segment);
    return tasks;
  }

  [[nodiscard]] Task operator[](std::int64_t n) const {
    for (const Segment& segment : call_.segments) {
      const std::int64_t a_head = tasks_a_head(segment);
      if (n < call_.Hk * a_head) {
        const std::int64_t blocks = LaneBlocks(segment.shape.Tq, call_.group()).count();
        const std::int64_t first = (a_head - 1 - n % a_head) * blocks_a_task_;
        return {.segment = &segment,
                .key_head = n / a_head,
                .first_block = first,
                .blocks = std::min(blocks_a_task_, blocks - first)};
      }
      n -= call_.Hk * a_head;
    }
    return {};
  }

 private:
  [[nodiscard]] std::int64_t tasks_a_head(const Segment& segment) const {
    return (LaneBlocks(segment.shape.Tq, call_.group()).count() + blocks_a_task_ - 1) / blocks_a_task_;
  }

  const Forward& call_;
  std::int64_t blocks_a_task_;
};

std::size_t padded_worker_bytes(const Target& target, const Forward& call) {
  return static_cast<std::size_t>(round_up(static_cast<std::int64_t>(target.worker_bytes(call)), kTile));
}

}  // namespace

const Target* find_target(std::string_view name) {
#if defined(__x86_64__)
  const Target* const targets[] = {&kScalar, &kAvx2, &kAvx512, &kAmx};
#else
  const Target* const targets[] = {&kScalar};
#endif
  for (const Target* target : targets) {
    if (target->name == name) return target;
  }
  return nullptr;
}

std::size_t scratch_bytes(const Target& target, const Forward& call, int threads) {
  return padded_worker_bytes(target, call) * static_cast<std::size_t>(threads);
}

void forward(const Target& target, const Forward& call, int threads, std::span<std::byte> scratch) {
  const Settings settings = settings_of(call);
  const TaskList tasks(call, target.blocks_a_task(call));
  const std::size_t bytes = padded_worker_bytes(target, call);
  core::parallel_for(threads, tasks.count(), [&](int worker, std::int64_t n) {
    target.run(settings, tasks[n], scratch.data() + bytes * static_cast<std::size_t>(worker));
  });
}

}  // namespace qkv::kernels::cpu
