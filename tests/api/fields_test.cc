// The fields of requests: read from texts and JSON, and as docs/api.md lists them.
#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error_message.h"
#include "qkv/api/check.h"
#include "qkv/api/cost.h"
#include "qkv/api/mask.h"
#include "qkv/api/probe.h"
#include "qkv/api/questions.h"
#include "qkv/api/studio.h"
#include "qkv/files.h"

namespace qkv::fields_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(std::string_view json) {
  return error_message([&] { (void)probe_fields().from_json(json); });
}

TEST(Fields, AreReadFromJsonWithTheirTypes) {
  const ProbeRequest request = probe_fields().from_json(
      R"({"q": "q.npy", "causal": true, "heads": 4, "scale": 0.5, "seed": 18446744073709551615, "dropout": 0.1,
          "map": "8x4", "reduce": "max", "row": null, "threads": 2})");
  EXPECT_EQ(request.q, "q.npy");
  EXPECT_TRUE(request.causal);
  EXPECT_EQ(request.heads, 4);
  EXPECT_EQ(request.scale, 0.5);
  EXPECT_EQ(request.seed, 18446744073709551615U);
  EXPECT_EQ(request.map, "8x4");
  EXPECT_EQ(request.reduce, "max");
  EXPECT_EQ(request.row, std::nullopt);
  EXPECT_EQ(request.threads, 2);
  EXPECT_EQ(request.head, "");
}

TEST(Fields, RefuseWhatHasNoMeaning) {
  EXPECT_EQ(refusal(R"({"row": "4"})"), "request: row: expected a whole number, got \"4\"");
  EXPECT_EQ(refusal(R"({"row": 1.5})"), "request: row: expected a whole number, got 1.5");
  EXPECT_EQ(refusal(R"({"causal": 1})"), "request: causal: expected true or false, got 1");
  EXPECT_EQ(refusal(R"({"scale": []})"), "request: scale: expected a number, got []");
  EXPECT_EQ(refusal(R"({"q": 1})"), "request: q: expected a text, got 1");
  EXPECT_EQ(refusal(R"({"threads": 0})"), "request: threads: expected a whole number from 1 to 65536, got 0");
  EXPECT_EQ(refusal(R"({"map": "4", "reduce": "maxx"})"),
            "request: reduce: expected mean or max, got \"maxx\"; did you mean max?");
  EXPECT_EQ(refusal(R"({"reduce": "max"})"), "request: reduce: expected `map` beside it, got none");
  EXPECT_EQ(refusal(R"({"zebra": 1})"), "request: zebra: expected a field of this request, got another");
  EXPECT_EQ(refusal(R"({"causl": true})"),
            "request: causl: expected a field of this request, got another; did you mean causal?");
  EXPECT_EQ(refusal("[1]"), "request: json: expected an object, got \"[1]\"");
}

TEST(Fields, SayWhereARequestIsNoJson) {
  EXPECT_THAT(refusal("{"), StartsWith("request: json: expected JSON, got other text at line 1, column 2: "));
  EXPECT_THAT(refusal("{\"q\": \"q.npy\",\n \"row\": nul}"), HasSubstr("got other text at line 2, column 12: "));
  EXPECT_EQ(refusal(R"({"scale": 1e400})"),
            "request: json: expected JSON, got a number out of the range of f64, up to 1.8e308: '1e400'");
  const std::string long_text(15'000'000, 'a');
  EXPECT_LT(refusal("{\"q\": \"" + long_text).size(), 400U);
  EXPECT_LT(refusal("[\"" + long_text + "\"]").size(), 400U);
  EXPECT_LT(refusal("{\"row\": \"" + long_text + "\"}").size(), 400U);
  EXPECT_LT(refusal("{\"" + long_text + "\": 1}").size(), 400U);
}

TEST(Fields, RefuseAKeyThatStandsTwice) {
  EXPECT_EQ(refusal(R"({"row": 1, "row": 2})"), "request: row: expected it once, got it twice");
  EXPECT_EQ(refusal(R"({"row": null, "row": 2})"), "request: row: expected it once, got it twice");
}

TEST(Fields, TakeFiniteNumbersAlone) {
  const FieldInfo number{.name = "x", .type = FieldType::number};
  const auto said = [&](std::string_view text) {
    return error_message([&] { static_cast<void>(field_value(number, text)); });
  };
  constexpr const char* kRange =
      "request: x: expected a number in the range of f64, up to 1.8e308 and down to 4.9e-324";
  EXPECT_EQ(said("1e400"), std::string(kRange) + ", got 1e400");
  EXPECT_EQ(said("-1e-400"), std::string(kRange) + ", got -1e-400");
  EXPECT_EQ(said("inf"), "request: x: expected a finite number, got inf");
  EXPECT_EQ(said("nan"), "request: x: expected a finite number, got nan");
  EXPECT_EQ(said(""), "request: x: expected a number, got \"\"");
  EXPECT_EQ(std::get<double>(field_value(number, "4.9e-324")), 4.9e-324);
}

TEST(Fields, AreReadFromTheTextsOfACommandLine) {
  FieldInfo whole;
  whole.name = "row";
  whole.least = 0;
  whole.type = FieldType::whole;
  EXPECT_EQ(std::get<std::int64_t>(field_value(whole, "7")), 7);
  EXPECT_EQ(error_message([&] { (void)field_value(whole, "-1"); }),
            "request: row: expected a whole number, 0 or more, got -1");
  EXPECT_EQ(error_message([&] { (void)field_value(whole, "7x"); }),
            "request: row: expected a whole number, 0 or more, got 7x");
  whole.type = FieldType::number;
  EXPECT_EQ(std::get<double>(field_value(whole, "1e-3")), 1e-3);
  whole.type = FieldType::flag;
  EXPECT_TRUE(std::get<bool>(field_value(whole, "true")));
}

std::string document() {
  const auto bytes = read_file(QKV_SOURCE_DIR "/docs/api.md");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A JSON value of no field of this type.
std::string wrong_json(const FieldInfo& field) { return field.type == FieldType::text ? "7" : R"("x7")"; }

TEST(Fields, OfEveryQuestionAreNamedWhereTheirValuesHaveNoMeaning) {
  Studio studio({.text = {}, .asker = Asker::owner});
  for (const Question& question : questions()) {
    for (const FieldInfo& field : question.fields) {
      const std::string request = "{\"" + field.name + "\": " + wrong_json(field) + "}";
      try {
        static_cast<void>(studio.ask(question.name, request));
        ADD_FAILURE() << question.name << " took " << request;
      } catch (const InvalidArgument& error) {
        EXPECT_EQ(error.argument(), field.name) << question.name;
      }
    }
  }
}

TEST(Fields, OfEveryQuestionHaveHelpBoundsAndAnExample) {
  for (const Question& question : questions()) {
    for (const FieldInfo& field : question.fields) {
      const std::string name = question.name + "." + field.name;
      EXPECT_NE(field.meaning, "") << name;
      EXPECT_NE(field.example, "") << name;
      EXPECT_NE(field.example, field.fallback) << name;
      EXPECT_NO_THROW(static_cast<void>(field_value(field, field.example))) << name;
      if (field.type != FieldType::whole && field.type != FieldType::number) continue;
      EXPECT_NE(field.least, std::numeric_limits<std::int64_t>::min()) << name;
      EXPECT_NE(field.most, std::numeric_limits<std::int64_t>::max()) << name;
      EXPECT_FALSE(field.only_told && question.command.empty()) << name;
      const double example = std::stod(field.example);
      EXPECT_TRUE(example >= static_cast<double>(field.least) && example <= static_cast<double>(field.most)) << name;
    }
  }
}

TEST(Fields, HaveAnExampleBesideTheDefault) {
  struct Sample {
    bool flag = false;
    std::int64_t none = 0, some = 6, high = 9;
    double number = 0.5;
    std::uint64_t seed = 7;
    std::string word = "mean";
  };
  Fields<Sample> fields;
  fields.add(&Sample::flag, {.name = "flag"})
      .add(&Sample::none, {.name = "none", .least = 0, .most = 3})
      .add(&Sample::some, {.name = "some", .least = 1, .most = 99})
      .add(&Sample::high, {.name = "high", .least = 1, .most = 10})
      .add(&Sample::number, {.name = "number", .least = 0, .most = 1})
      .add(&Sample::seed, {.name = "seed"})
      .add(&Sample::word, {.name = "word", .words = {"", "mean", "max"}});
  std::vector<std::string> examples;
  for (const FieldInfo& field : fields.infos()) examples.push_back(field.example);
  EXPECT_EQ(examples, (std::vector<std::string>{"true", "1", "12", "4", "0.25", "8", "max"}));
}

TEST(Fields, RefuseInWordsOfTheirOwnWhereTheirBoundsAreOnlyTold) {
  const FieldInfo told{.name = "x", .least = 1, .most = 3, .type = FieldType::whole, .example = "2", .only_told = true};
  EXPECT_EQ(std::get<std::int64_t>(field_value(told, "7")), 7);
  EXPECT_EQ(error_message([&] { static_cast<void>(field_value(told, "a")); }),
            "request: x: expected a whole number, got a");
  EXPECT_THAT(fields_as_markdown({&told, 1}), HasSubstr("| `x` | whole number from 1 to 3 |  | `2` |"));
}

TEST(Questions, AreThoseOfTheDocument) {
  EXPECT_THAT(document(), HasSubstr(questions_as_markdown() + "<!-- made by studio_messages: end -->"))
      << "build/release/apps/studio/studio_messages docs/api.md writes them";
}

TEST(Replies, HaveTheKeysOfTheDocument) {
  const std::string text = document();
  const auto json = nlohmann::json::parse(as_json(CheckRequest{}, CheckReply{}));
  for (const auto& [key, value] : json.items()) EXPECT_THAT(text, HasSubstr("`" + key + "`"));
}

// A bare | would end a cell of the table.
TEST(Replies, PartCellsAloneByBars) {
  std::istringstream lines(questions_as_markdown());
  int columns = 0;
  for (std::string line; std::getline(lines, line);) {
    int bars = 0;
    for (std::size_t n = 0; n < line.size(); ++n) bars += line[n] == '|' && (n == 0 || line[n - 1] != '\\') ? 1 : 0;
    if (bars == 0 || columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
  }
}

}  // namespace
}  // namespace qkv::fields_test
