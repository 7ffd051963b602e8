// A training run, as the page Learn sees it.
#include "qkv/api/learn.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ask.h"
#include "files/temporary_directory.h"
#include "qkv/train/run.h"
#include "working_directory.h"

namespace qkv {
namespace {

TEST(LearnQuestion, ShowsCurvesAndTheModelsThatWereKept) {
  const tests::TemporaryDirectory directory;
  const TrainPlace place{directory / "run"};
  TrainSettings settings = recipe_for("previous");
  settings.steps = 6;
  settings.d_model = 16;
  settings.heads = 2;
  settings.batch = 4;
  const TrainReporting reporting{.examine_every = 3, .save_every = 200, .keep_every = 3, .examples = 8};
  ASSERT_TRUE(run_training(settings, reporting, place, TrainStart::anew).has_value());
  EXPECT_EQ(kept_steps(place), (std::vector<std::int64_t>{0, 3, 6}));
  const Answer answer = ask("learn", Json{{"run", place.directory}}.dump());
  EXPECT_EQ(answer.json["run"]["done"], 6);
  EXPECT_EQ(answer.json["run"]["task"], "previous");
  EXPECT_EQ(answer.numbers<std::int64_t>(answer.json["step"]), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(answer.numbers(answer.json["loss"]).size(), 6U);
  EXPECT_EQ(answer.json["examined"].size(), 2U);
  ASSERT_EQ(answer.json["kept"].size(), 3U);
  const Json heads{{"model", answer.json["kept"][1]["path"]}, {"example", 0}};
  EXPECT_EQ(ask("heads", heads.dump()).json["sites"][0]["heads"], 2);
}

std::string refusal_in(const std::string& question, const std::string& request) {
  try {
    ask(question, request);
    return {};
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(TrainQuestion, LearnsWhereQkvWasStartedAndGoesOnAfterAStop) {
  const tests::TemporaryDirectory directory;
  const tests::WorkingDirectory inside(directory.path());
  Studio studio;
  const std::string request = R"({"task": "previous", "steps": 24, "keep_every": 1, "examine_every": 1})";
  const auto stop_after = [](std::int64_t last) {
    return [last](std::string_view what, const ProbeProgress& progress) {
      EXPECT_EQ(what, "training");
      EXPECT_EQ(progress.total, 24);
      EXPECT_TRUE(ask("learn", R"({"run": "qkv-previous"})").json["run"]["at_work"]);
      return progress.done < last ? Proceed::go_on : Proceed::stop;
    };
  };
  EXPECT_THROW(static_cast<void>(studio.ask("train", request, stop_after(5))), Cancelled);
  EXPECT_EQ(ask("learn", R"({"run": "qkv-previous"})").json["run"]["done"], 5);
  EXPECT_FALSE(ask("learn", R"({"run": "qkv-previous"})").json["run"]["at_work"]);
  const Json done = Json::parse(studio.ask("train", R"({"task": "previous", "resume": true})").json);
  EXPECT_EQ(done["steps"], 24);
  const Json run = ask("learn", R"({"run": "qkv-previous"})").json;
  EXPECT_EQ(run["run"]["done"], 24);
  EXPECT_EQ(run["kept"].size(), 25U);
  EXPECT_EQ(refusal_in("train", request),  // what is learnt is kept
            "request: out: expected a directory without a checkpoint, or `resume` beside it, got \"qkv-previous\", which has one");
}

TEST(TrainQuestion, RefusesWhatItCannotLearn) {
  EXPECT_EQ(refused_field("train", R"({"task": "text"})"), "task");
  EXPECT_EQ(refused_field("train", R"({"task": "previos"})"), "task");
  EXPECT_EQ(refused_field("train", R"({"task": "../previous"})"), "task");
  EXPECT_EQ(refused_field("train", R"({"task": "tokenizer", "data": "book.txt"})"), "task");
  EXPECT_EQ(refused_field("train", R"({"task": "previous", "out": "elsewhere"})"), "out");
  EXPECT_EQ(refused_field("train", R"({"task": "previous", "d_model": 1024})"), "d_model");
  EXPECT_EQ(refused_field("train", R"({"task": "previous", "steps": 100001})"), "steps");
  EXPECT_EQ(refused_field("train", R"({"task": "previous", "steps": 0})"), "steps");
  EXPECT_EQ(refused_field("train", R"({"task": "previous", "steps": 1000, "keep_every": 1})"), "keep_every");
  EXPECT_EQ(refused_field("train", R"({"task": "previous", "keep_every": 1})"), "keep_every")
      << "of the recipe's steps";
  EXPECT_EQ(refused_field("train", R"({"task": "previous", "steps": 1000, "save_every": 1})"), "save_every");
  EXPECT_EQ(refused_field("train", R"({"task": "previous", "batch": 1024, "d_model": 512, "layers": 16})"), "batch");
  EXPECT_FALSE(std::filesystem::exists("qkv-previous"));
  EXPECT_EQ(ask("learn", "{}").json["tasks"].size(), tasks().size());
}

TEST(LearnQuestion, RefusesWhatIsNoRun) {
  EXPECT_EQ(refused_field("learn", R"({"run": "/nowhere"})"), "run");
  EXPECT_TRUE(ask("learn", "{}").json["run"].is_null());
}

}  // namespace
}  // namespace qkv
