#include "qkv/study/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "qkv/cancel.h"
#include "qkv/train/examine.h"
#include "qkv/train/task_model.h"
#include "qkv/train/training.h"

namespace qkv {
namespace {

std::unique_ptr<const Task> task_of(const PositionSetup& setup, std::int64_t length) {
  return make_task(setup.task, {.seed = setup.seed, .length = length});
}

// As long as the longest test: what is learned of places ends there.
std::unique_ptr<const Task> longest_task(const PositionSetup& setup) {
  return task_of(setup, std::max(setup.train_length, setup.test_lengths.back()));
}

Model model_of(const PositionSetup& setup, Positions kind) {
  Generator generator(setup.seed);
  return make_task_model({.layers = setup.layers, .d_model = setup.d_model, .heads = setup.heads, .positions = kind},
                         *longest_task(setup), generator);
}

std::int64_t places_of(const Task& task) { return task.lengths().source + task.lengths().tokens; }

// False where the watch stopped it.
bool teach(const PositionSetup& setup, const Task& task, const Model& model, const PositionWatch& watch,
           PositionResult& result) {
  const auto optimizer = make_adamw(model.parameters());
  const auto loss = [&](std::int64_t n) { return task_loss(task, model, n * setup.batch, setup.batch, {}); };
  const TrainingOptions options = {.schedule = {.peak = setup.learning_rate,
                                                .warm_up = std::min<std::int64_t>(50, setup.steps),
                                                .steps = setup.steps}};
  const auto begin = std::chrono::steady_clock::now();
  bool whole = true;
  train(*optimizer, loss, options, [&](const TrainingStep& step) {
    result.loss = step.loss;
    watch.doing(
        fmt::format("{}: step {} of {}, loss {:.3f}", name_of(result.kind), step.step + 1, setup.steps, step.loss));
    whole = !watch.stopped();
    return whole ? Next::go_on : Next::stop;
  });
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return whole;
}

bool examine(const PositionSetup& setup, const Model& model, const PositionWatch& watch, PositionResult& result) {
  for (const std::int64_t length : setup.test_lengths) {
    if (watch.stopped()) return false;
    watch.doing(fmt::format("{}: tested at length {}", name_of(result.kind), length));
    const auto task = task_of(setup, length);
    result.shares.push_back(task_accuracy(*task, model, setup.examples).share());
  }
  return true;
}

// None where the watch stopped it.
std::optional<PositionResult> run_kind(const PositionSetup& setup, Positions kind, const Task& task,
                                       const PositionWatch& watch) {
  const auto model = model_of(setup, kind);
  PositionResult result = {.kind = kind, .failed = "", .parameters = model.parameter_count(), .shares = {}};
  try {
    if (!teach(setup, task, model, watch, result) || !examine(setup, model, watch, result)) return std::nullopt;
  } catch (const Diverged& error) {
    result.failed = error.what();
  } catch (const Cancelled&) {
    return std::nullopt;
  }
  return result;
}

}  // namespace

std::string_view addressing_of(Positions kind) {
  switch (kind) {
    case Positions::sinusoidal:
    case Positions::learned:
      return "absolute";
    case Positions::rotary:
    case Positions::alibi:
    case Positions::t5:
      return "relative";
    case Positions::none:
      break;
  }
  return "-";
}

std::int64_t trained_places(const PositionSetup& setup) { return places_of(*task_of(setup, setup.train_length)); }

std::int64_t all_places(const PositionSetup& setup) { return places_of(*longest_task(setup)); }

std::vector<PositionResult> run_positions(const PositionSetup& setup, const PositionWatch& watch) {
  const auto task = task_of(setup, setup.train_length);
  std::vector<PositionResult> results;
  for (const Positions kind : setup.kinds) {
    if (watch.stopped()) break;
    std::optional<PositionResult> result = run_kind(setup, kind, *task, watch);
    if (!result) break;
    watch.done(*result);
    results.push_back(*std::move(result));
  }
  return results;
}

}  // namespace qkv
