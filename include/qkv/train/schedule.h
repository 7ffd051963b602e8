// The learning rate of each step.
#pragma once

#include <cstdint>
#include <string_view>

namespace qkv {

enum class ScheduleKind : std::uint8_t {
  constant,
  cosine,  // half a wave of the cosine from `peak` down to `last` (Loshchilov and Hutter 2017)
};
/// "constant", "cosine"
[[nodiscard]] std::string_view name_of(ScheduleKind kind) noexcept;
/// Throws InvalidArgument for another word.
[[nodiscard]] ScheduleKind schedule_named(std::string_view name);

/// Up in a line for `warm_up` steps, the last of which has `peak`; then as the kind says, up to step `steps` - 1.
struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double peak = 1e-3;        // >= 0
  double last = 0.0;         // of the last step of a cosine, and of all after it; from 0 to peak
  std::int64_t warm_up = 0;  // from 0 to steps
  std::int64_t steps = 1;    // >= 1
};

/// Of step 0, 1, …. Throws InvalidArgument naming step or what is wrong with the schedule.
[[nodiscard]] double learning_rate(const Schedule& schedule, std::int64_t step);

}  // namespace qkv
