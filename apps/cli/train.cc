// qkv train: a model learns a task, and its heads are scored.
#include "qkv/api/train.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "output.h"
#include "progress.h"
#include "qkv/train/run.h"
#include "qkv/train/training.h"
#include "saying.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

struct TrainFlags : TrainRun, ThreadsFlag {
  bool json = false;
};

constexpr const char* kOfRun = "The run";

Fields<TrainFlags> fields_of_train() {
  Fields<TrainFlags> fields;
  fields.add(train_run_fields());
  fields.add(threads_flag(kOfRun));
  fields.add(&TrainFlags::json, json_field("Print the result as JSON", kOfRun));
  fields.exclude({"threads"}, {"task=tokenizer"}, "one thread trains it");
  return fields;
}

// nullopt after Ctrl-C, once all is saved.
std::optional<TrainReport> report_of(const PlannedRun& run) {
  const InterruptWatch interrupts;
  WalkProgress progress(run.settings.task, Speech::on);
  progress.go_on_from(run.done);
  std::int64_t tokens = 0;
  const auto show = [&](const LoggedStep& step) {
    tokens += step.tokens;
    progress.show(step.step, run.settings.steps,
                  fmt::format("step {}  loss {:.4f}  {:.1f} k tokens/s", step.step, step.loss,
                              static_cast<double>(tokens) / progress.seconds() / 1e3));
  };
  try {
    return train_as_planned(run, {.stepped = show,
                                  .doing = [&](const std::string& what) { progress.say(what); },
                                  .stopped = InterruptWatch::interrupted});
  } catch (const Diverged& error) {
    throw Error(
        fmt::format("{}; {} holds the last checkpoint: to begin anew, say with a lower --learning-rate, name "
                    "another --out or empty it",
                    error.what(), run.place.directory));
  }
}

// As a shell reads it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// What goes on with the run.
std::string resuming_command(const TrainSettings& settings, const TrainPlace& place) {
  const std::string data = settings.data.empty() ? "" : " " + quoted(settings.data);
  return "qkv train " + settings.task + data + " --out " + quoted(place.directory) + " --resume";
}

void train_tokenizer_of(TokenizerRun run, bool as_json) {
  check_files({{"DATA", run.data}}, {{"--out", run.out}});
  Progress progress;
  run.options.progress = [&](std::int64_t pieces) {
    progress.show(fmt::format("{} of {} pieces", pieces, run.options.size));
  };
  const TrainTokenizerReply reply = trained_tokenizer(run);
  print(as_json ? reply_as_json(reply) : as_text(reply, run));
}

void run_train(TrainFlags& flags, const Given& given) {
  require_trained(flags.settings.task);
  if (flags.settings.task == "tokenizer") return train_tokenizer_of(tokenizer_run(flags), flags.json);
  const PlannedRun run = planned_run(flags, given, saying_of("qkv train"));
  const std::optional<TrainReport> report = report_of(run);
  if (report) return flags.json ? print(reply_as_json(train_reply(*report))) : print_text(as_text(*report, run.place));
  complain("qkv train",
           fmt::format("stopped after step {} of {}, all saved; go on with: {}", read_log(run.place).back().step,
                       run.settings.steps, resuming_command(run.settings, run.place)));
  throw Exit{kInterrupted};
}

}  // namespace

void add_train(Commands& commands) {
  commands.add({.name = "train",
                .group = "Train",
                .footer = "Settings without a default here follow from the task.\n"
                          "Ctrl-C saves and ends with 130.\n"
                          "Examples:\n  qkv train induction\n  qkv train copy --layers 1 --heads 2 --out copy\n"
                          "  qkv train copy --out copy --resume\n  qkv train text book.txt\n"
                          "  qkv train text book.txt --from gpt --steps 200\n"
                          "  qkv train pictures photos --model two-tower\n"
                          "  qkv train tokenizer book.txt --size 4000 --out tokenizer.json",
                .places = {"task", "data"}},
               fields_of_train(), run_train);
}

}  // namespace qkv::cli
