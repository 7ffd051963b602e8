#include "kernels/cpu/forward.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/bytes.h"
#include "core/parallel.h"
#include "kernels/cpu/forward_run.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels::cpu {
namespace {

constexpr double kLog2e = std::numbers::log2e;

// Clamps a scale or softcap to the range in which f32 can multiply by it, and divide 8 or a scale by it.
float within(double least, double x, double most) { return static_cast<float>(std::clamp(x, least, most)); }

// Multiply-adds of the call if every pair were visible, up to `most`.
std::int64_t work_of(const Forward& call, std::int64_t most) {
  const double of_a_pair = static_cast<double>(call.Hq) * static_cast<double>(call.D + call.Dv);
  double work = 0;
  for (const Segment& segment : call.segments) {
    work += static_cast<double>(segment.shape.Tq) * static_cast<double>(segment.shape.Tk) * of_a_pair;
    if (work >= static_cast<double>(most)) return most;
  }
  return static_cast<std::int64_t>(work);
}

// At most as many as there are tasks, and as the work is worth: to wake a thread takes longer than a short call.
int workers_of(const Forward& call, const TaskList& tasks, int threads) {
  constexpr std::int64_t kWorthAThread = std::int64_t{1} << 18;  // multiply-adds of some ten microseconds
  const std::int64_t wanted = std::clamp<std::int64_t>(tasks.count(), 1, threads);
  if (wanted == 1) return 1;
  return static_cast<int>(std::clamp<std::int64_t>(work_of(call, wanted * kWorthAThread) / kWorthAThread, 1, wanted));
}

}  // namespace

Settings settings_of(const Forward& call) {
  const Problem& problem = *call.problem;
  const bool shaped = problem.softcap || !problem.bias.is_zero();
  Settings settings;
  settings.call = &call;
  settings.bias = problem.bias.is_zero() ? nullptr : &problem.bias;
  settings.query_sign = problem.scale > 0 ? 1 : problem.scale < 0 ? -1 : 0;
  const double scale = problem.scale == 0 ? 1 : std::abs(problem.scale);
  settings.scale = within(0x1p-126, scale, 0x1p127);
  settings.softcap = problem.softcap ? within(0x1p-60, *problem.softcap, 0x1p120) : 0;
  settings.to_nats = shaped ? 1 : scale;
  settings.to_log2 = within(0x1p-124, settings.to_nats * kLog2e, 0x1p127);
  if (problem.dropout) {
    settings.dropout = {.seed_low = static_cast<std::uint32_t>(problem.dropout->seed),
                        .seed_high = static_cast<std::uint32_t>(problem.dropout->seed >> 32U),
                        .least = static_cast<std::uint32_t>(problem.dropout->p * 0x1p32),
                        .kept_scale = static_cast<float>(1 / (1 - problem.dropout->p))};
  }
  return settings;
}

ForwardRun::ForwardRun(const Target& target, const Forward& call, int threads)
    : target_(target),
      call_(call),
      tasks_(call_, target.blocks_a_task(call_)),
      workers_(workers_of(call_, tasks_, threads)),
      worker_bytes_(worker_stride(target, call_)) {}

std::size_t ForwardRun::scratch_bytes() const {
  return core::checked_sum(
      "attention", {core::checked_bytes("attention", {workers_}, worker_bytes_),
                    core::checked_bytes("attention", {tasks_.list_floats() + tasks_.partial_floats()}, sizeof(float))});
}

void ForwardRun::run(std::span<std::byte> scratch) {
  const Settings settings = settings_of(call_);
  const auto scratch_of = [&](int worker) { return scratch.data() + worker_bytes_ * static_cast<std::size_t>(worker); };
  tasks_.keep_in(reinterpret_cast<float*>(scratch_of(workers_)));
  core::parallel_for(workers_, tasks_.count(),
                     [&](int worker, std::int64_t n) { target_.run(settings, tasks_[n], scratch_of(worker)); });
  core::parallel_for(workers_, tasks_.merges(), [&](int worker, std::int64_t n) {
    const auto [task, states] = tasks_.merge(n);
    target_.merge(settings, task, {&states, 1}, scratch_of(worker));
  });
}

}  // namespace qkv::kernels::cpu
