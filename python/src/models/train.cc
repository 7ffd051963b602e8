#include "qkv/api/train.h"

#include <exception>
#include <filesystem>
#include <utility>

#include "../arrays.h"
#include "../signals.h"
#include "models.h"
#include "qkv/api/command_replies.h"
#include "qkv/train/run.h"

namespace qkv::python {
namespace {

std::string said_kind(const std::string& /*value*/) { return "a text"; }
std::string said_kind(double /*value*/) { return "a number"; }
std::string said_kind(std::int64_t /*value*/) { return "a whole number of 64 bits"; }
std::string said_kind(std::uint64_t /*value*/) { return "a whole number from 0 to 18446744073709551615"; }
template <class Value>
std::string said_kind(const std::optional<Value>& /*value*/) {
  return said_kind(Value()) + " or None";
}

// Settings by name, each taken once: what is left over has no meaning.
class Words {
 public:
  explicit Words(const nb::dict& words) : left_(nb::borrow<nb::dict>(words.attr("copy")())) {}

  template <class Value>
  void take(const char* name, Value& value) {
    if (!left_.contains(name)) return;
    nb::object given = left_.attr("pop")(name);
    if (!nb::try_cast(given, value)) {
      const std::string text = std::string("train: ") + name + ": expected " + said_kind(value) + ", got " +
                               nb::cast<std::string>(nb::repr(given));
      throw nb::type_error(text.c_str());
    }
  }

  void require_none_left() const {
    if (left_.size() == 0) return;
    const std::string text = "train: there is no setting " + nb::cast<std::string>(*nb::iter(left_.keys()));
    throw nb::type_error(text.c_str());
  }

 private:
  nb::dict left_;
};

void take_data(Words& words, TrainSettings& settings) {
  words.take("data", settings.data);
  words.take("tokenizer", settings.tokenizer);
  words.take("start", settings.from);
  words.take("length", settings.length);
  words.take("image_side", settings.image_side);
  words.take("patch_side", settings.patch_side);
}

void take_model(Words& words, TrainSettings& settings) {
  words.take("layers", settings.layers);
  words.take("d_model", settings.d_model);
  words.take("heads", settings.heads);
  words.take("d_ff", settings.d_ff);
  words.take("positions", settings.positions);
}

void take_learning(Words& words, TrainSettings& settings) {
  words.take("seed", settings.seed);
  words.take("steps", settings.steps);
  words.take("batch", settings.batch);
  words.take("accumulation", settings.accumulation);
  words.take("optimizer", settings.optimizer);
  words.take("momentum", settings.momentum);
  words.take("learning_rate", settings.learning_rate);
  words.take("schedule", settings.schedule);
  words.take("warm_up", settings.warm_up);
  words.take("weight_decay", settings.weight_decay);
  words.take("clip", settings.clip);
  words.take("dropout", settings.dropout);
  words.take("dtype", settings.dtype);
  words.take("stored", settings.stored);
}

void take_reporting(Words& words, TrainReporting& reporting) {
  words.take("examine_every", reporting.examine_every);
  words.take("save_every", reporting.save_every);
  words.take("keep_every", reporting.keep_every);
  words.take("examples", reporting.examples);
}

struct Plan {
  TrainSettings settings;
  TrainReporting reporting;
};

Plan plan_of(const std::string& task, const nb::dict& given) {
  Words words(given);
  std::string model;
  words.take("model", model);
  Plan plan{.settings = recipe_for(task, model), .reporting = {}};
  plan.settings.task = task;
  if (!model.empty()) plan.settings.model = model;
  take_data(words, plan.settings);
  if (plan.settings.from) {
    plan.settings.learning_rate = kGentleRate;
    plan.settings = with_starting_model(plan.settings);
  } else {
    take_model(words, plan.settings);
  }
  take_learning(words, plan.settings);
  take_reporting(words, plan.reporting);
  words.require_none_left();
  require_sound(plan.settings, plan.reporting);
  return plan;
}

Plan plan_at(const std::string& task, const TrainPlace& place, const nb::dict& words, bool resumes) {
  if (!resumes) return plan_of(task, words);
  const SavedRun saved = read_saved_run(place);
  if (saved.settings.task != task) {
    throw InvalidArgument("train", "task", saved.settings.task + ", which " + place.directory + " holds", task);
  }
  return {saved.settings, saved.reporting};
}

// (step, loss, gradient norm, learning rate, tokens, seconds, accuracy, held-out loss)
nb::tuple row_of(const LoggedStep& step) {
  return nb::make_tuple(step.step, step.loss, step.gradient_norm, step.learning_rate, step.tokens, step.seconds,
                        step.accuracy, step.held_out_loss);
}

// Ctrl-C, and what `stepped` raises, end a run once all is saved; then it is raised.
class Stop {
 public:
  template <class Call>
  void run(const Call& call) {
    try {
      call();
    } catch (...) {
      if (!raised_) raised_ = std::current_exception();
    }
  }
  [[nodiscard]] bool is_set() const { return raised_ != nullptr; }
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  std::exception_ptr raised_;
};

std::optional<std::string> trained(const std::string& task, const std::string& directory, const nb::dict& words,
                                   bool resumes, const nb::object& stepped) {
  const TrainPlace place{.directory = directory};
  const Plan plan = plan_at(task, place, words, resumes);
  Stop stop;
  Signals signals;
  TrainWatch watch;
  watch.stepped = [&](const LoggedStep& step) {
    const nb::gil_scoped_acquire gil;
    stop.run([&] { stepped(row_of(step)); });
  };
  watch.stopped = [&] {
    stop.run([&] { signals.look(); });
    return stop.is_set();
  };
  const std::optional<TrainReport> report = freely([&] {
    return run_training(plan.settings, plan.reporting, place, resumes ? TrainStart::resumed : TrainStart::anew, watch);
  });
  stop.rethrow();
  if (!report) return std::nullopt;
  return reply_as_json(train_reply(*report));
}

nb::list logged(const std::string& directory) {
  nb::list rows;
  for (const LoggedStep& step : read_log({.directory = directory})) rows.append(row_of(step));
  return rows;
}

std::int64_t planned_steps(const std::string& task, const std::string& directory, const nb::dict& words, bool resumes) {
  return plan_at(task, {.directory = directory}, words, resumes).settings.steps;
}

std::vector<std::string> names_of_tasks() {
  std::vector<std::string> names;
  for (const TaskInfo& task : tasks()) names.push_back(task.name);
  return names;
}

std::string drawn_losses(const std::string& directory) {
  const TrainPlace place = {.directory = directory};
  std::string title = directory;
  if (std::filesystem::exists(place.checkpoint())) {
    const TrainSettings settings = read_saved_run(place).settings;
    title = settings.task + ", " + settings.model;
  }
  return to_svg(loss_chart(read_log(place), std::move(title)));
}

}  // namespace

void add_train(nb::module_& module) {
  module.def("tasks", &names_of_tasks);
  module.def("train", &trained, nb::arg("task"), nb::arg("directory"), nb::arg("words"), nb::arg("resumes"),
             nb::arg("stepped"),
             nb::sig("def train(task: str, directory: str, words: dict[str, typing.Any], resumes: bool, stepped: "
                     "collections.abc.Callable[[tuple[typing.Any, ...]], object]) -> str | None"));
  module.def(
      "planned_steps", &planned_steps, nb::arg("task"), nb::arg("directory"), nb::arg("words"), nb::arg("resumes"),
      nb::sig("def planned_steps(task: str, directory: str, words: dict[str, typing.Any], resumes: bool) -> int"));
  module.def("loss_chart", &drawn_losses, nb::arg("directory"));
  module.def("read_log", &logged, nb::arg("directory"),
             nb::sig("def read_log(directory: str) -> list[tuple[int, float, float, float, int, float, float | None, "
                     "float | None]]"));
  module.def("kept_steps", [](const std::string& directory) { return kept_steps({.directory = directory}); });
  module.def("kept_model", [](const std::string& directory, std::int64_t step) {
    return TrainPlace{.directory = directory}.kept(step);
  });
}

}  // namespace qkv::python
