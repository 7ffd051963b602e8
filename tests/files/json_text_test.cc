#include "files/json_text.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/error.h"

namespace qkv::files::json_text_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string message(std::string_view text) {
  return error_message<Error>([&] { static_cast<void>(parse_json(text, "x.json")); });
}

TEST(JsonText, ReadsTheWordsThatPythonWrites) {
  const auto json =
      parse_json(R"({"a": [NaN, null, Infinity], "b": -Infinity, "c": {"d":null,"e":NaN}, "f": -1.5e-3})", "");
  EXPECT_TRUE(std::isnan(json["a"][0].get<double>()));
  EXPECT_TRUE(json["a"][1].is_null());
  EXPECT_EQ(json["a"][2].get<double>(), INFINITY);
  EXPECT_EQ(json["b"].get<double>(), -INFINITY);
  EXPECT_TRUE(json["c"]["d"].is_null());
  EXPECT_TRUE(std::isnan(json["c"]["e"].get<double>()));
  EXPECT_EQ(json["f"].get<double>(), -1.5e-3);
  EXPECT_TRUE(std::isnan(parse_json("NaN", "").get<double>()));
}

TEST(JsonText, LeavesWordsInTextsAlone) {
  const auto json = parse_json(R"({"NaN": "Infinity, \"NaN\", \\", "x\\": NaN, "null": ["-Infinity"]})", "");
  EXPECT_EQ(json["NaN"].get<std::string>(), "Infinity, \"NaN\", \\");
  EXPECT_EQ(json["null"][0].get<std::string>(), "-Infinity");
  EXPECT_TRUE(std::isnan(json["x\\"].get<double>()));
}

TEST(JsonText, ReadsAByteOrderMarkAndTheLastOfTwoKeys) {
  EXPECT_EQ(parse_json("\xEF\xBB\xBF{\"a\": 1}", "")["a"].get<int>(), 1);
  EXPECT_EQ(parse_json(R"({"a": 1, "a": {"b": 2}, "a": {"c": 3}})", "").dump(), R"({"a":{"c":3}})");
  EXPECT_EQ(parse_json(R"({"a": NaN, "a": 3})", "")["a"].get<int>(), 3);
}

TEST(JsonText, SaysWhereATextIsNoJson) {
  EXPECT_THAT(message("{\"a\": 1,\n \"b\": Nan}"),
              StartsWith("x.json: expected JSON, got other text at line 2, column 7: syntax error"));
  EXPECT_THAT(message("{\"a\": 1,\n \"b\": Nan}"), HasSubstr(": N'"));
  // Behind a word that is read otherwise, and two that are not.
  EXPECT_THAT(message("[NaN, Infinity, -Infinity, NaN, tru]"), HasSubstr("line 1, column 36: "));
  EXPECT_THAT(message("[1, 2"), HasSubstr("line 1, column 6: "));
  EXPECT_THAT(message(""), HasSubstr("line 1, column 1: "));
  for (const char* text : {"[NaNs]", "[-NaN]", "[xNaN]", "[+Infinity]", "[Infinity.0]", "{NaN: 1}", "[infinity]"}) {
    EXPECT_THAT(message(text), HasSubstr("expected JSON")) << text;
  }
  EXPECT_LT(message("\"" + std::string(100000, 'a')).size(), 300U);
  EXPECT_EQ(message("[1e999]"), "x.json: expected JSON, got a number out of the range of f64, up to 1.8e308: '1e999'");
}

TEST(JsonText, NamesAFileThatIsNone) {
  const tests::TemporaryDirectory directory;
  const auto of = [](const std::string& path) {
    return error_message<Error>([&] { static_cast<void>(read_json(path)); });
  };
  EXPECT_EQ(of(directory / "none"), "cannot read " + directory / "none" + ": No such file or directory");
  EXPECT_THAT(of(directory / ""), HasSubstr(": expected a file, got a directory"));
  std::ofstream(directory / "x.json") << "{\n\"a\" 1}";
  EXPECT_THAT(of(directory / "x.json"), StartsWith(directory / "x.json" + ": expected JSON, got other text at line 2"));
}

TEST(JsonText, ShowsAValueInAMessage) {
  EXPECT_EQ(json_for_message(parse_json("NaN", "")), "NaN");
  EXPECT_EQ(json_for_message(parse_json("-Infinity", "")), "-Infinity");
  EXPECT_EQ(json_for_message(parse_json("[1, \"ä\", {\"a\": NaN, \"b\": null}]", "")),
            "[1,\"ä\",{\"a\":NaN,\"b\":null}]");
  EXPECT_LE(json_for_message(parse_json("\"" + std::string(100, 'a') + "\"", "")).size(), 60U);
}

}  // namespace
}  // namespace qkv::files::json_text_test
