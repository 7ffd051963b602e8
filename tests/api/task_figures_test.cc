// The tasks and their examples as JSON.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "qkv/api/task.h"

namespace qkv::task_figures_test {
namespace {

using Json = nlohmann::json;

Json json_of(const Task& task, const ExampleRange& range) {
  return Json::parse(reply_as_json(task_figures(task, range, 0)));
}

TEST(TaskFigures, ListsTheTasks) {
  const Json json = Json::parse(reply_as_json(task_list()));
  ASSERT_EQ(json["tasks"].size(), 10U);
  EXPECT_EQ(json["tasks"][0]["name"], "copy");
  EXPECT_EQ(json["tasks"][0]["length"]["usual"], 12);
  EXPECT_EQ(json["tasks"][5]["name"], "brackets");
  EXPECT_EQ(json["tasks"][5]["model"], "decoder");  // though an encoder can read it, too
}

TEST(TaskFigures, HoldsExamples) {
  const Json json = json_of(*make_task("addition", {.length = 1}), {.split = Split::test, .first = 5, .count = 3});
  EXPECT_EQ(json["kind"], "decoder");
  EXPECT_EQ(json["split"], "test");
  EXPECT_EQ(json["lengths"]["tokens"], 5);
  ASSERT_EQ(json["examples"].size(), 3U);
  const Json& example = json["examples"][0];
  EXPECT_EQ(example["n"], 5);
  EXPECT_EQ(example["tokens"].size(), 5U);
  EXPECT_EQ(example["tokens"][1], "+");
  EXPECT_TRUE(example["labels"][0].is_null());
  EXPECT_EQ(example["patterns"]["addends"][0]["keys"], Json({0, 2}));
  EXPECT_FALSE(example.contains("syntax"));
  const Json sentence = json_of(*make_task("english"), {})["examples"][0];
  EXPECT_EQ(sentence["syntax"]["dependencies"].size(), sentence["tokens"].size());
}

}  // namespace
}  // namespace qkv::task_figures_test
