// The real questions over HTTP.
#include <gmock/gmock.h>

#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include "qkv/api/questions.h"
#include "qkv/api/studio.h"
#include "studio/running.h"

namespace qkv::studio::over_http_test {
namespace {

using nlohmann::json;
using tests::Frame;
using tests::frames_of;
using tests::Reply;
using tests::Running;

class OverHttp : public testing::Test {
 protected:
  [[nodiscard]] std::vector<Frame> ask(std::string_view name, std::string_view request) const {
    const Reply reply = running_.ask(name, request);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.headers.at("content-type"), "application/octet-stream");
    EXPECT_TRUE(reply.is_whole);
    return frames_of(reply.body);
  }
  [[nodiscard]] json error(std::string_view name, std::string_view request) const {
    const std::vector<Frame> frames = ask(name, request);
    EXPECT_EQ(frames.back().kind, 4U);
    return json::parse(frames.back().payload);
  }

  Studio studio_{StudioOptions{.text = "the <script>alert(1)</script> sat"}};
  Running running_{[this](std::string_view name, std::string_view request, const StudioWatch& watch) {
    return studio_.ask(name, request, watch);
  }};
};

// What was measured is not the same twice.
std::string without_measures(const Question& question, std::string_view reply) {
  if (!question.command.starts_with("bench ")) return std::string(reply);
  json all = json::parse(reply);
  for (json& one : all["results"]) one.erase("seconds");
  return all.dump();
}

TEST_F(OverHttp, EveryExampleGivesTheSameBytesAsTheEngine) {
  for (const Question& question : questions()) {
    if (!question.refusal.empty()) continue;
    for (const std::string& example : question.examples) {
      // A model's first pass may be rounded otherwise than those after its weights were laid out.
      static_cast<void>(studio_.ask(question.name, example));
      const StudioReply direct = studio_.ask(question.name, example);
      std::vector<Frame> frames = ask(question.name, example);
      std::erase_if(frames, [](const Frame& frame) { return frame.kind == 1; });
      ASSERT_EQ(frames.size(), 2U) << question.name << example;
      EXPECT_EQ(frames[0].kind, 2U);
      EXPECT_EQ(without_measures(question, frames[0].payload), without_measures(question, direct.json))
          << question.name << example;
      EXPECT_EQ(frames[1].kind, 3U);
      const std::string_view blocks(reinterpret_cast<const char*>(direct.blocks.data()), direct.blocks.size());
      EXPECT_EQ(frames[1].payload, blocks) << question.name << example;
    }
  }
}

// A value without a meaning; nullopt where any may have one.
std::optional<json> wrong_value(const FieldInfo& field) {
  if (!field.words.empty()) return "x7";
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      return "x7";
    case FieldType::whole:
      return static_cast<std::int64_t>(field.least.at) - 1;
    case FieldType::seed:
      return -1;
    case FieldType::number:
      return field.least.at < 0 ? 2 * field.least.at : -1;
    default:
      return std::nullopt;
  }
}

TEST_F(OverHttp, EveryFieldIsRefusedByItsNameAndInTheWordsOfTheEngine) {
  int walked = 0;
  for (const Question& question : questions()) {
    if (!question.refusal.empty()) continue;
    for (const FieldInfo& field : question.fields) {
      const auto wrong = wrong_value(field);
      if (!wrong) continue;
      json request = question.examples.empty() ? json::object() : json::parse(question.examples.front());
      request[field.name] = *wrong;
      const json refused = error(question.name, request.dump());
      EXPECT_EQ(refused["field"], field.name) << question.name << request << refused;
      try {
        static_cast<void>(studio_.ask(question.name, request.dump()));
        ADD_FAILURE() << question.name << request;
      } catch (const std::exception& direct) {
        EXPECT_EQ(refused, json::parse(error_as_json(direct))) << question.name << request;
      }
      ++walked;
    }
  }
  EXPECT_GT(walked, 100);
}

TEST_F(OverHttp, WhatTakesLongEndsWhenItsClientGoes) {
  std::promise<bool> was_stopped;
  const Running running([&](std::string_view name, std::string_view request, const StudioWatch& watch) {
    try {
      const StudioReply reply = studio_.ask(name, request, watch);
      was_stopped.set_value(false);
      return reply;
    } catch (const Cancelled&) {
      was_stopped.set_value(true);
      throw;
    }
  });
  {
    tests::RawClient client(running.port());
    client.send(tests::question(running.port(), Running::token(), "analyze",
                                R"({"model": "english", "count": 1000, "importance": 1000})"));
    std::string all;
    while (all.find("\"total\"") == std::string::npos) all += client.read_some();
  }
  EXPECT_TRUE(was_stopped.get_future().get());
}

TEST_F(OverHttp, TextsComeBackAsTheyAre) {
  EXPECT_EQ(json::parse(ask("about", "{}").front().payload).at("text"), "the <script>alert(1)</script> sat");
}

TEST_F(OverHttp, AnUnknownQuestionIsAnError) {
  const json fault = error("abuot", "{}");
  EXPECT_EQ(fault.at("field"), "question");
  EXPECT_THAT(fault.at("message").get<std::string>(), testing::EndsWith("did you mean about?"));
  EXPECT_TRUE(fault.at("column").is_null());
}

TEST_F(OverHttp, AFieldThatIsNoneIsNamed) { EXPECT_EQ(error("about", R"({"<script>": 1})").at("field"), "<script>"); }

TEST_F(OverHttp, WhatIsNoJsonIsAnError) {
  for (const char* request : {"", "{", "[1]", "null", "\xff\xfe", "{\"a\": \"\xff\"}"}) {
    EXPECT_NE(error("about", request).at("message"), "") << request;
  }
}

TEST_F(OverHttp, JsonOfAnyDepthIsAnError) {
  EXPECT_NE(error("about", std::string(1 << 20, '[')).at("message"), "");
  EXPECT_NE(error("about", "{\"a\":" + std::string(1 << 20, '[')).at("message"), "");
}

}  // namespace
}  // namespace qkv::studio::over_http_test
