#include "qkv/api/train.h"

#include <exception>
#include <filesystem>
#include <utility>

#include "../signals.h"
#include "asking.h"
#include "python_writer.h"
#include "qkv/train/run.h"

namespace qkv::python {
namespace {

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

// A tokenizer is no run, and has no steps.
PlannedRun planned(const TrainRun& run, const qkv::Given& given, const Saying& saying) {
  require_trained(run.settings.task);
  if (run.settings.task == "tokenizer") {
    throw InvalidArgument("train", "task", "a model's: ask(\"train\", …) trains a tokenizer", "tokenizer");
  }
  return planned_run(run, given, saying);
}

nb::object trained(const Asking<TrainRun>& question, const Given& placed, const Given& given, const nb::object& begun,
                   const nb::object& stepped) {
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
  return question.answer(
      nullptr, placed, given, [&](const TrainRun& asked, const qkv::Given& all, const Saying& saying) {
        const PlannedRun run = planned(asked, all, saying);
        begun(run.settings.steps, run.place.directory);
        const std::optional<TrainReport> report = freely([&] { return train_as_planned(run, watch); });
        stop.rethrow();
        return report ? object_of(any_reply(train_reply(*report))) : nb::none();
      });
}

nb::list logged(const std::string& directory) {
  nb::list rows;
  for (const LoggedStep& step : read_log({.directory = directory})) rows.append(row_of(step));
  return rows;
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
  static const Asking<TrainRun> kOne("train", train_run_fields(), {"task", "data", "out", "resume"}, {"size"},
                                     {{"out", "directory"}});
  module.def(
      kOne.name(),
      [](const Given& placed, const Given& given, const nb::object& begun, const nb::object& stepped) {
        return trained(kOne, placed, given, begun, stepped);
      },
      nb::arg("placed"), nb::arg("given"), nb::arg("begun"), nb::arg("stepped"),
      nb::sig("def train(placed: dict[str, object], given: dict[str, object], "
              "begun: collections.abc.Callable[[int, str], object], "
              "stepped: collections.abc.Callable[[tuple[typing.Any, ...]], object]) -> dict[str, typing.Any] | "
              "None"));
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
