#include "qkv/api/train.h"

#include <exception>
#include <filesystem>
#include <utility>

#include "../signals.h"
#include "fields.h"
#include "models.h"
#include "python_writer.h"
#include "qkv/api/refusal.h"
#include "qkv/train/run.h"

namespace qkv::python {
namespace {

// Of the function train: what it takes by name beside its own arguments.
const Fields<TrainRun>& train_arguments() {
  static const auto kFields = without(train_run_fields(), {"task", "data", "size", "out", "resume"});
  return kFields;
}

// The names of all of them.
const Fields<TrainRun>& train_names() {
  static const Fields<TrainRun> kFields = [] {
    Fields<TrainRun> fields = train_run_fields();
    fields.info("out").python = "directory";
    return fields;
  }();
  return kFields;
}

// What is trained, and where.
struct Run {
  std::string task;
  std::string data;  // may be empty
  std::string directory;
};

// Settings by their names in Python.
FieldValues settings_of(const Given& given) { return field_values("train", train_arguments().infos(), given); }

// Runs `body`, which these settings are given to.
template <class Body>
auto said_of_settings(const FieldValues& values, const Body& body) {
  return said_in_python("train", train_names().infos(),
                        [&] { return answered_for(train_arguments().infos(), values, body); });
}

PlannedRun plan_at(const Run& place, const FieldValues& values, bool resumes) {
  TrainRun run = train_arguments().from_values(values);
  run.settings.task = place.task;
  run.settings.data = place.data;
  run.out = place.directory;
  run.resume = resumes;
  return said_of_settings(values, [&] { return planned_run(run, qkv::Given(train_arguments().infos(), values)); });
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

nb::object trained(const std::string& task, const std::string& data, const std::string& directory, const Given& given,
                   bool resumes, const nb::object& stepped) {
  const FieldValues values = settings_of(given);
  const PlannedRun run = plan_at({task, data, directory}, values, resumes);
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
  const std::optional<TrainReport> report =
      said_of_settings(values, [&] { return freely([&] { return train_as_planned(run, watch); }); });
  stop.rethrow();
  return report ? object_of(any_reply(train_reply(*report))) : nb::none();
}

nb::list logged(const std::string& directory) {
  nb::list rows;
  for (const LoggedStep& step : read_log({.directory = directory})) rows.append(row_of(step));
  return rows;
}

std::int64_t planned_steps(const std::string& task, const std::string& data, const std::string& directory,
                           const Given& given, bool resumes) {
  return plan_at({task, data, directory}, settings_of(given), resumes).settings.steps;
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
  const auto of_task = nb::arg("task");
  const auto on_data = nb::arg("data");
  const auto in_directory = nb::arg("directory");
  const auto given = nb::arg("given");
  tell_arguments("train", train_arguments().infos());
  module.def("train", &trained, of_task, on_data, in_directory, given, nb::arg("resumes"), nb::arg("stepped"),
             nb::sig("def train(task: str, data: str, directory: str, given: dict[str, object], resumes: bool, "
                     "stepped: collections.abc.Callable[[tuple[typing.Any, ...]], object]) -> dict[str, typing.Any] | "
                     "None"));
  module.def("planned_steps", &planned_steps, of_task, on_data, in_directory, given, nb::arg("resumes"));
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
