// qkv train: a model learns a task, and its heads are scored.
#include "qkv/api/train.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "commands.h"
#include "interrupts.h"
#include "qkv/train/run.h"

namespace qkv::cli {
namespace {

// nullopt after Ctrl-C, once all is saved.
std::optional<TrainReport> report_of(const PlannedRun& run) {
  const InterruptWatch interrupts;
  WalkProgress progress(Speech::on);
  progress.go_on_from(run.settings.task, run.done);
  std::int64_t tokens = 0;
  const auto show = [&](const LoggedStep& step) {
    tokens += step.tokens;
    progress.show(run.settings.task, step.step, run.settings.steps,
                  fmt::format("step {}  loss {:.4f}  {:.1f} k tokens/s", step.step, step.loss,
                              static_cast<double>(tokens) / progress.seconds() / 1e3));
  };
  return train_as_planned(run, {.stepped = show,
                                .doing = [&](const std::string& what) { progress.say(what); },
                                .stopped = InterruptWatch::interrupted});
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

void train_tokenizer_of(TokenizerRun run, const Manner& how) {
  Progress progress;
  run.options.progress = [&](std::int64_t pieces) {
    progress.show(fmt::format("{} of {} pieces", pieces, run.options.size));
  };
  const TrainTokenizerReply reply = trained_tokenizer(run);
  how.tell(reply, [&] { return as_text(reply, run); });
}

void run_train(const Asked<TrainRun>& asked, const Given& given) {
  require_trained(asked.settings.task);
  if (asked.settings.task == "tokenizer") return train_tokenizer_of(tokenizer_run(asked), asked.how);
  const PlannedRun run = planned_run(asked, given, asked.how.saying());
  if (const std::optional<TrainReport> report = report_of(run)) {
    return asked.how.tell(train_reply(*report), [&] { return as_text(*report, run.place); });
  }
  throw Exit{kInterrupted,
             fmt::format("stopped after step {} of {}, all saved; go on with: {}", read_log(run.place).back().step,
                         run.settings.steps, resuming_command(run.settings, run.place))};
}

}  // namespace

void add_train(Commands& commands) {
  auto fields = asked(train_run_fields(), {"json", "threads"}, "The run");
  fields.exclude({"threads"}, {"task=tokenizer"}, "one thread trains it");
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
               std::move(fields), run_train);
}

}  // namespace qkv::cli
