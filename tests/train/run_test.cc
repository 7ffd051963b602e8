// A training run in its directory: what it writes, how it goes on, and what it refuses.
#include "qkv/train/run.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/safetensors.h"
#include "qkv/text/train_tokenizer.h"
#include "qkv/train/trained_model.h"

namespace qkv::run_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::TemporaryDirectory;
using Json = nlohmann::json;

TrainSettings small(std::int64_t steps) {
  TrainSettings settings = recipe_for("previous");
  settings.length = 6;
  settings.d_model = 16;
  settings.heads = 2;
  settings.batch = 4;
  settings.warm_up = 2;
  settings.dropout = 0.1;
  settings.steps = steps;
  return settings;
}

constexpr TrainReporting kSeldom = {.examine_every = 3, .save_every = 200, .examples = 8};

TrainReport run(const TrainPlace& place, std::int64_t steps, TrainStart start = TrainStart::anew) {
  return run_training(small(steps), kSeldom, place, start).value();
}

TEST(RecipeFor, ATaskHasOneForEachKindOfModelThatItIsKnownFor) {
  EXPECT_EQ(recipe_for("shapes").model, "captioner");
  EXPECT_EQ(recipe_for("shapes", "captioner").steps, recipe_for("shapes").steps);
  EXPECT_EQ(recipe_for("shapes", "two-tower").model, "two-tower");
  EXPECT_EQ(recipe_for("shapes", "two-tower").batch, 64);
  EXPECT_EQ(recipe_for("copy", "decoder").steps, recipe_for("copy").steps);
}

TEST(Run, WritesALogAndAReport) {
  const TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  const TrainReport report = run(place, 6);
  const std::vector<LoggedStep> log = read_log(place);
  ASSERT_EQ(log.size(), 6U);
  EXPECT_EQ(log[5].step, 6);
  EXPECT_EQ(log[5].learning_rate, 0);
  EXPECT_TRUE(log[2].accuracy.has_value());
  EXPECT_FALSE(log[3].accuracy.has_value());
  EXPECT_EQ(report.steps, 6);
  EXPECT_EQ(report.examples, 32);
  EXPECT_EQ(report.goal, 0.99);
  ASSERT_EQ(report.patterns.size(), 1U);
  EXPECT_EQ(report.patterns[0].relation, "previous");
  EXPECT_EQ(report.patterns[0].layers[0].size(), 2U);
  EXPECT_FALSE(report.reached.has_value());
}

TEST(Run, StoppedAndResumedIsTheWholeRunBitForBit) {
  const TemporaryDirectory directory;
  const TrainPlace whole{directory / "whole"};
  const TrainPlace parts{directory / "parts"};
  run(whole, 12);
  std::int64_t seen = 0;
  const TrainWatch until_five{
      .stepped = [&](const LoggedStep& step) { seen = step.step; }, .doing = {}, .stopped = [&] { return seen == 5; }};
  EXPECT_EQ(run_training(small(12), kSeldom, parts, TrainStart::anew, until_five), std::nullopt);
  const SavedRun saved = read_saved_run(parts);
  EXPECT_EQ(saved.steps, 5);
  EXPECT_EQ(saved.settings.d_model, 16);
  EXPECT_EQ(saved.reporting.examine_every, 3);
  EXPECT_TRUE(run_training(saved.settings, saved.reporting, parts, TrainStart::resumed).has_value());
  EXPECT_EQ(read_file(parts.model()), read_file(whole.model()));
}

TEST(Run, ReportsItsEarlierPartsToo) {
  const TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  run(place, 3);
  // As if the goal had been met and a day had passed.
  std::string text;
  for (const LoggedStep& step : read_log(place)) {
    Json line = {{"step", step.step}, {"loss", step.loss}, {"accuracy", step.step == 2 ? 1.0 : 0.0}};
    line["seconds"] = step.step == 3 ? 86400.0 : 1.0;
    text += line.dump() + "\n";
  }
  write_file(place.log(), text + R"({"step": 4, "los)");
  const TrainReport again = run(place, 3, TrainStart::resumed);
  EXPECT_EQ(again.reached->step, 2);
  EXPECT_EQ(again.reached->seconds, 1);
  EXPECT_GE(again.seconds, 86400.0);
}

void damage(const TrainPlace& place, const std::string& word, const std::string& value) {
  const Safetensors file = Safetensors::read(place.checkpoint());
  auto metadata = file.metadata();
  metadata[word] = value;
  std::vector<Tensor> tensors;
  std::vector<NamedView> views;
  for (const SafetensorsEntry& entry : file.entries()) tensors.push_back(file.load(entry.name));
  for (std::size_t n = 0; n < tensors.size(); ++n) views.push_back({file.entries()[n].name, tensors[n]});
  write_file(place.checkpoint(), encode_safetensors(views, metadata));
}

TEST(Run, NamesTheDamagedWordOfItsCheckpoint) {
  const TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  run(place, 1);
  const std::vector<std::byte> whole = read_file(place.checkpoint());
  const auto complaint = [&](const std::string& word, const std::string& value) {
    write_file(place.checkpoint(), std::string_view(reinterpret_cast<const char*>(whole.data()), whole.size()));
    damage(place, "run." + word, value);
    const std::string message = error_message<Error>([&] { static_cast<void>(read_saved_run(place)); });
    EXPECT_TRUE(message.starts_with(place.checkpoint() + ": run." + word + ": "));
    return message.substr(message.find("expected"));
  };
  EXPECT_EQ(complaint("dtype", "f77"), "expected f32 or bf16, got \"f77\"");
  EXPECT_EQ(complaint("optimizer", "adamx"), "expected adamw or sgd, got \"adamx\"");
  EXPECT_EQ(complaint("batch", "-2"), "expected a whole number from 1 to 1048576, got -2");
  EXPECT_EQ(complaint("length", "5000"), "expected from 4 to 4096 letters for previous, got 5000");
  EXPECT_EQ(complaint("warm_up", "x"), "expected a number, got \"x\"");
  EXPECT_EQ(complaint("learning_rate", "nan"), "expected a number above 0, up to 1e38, got nan");
  EXPECT_EQ(complaint("report.examples", "0"), "expected a whole number from 1 to 1048576, got 0");
}

TEST(Run, IsNotBeyondItsOwnEnd) {
  const TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  run(place, 3);
  damage(place, "steps", "4");
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(read_saved_run(place)); }),
            place.checkpoint() + ": steps: expected at most 3, the steps of the run, got 4");
}

TEST(Run, CannotGoOnFromAModel) {
  const TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  run(place, 1);
  std::filesystem::rename(place.model(), place.checkpoint());
  EXPECT_EQ(error_message<Error>([&] { run(place, 1, TrainStart::resumed); }),
            place.checkpoint() + ": a model without its training, which cannot go on");
}

TEST(Run, WaitsForNobodyElseInItsDirectory) {
  const TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  run(place, 1);
  const int held = ::open(place.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_EQ(error_message<Error>([&] { run(place, 1, TrainStart::resumed); }),
            "another qkv train is at work in " + place.directory);
  ::close(held);
  EXPECT_NO_THROW(run(place, 1, TrainStart::resumed));
}

TEST(Run, NoticesAChangeAnywhereInTheText) {
  const TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  std::string text;
  for (int n = 0; n < 4000; ++n) text += "the cat sat down. ";
  TrainSettings settings = small(2);
  settings.task = "text";
  settings.data = directory / "text.txt";
  write_file(settings.data, text);
  const std::optional<TrainReport> report = run_training(settings, kSeldom, place, TrainStart::anew);
  EXPECT_FALSE(report->goal.has_value());
  EXPECT_THAT(report->sample->text, testing::Not(testing::IsEmpty()));
  // One letter in 72,000, in the held-out end.
  std::swap(text[text.size() - 6], text[text.size() - 5]);
  write_file(settings.data, text);
  EXPECT_THAT(
      error_message<Error>([&] { static_cast<void>(run_training(settings, kSeldom, place, TrainStart::resumed)); }),
      AllOf(HasSubstr("text " + settings.data),
            HasSubstr(" gives other examples than those that the checkpoint was trained on (expected the hash ")));
}

TEST(Run, KeepsATokenizerAndStoresHalves) {
  const TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  std::string text;
  for (int n = 0; n < 4000; ++n) text += "the cat sat down. ";
  TrainSettings settings = small(3);
  settings.task = "text";
  settings.data = directory / "text.txt";
  settings.tokenizer = directory / "tokenizer.json";
  settings.stored = "f16";
  write_file(settings.data, text);
  write_file(*settings.tokenizer, train_tokenizer(text, {.size = 270}));
  const std::optional<TrainReport> report = run_training(settings, kSeldom, place, TrainStart::anew);
  EXPECT_THAT(report->sample->text, testing::Not(testing::IsEmpty()));
  const TrainedModel stored = TrainedModel::read(place.model());
  for (const Parameter& one : stored.model().parameters()) EXPECT_EQ(one.value.value().dtype(), DType::f16) << one.name;
  EXPECT_LT(stored.example_of("the cat sat down").tokens.size(), 16U);
  const SavedRun saved = read_saved_run(place);
  EXPECT_EQ(saved.settings.tokenizer, settings.tokenizer);
  EXPECT_EQ(saved.settings.stored, settings.stored);
}

TEST(Settings, ThatHaveNoMeaningAreNamed) {
  const auto refused = [](const auto& change) {
    TrainSettings settings = small(2);
    TrainReporting reporting;
    change(settings, reporting);
    return error_message([&] { require_sound(settings, reporting); });
  };
  EXPECT_EQ(refused([](auto& s, auto&) { s.layers = 5000; }),
            "train: layers: expected a whole number from 1 to 1024, got 5000");
  EXPECT_EQ(refused([](auto&, auto& r) { r.save_every = 0; }),
            "train: save_every: expected a whole number from 1 to 1099511627776, got 0");
  EXPECT_EQ(refused([](auto& s, auto&) {
              s.d_model = 65536;
              s.d_ff = 16;
              s.layers = 9;
            }),
            "train: d_model: expected a model of at most 2147483648 parameters, got 154637697024 in its blocks alone");
  EXPECT_EQ(refused([](auto& s, auto&) { s.clip = 0; }), "train: clip: expected a number above 0, up to 1e38, got 0");
  EXPECT_EQ(refused([](auto& s, auto&) { s.momentum = 1; }),
            "train: momentum: expected a number from 0, below 1, got 1");
  EXPECT_EQ(refused([](auto& s, auto&) { s.dtype = "f16"; }), "train: dtype: expected f32 or bf16, got \"f16\"");
  EXPECT_EQ(refused([](auto& s, auto&) { s.stored = "f64"; }), "train: store: expected f32, bf16 or f16, got \"f64\"");
  EXPECT_EQ(refused([](auto& s, auto&) { s.schedule = "linear"; }),
            "schedule_named: schedule: expected constant or cosine, got \"linear\"");
  EXPECT_THAT(refused([](auto& s, auto&) { s.model = "novel"; }), HasSubstr("model_kind_named: model: expected one of decoder, "));
}

TEST(Settings, WhoseTaskIsUnknownAreToldAllThatThereAre) {
  EXPECT_EQ(error_message([] { static_cast<void>(task_of({.task = "pictuers"})); }),
            "train: task: expected one of copy, reverse, sort, previous, induction, brackets, addition, english, "
            "translation, shapes, text, pictures, got \"pictuers\"; did you mean pictures?");
}

TEST(Settings, ThatNoMachineCanHoldAreRefused) {
  TrainSettings settings = small(2);
  settings.batch = 1000000;
  settings.d_model = 1024;
  const auto task = task_of(settings);
  EXPECT_THAT(error_message([&] { static_cast<void>(model_of(settings, *task)); }),
              AllOf(HasSubstr("train: batch: expected at most "), HasSubstr(" numbers each, got 1000000")));
  settings = small(2);
  settings.model = "captioner";
  EXPECT_EQ(error_message([&] { static_cast<void>(model_of(settings, *task)); }),
            "make_task_model: model: expected a task with images for a model of kind captioner, got previous");
}

}  // namespace
}  // namespace qkv::run_test
