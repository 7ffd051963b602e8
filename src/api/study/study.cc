// What `qkv bench positions` and `qkv bench bottleneck` are asked.
#include "qkv/api/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "qkv/cancel.h"
#include "qkv/files.h"
#include "qkv/train/task.h"

namespace qkv {
namespace {

using api_detail::refuse;

constexpr std::int64_t kLargest = std::int64_t{1} << 20;

const std::vector<std::string>& all_kinds() {
  static const std::vector<std::string> kAll = {"none", "sinusoidal", "learned", "rotary", "alibi", "t5"};
  return kAll;
}

// Every length must be one of the task.
void read_lengths(const PositionsBench& request, PositionSetup& setup) {
  const TaskInfo info = make_task(setup.task)->info();
  if (!info.length) refuse("task", "a task whose examples have a length", info.name);
  setup.train_length = request.train_length.value_or(info.length->usual);
  setup.test_lengths = request.test_lengths;
  for (std::int64_t times = 1; request.test_lengths.empty() && times <= 8; times *= 2) {
    const std::int64_t length = std::min(times * setup.train_length, info.length->most);
    if (setup.test_lengths.empty() || length > setup.test_lengths.back()) setup.test_lengths.push_back(length);
  }
  std::ranges::sort(setup.test_lengths);
  setup.test_lengths.erase(std::ranges::unique(setup.test_lengths).begin(), setup.test_lengths.end());
  const auto of_task = [&](const char* field, std::int64_t length) {
    static_cast<void>(api_detail::of_field(field, [&] { return make_task(setup.task, {.length = length}); }));
  };
  of_task("train_length", setup.train_length);
  for (const std::int64_t length : setup.test_lengths) of_task("test_lengths", length);
}

void require_rate(double rate) {
  if (!std::isfinite(rate) || rate <= 0) refuse("learning_rate", "a finite number above 0", fmt::format("{}", rate));
}

void require_sound(const PositionSetup& setup) {
  require_rate(setup.learning_rate);
  if (setup.d_model % (2 * setup.heads) != 0) {
    refuse("d_model", fmt::format("a multiple of {}, twice the heads", 2 * setup.heads), std::to_string(setup.d_model));
  }
}

void add_question(Fields<PositionsBench>& fields) {
  using S = PositionSetup;
  Fields<S> of_setup;
  of_setup.add(&S::task,
               {.name = "task", .form = "NAME", .meaning = "One that `qkv task` lists, for a decoder, with a length"});
  of_setup.add(&S::examples,
               {.name = "examples", .form = "N", .meaning = "Held out, of each length", .least = 1, .most = kLargest});
  of_setup.add(&S::seed, {.name = "seed", .form = "N", .meaning = "Of the models and the examples"});
  fields.add(&PositionsBench::kinds, {.name = "kinds",
                                      .form = "KIND,…",
                                      .meaning = "Of none, sinusoidal, learned, rotary, alibi, t5",
                                      .words = all_kinds(),
                                      .otherwise = "all"});
  fields.add(&PositionsBench::train_length, {.name = "train_length",
                                             .form = "N",
                                             .meaning = "Of the examples in training",
                                             .least = 1,
                                             .most = kLargest,
                                             .otherwise = "the task's own"});
  fields.add(&PositionsBench::test_lengths, {.name = "test_lengths",
                                             .form = "N,…",
                                             .meaning = "Of the examinations",
                                             .least = 1,
                                             .most = kLargest,
                                             .otherwise = "1, 2, 4 and 8 times that"});
  fields.add(&PositionsBench::setup, of_setup);
}

void add_training(Fields<PositionsBench>& fields) {
  using S = PositionSetup;
  const std::string group = "The models";
  Fields<S> of_setup;
  of_setup.add(&S::layers, api_detail::shared_field("layers", group))
      .add(&S::d_model, api_detail::shared_field("d_model", group))
      .add(&S::heads, api_detail::shared_field("heads", group))
      .add(&S::steps, api_detail::shared_field("steps", group))
      .add(&S::batch, {.name = "batch", .form = "N", .meaning = "Examples of a step", .group = group});
  for (const char* const counted : {"layers", "d_model", "heads", "steps", "batch"}) {
    of_setup.give_bounds({{counted, 1, kLargest}});
  }
  of_setup.add(
      &S::learning_rate,
      {.name = "learning_rate", .form = "X", .meaning = "The highest; half a cosine down to 0", .group = group});
  of_setup.give_bounds({{"learning_rate", above(0), kAnyNumber}});
  fields.add(&PositionsBench::setup, of_setup);
}

Fields<BottleneckSetup> bottleneck_training_fields() {
  using S = BottleneckSetup;
  Fields<S> fields;
  fields.add(&S::seed, {.name = "seed", .form = "N", .meaning = "Of the models and the texts"});
  const auto whole = [&](std::int64_t S::* place, const char* name, const char* meaning) {
    fields.add(place, {.name = name, .form = "N", .meaning = meaning, .least = 1, .most = kLargest, .needs = {"out"}});
  };
  whole(&S::steps, "steps", "Steps of training");
  whole(&S::batch, "batch", "Texts of a step");
  whole(&S::longest, "longest", "Letters of the longest texts in training");
  fields.add(
      &S::learning_rate,
      {.name = "learning_rate", .form = "X", .meaning = "The highest; half a cosine down to 0", .needs = {"out"}});
  fields.give_bounds({{"learning_rate", above(0), kAnyNumber}});
  return fields;
}

std::string card_in(const std::string& directory) { return directory + "/card.json"; }

BottleneckModels trained_models(const BottleneckBench& request, const BottleneckWatch& watch) {
  require_rate(request.training.learning_rate);
  make_directory(request.out);
  require_writable(card_in(request.out));  // before minutes of training
  BottleneckModels models = make_bottleneck_models(request.training);
  const auto go_on = [] { return false; };
  const auto ignore = [](const std::string&, std::int64_t, double) {};
  const BottleneckWatch whole{.step = watch.step ? watch.step : ignore,
                              .stopped = watch.stopped ? watch.stopped : go_on};
  train_bottleneck(models, request.training, whole);
  if (whole.stopped()) throw Cancelled("training was stopped");
  return models;
}

}  // namespace

const Fields<PositionsBench>& positions_bench_fields() {
  static const Fields<PositionsBench> kFields = [] {
    Fields<PositionsBench> fields;
    add_question(fields);
    add_training(fields);
    fields.give_examples({{"task", "copy"}, {"test_lengths", "8,12"}});
    fields.tell_arguments({{"kinds", {"positions"}}});
    return fields;
  }();
  return kFields;
}

const Fields<BottleneckBench>& bottleneck_bench_fields() {
  static const Fields<BottleneckBench> kFields = [] {
    using R = BottleneckBench;
    Fields<R> fields;
    const auto whole = [&](std::int64_t R::* place, const char* name, const char* meaning) {
      fields.add(place, {.name = name, .form = "N", .meaning = meaning, .least = 1, .most = kLargest});
    };
    fields.add(&R::out, {.name = "out", .form = "DIR", .meaning = "Train both models and write them there"});
    whole(&R::to, "to", "Letters of the longest texts that are measured");
    whole(&R::texts, "texts", "Random texts of each length");
    fields.add(&R::training, bottleneck_training_fields());
    fields.give_otherwise({{"out", "measure those of the box"}});
    fields.give_examples({{"out", "bottleneck"}});
    return fields;
  }();
  return kFields;
}

PositionSetup position_setup(const PositionsBench& request) {
  PositionSetup setup = request.setup;
  for (const std::string& name : request.kinds.empty() ? all_kinds() : request.kinds) {
    setup.kinds.push_back(positions_named(name));
  }
  read_lengths(request, setup);
  require_sound(setup);
  return setup;
}

std::vector<PositionResult> found_positions(const PositionSetup& setup, const PositionWatch& watch) {
  std::vector<PositionResult> results = run_positions(setup, watch);
  const auto has_failed = [](const PositionResult& result) { return !result.failed.empty(); };
  if (!results.empty() && std::ranges::all_of(results, has_failed)) {
    throw Error(fmt::format("no training came to its end: {}: {}", name_of(results[0].kind), results[0].failed));
  }
  return results;
}

BottleneckFound found_bottleneck(const BottleneckBench& request, const BottleneckWatch& watch) {
  const bool trains = !request.out.empty();
  BottleneckFound found{
      .models = trains ? trained_models(request, watch) : bottleneck_models_of_the_box(), .points = {}, .figures = {}};
  const BottleneckSetup& setup = request.training;
  for (std::int64_t length = 1; length <= request.to; ++length) {
    found.points.push_back(
        {.vector = measure_bottleneck(found.models.vector, length, request.texts, setup.seed),
         .attention = measure_bottleneck(found.models.attention, length, request.texts, setup.seed)});
  }
  found.figures = bottleneck_figures(found.models, setup, found.points);
  if (!trains) return found;
  write_bottleneck_models(found.models, setup, request.out);
  write_file(card_in(request.out), reply_as_json(found.figures));
  return found;
}

PositionsFigures answer(const PositionsBench& request) {
  const PositionSetup setup = position_setup(request);
  return positions_figures(setup, found_positions(setup));
}

BottleneckFigures answer(const BottleneckBench& request) { return found_bottleneck(request).figures; }

}  // namespace qkv
