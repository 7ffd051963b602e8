#include "qkv/train/schedule.h"

#include <cmath>
#include <numbers>
#include <string>

#include "core/plain_number.h"
#include "qkv/error.h"

namespace qkv {
namespace {

constexpr const char* kLearningRate = "learning_rate";

void require(bool holds, std::string_view argument, std::string_view expected, const std::string& got) {
  if (!holds) throw InvalidArgument(kLearningRate, argument, expected, got);
}

void require_sound(const Schedule& schedule, std::int64_t step) {
  require(step >= 0, "step", "0 or more", std::to_string(step));
  require(schedule.steps >= 1, "steps", "1 or more", std::to_string(schedule.steps));
  require(schedule.warm_up >= 0 && schedule.warm_up <= schedule.steps, "warm_up",
          "from 0 to " + std::to_string(schedule.steps) + ", the steps", std::to_string(schedule.warm_up));
  require(std::isfinite(schedule.peak) && schedule.peak >= 0, "peak", "0 or more", core::plain_number(schedule.peak));
  require(schedule.last >= 0 && schedule.last <= schedule.peak, "last",
          "from 0 to " + core::plain_number(schedule.peak) + ", the peak", core::plain_number(schedule.last));
}

}  // namespace

std::string_view name_of(ScheduleKind kind) noexcept { return kind == ScheduleKind::cosine ? "cosine" : "constant"; }

ScheduleKind schedule_named(std::string_view name) {
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::cosine}) {
    if (name == name_of(kind)) return kind;
  }
  throw InvalidArgument("schedule_named", "schedule", "constant or cosine", "\"" + std::string(name) + "\"");
}

double learning_rate(const Schedule& schedule, std::int64_t step) {
  require_sound(schedule, step);
  if (step < schedule.warm_up) {
    return schedule.peak * static_cast<double>(step + 1) / static_cast<double>(schedule.warm_up);
  }
  if (schedule.kind == ScheduleKind::constant) return schedule.peak;
  const std::int64_t first = schedule.warm_up > 0 ? schedule.warm_up - 1 : 0;  // the step that has the peak
  const std::int64_t last = schedule.steps - 1;
  if (step >= last) return last == first ? schedule.peak : schedule.last;
  const double share = static_cast<double>(step - first) / static_cast<double>(last - first);
  return schedule.last + (schedule.peak - schedule.last) * 0.5 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace qkv
