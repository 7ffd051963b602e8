// The fields of requests: read from texts and JSON, and as docs/api.md lists them.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <span>
#include <sstream>

#include "core/error_message.h"
#include "qkv/api/attend.h"
#include "qkv/api/check.h"
#include "qkv/api/cost.h"
#include "qkv/api/mask.h"
#include "qkv/api/probe.h"
#include "qkv/api/questions.h"
#include "qkv/api/roles.h"
#include "qkv/api/studio.h"
#include "qkv/api/texts.h"
#include "qkv/api/tokens.h"
#include "qkv/files.h"

namespace qkv::fields_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(std::string_view json) {
  return error_message<Error>([&] { (void)probe_fields().from_json(json); });
}

TEST(Fields, AreReadFromJsonWithTheirTypes) {
  const ProbeRequest request = probe_fields().from_json(
      R"({"q": "q.npy", "k": "k.npy", "causal": true, "heads": 4, "scale": 0.5, "seed": 18446744073709551615, "dropout": 0.1,
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
  EXPECT_EQ(refusal(R"({"row": "4"})"), "request: row: expected a whole number from 0 to 1099511627776, got \"4\"");
  EXPECT_EQ(refusal(R"({"row": 1.5})"), "request: row: expected a whole number from 0 to 1099511627776, got 1.5");
  EXPECT_EQ(refusal(R"({"causal": 1})"), "request: causal: expected true or false, got 1");
  EXPECT_EQ(refusal(R"({"scale": []})"), "request: scale: expected a number from -1e38 to 1e38, got []");
  EXPECT_EQ(refusal(R"({"q": 1})"), "request: q: expected numbers in lists, or a text, such as [[1,0],[0,1]], got 1");
  EXPECT_EQ(refusal(R"({"window": true})"), "request: window: expected numbers, or a text, such as \"1\", got true");
  EXPECT_EQ(refusal(R"({"text": 1})"), "request: text: expected a text, got 1");
  EXPECT_EQ(refusal(R"({"threads": 0})"), "request: threads: expected a whole number from 1 to 65536, got 0");
  EXPECT_EQ(refusal(R"({"map": "4", "reduce": "maxx"})"),
            "request: reduce: expected mean or max, got \"maxx\"; did you mean max?");
  EXPECT_EQ(refusal(R"({"reduce": "max"})"), "request: reduce: expected `map` beside it, got none");
  EXPECT_EQ(refusal(R"({"zebra": 1})"), "there is no field zebra");
  EXPECT_EQ(refusal(R"({"causl": true})"), "there is no field causl; did you mean causal?");
  EXPECT_EQ(refusal("[1]"), "the request: expected an object of JSON, got [1]");
}

TEST(Fields, TakeNumbersForTextsThatAreNumbers) {
  const ProbeRequest request = probe_fields().from_json(
      R"({"q": [[1, 0.1], [0, -1e-7]], "k": [[1, 0], [1, 1]], "sinks": 0.5, "kv_lengths": [3, 4], "window": 3, "map": 4,
          "lse": [1, 2], "mask_file": [[1, 0], [1, 1]], "head": 1})");
  EXPECT_EQ(request.q, "[[1,0.1],[0,-1e-07]]");
  EXPECT_EQ(request.sinks, "0.5");
  EXPECT_EQ(request.kv_lengths, "3,4");
  EXPECT_EQ(request.window, "3");
  EXPECT_EQ(request.map, "4");
  EXPECT_EQ(request.lse, "[1,2]");
  EXPECT_EQ(request.mask_file, "[[1,0],[1,1]]");
  EXPECT_EQ(request.head, "1");
  EXPECT_EQ(bench_fields().from_json(R"({"q": [[1, 0.5], [0, 1]]})").q, "1,0.5;0,1");
  EXPECT_EQ(tokens_fields().from_json(R"({"tokenizer": "english", "ids": [12, 7]})").ids, "12 7");
}

TEST(Fields, RefuseNumbersInAnotherForm) {
  for (const char* const q : {"[]", "[[1], 2]", R"([["1"]])", "[[]]", "[[[[[[[[[[1]]]]]]]]]]"}) {
    EXPECT_THAT(refusal(std::string(R"({"q": )") + q + "}"), HasSubstr("q: expected numbers in lists, or a text"));
  }
  EXPECT_THAT(refusal(R"({"map": [4, 4]})"), HasSubstr("map: expected a number, or a text, such as \"4\", got [4,4]"));
  // 1.10 is another head than 1.1.
  const auto& explain = explain_fields();
  EXPECT_EQ(error_message<Error>([&] { (void)explain.from_json(R"({"model": "gpt", "text": "a", "head": 1.1})"); }),
            "request: head: expected a text, got 1.1");
}

template <class Request>
std::string refusal_of(const Fields<Request>& fields, std::string_view json) {
  return error_message<Error>([&] { (void)fields.from_json(json); });
}

TEST(Fields, RefuseEmptyTextsButWhereTheyMeanSomething) {
  EXPECT_EQ(refusal_of(tokens_fields(), R"({"tokenizer": "gpt", "search": ""})"),
            "request: search: expected a value, got \"\"");
  EXPECT_EQ(refusal_of(embed_fields(), R"({"model": "gpt", "texts": [""]})"),
            "request: texts: expected a value, got \"\"");
  EXPECT_EQ(refusal_of(embed_fields(), R"({"model": "gpt", "texts": ["a", ""]})"),
            "request: texts[1]: expected a value, got \"\"");
  EXPECT_EQ(refusal_of(embed_fields(), R"({"model": "gpt", "text": "a", "prompt": ""})"), "nothing was thrown");
}

TEST(Fields, RefuseAnEmptyListButWhereItSaysNone) {
  EXPECT_EQ(refusal_of(attend_fields(), R"({"q": "[[1]]", "k": "[[1]]", "v": "[[1]]", "results": []})"),
            "request: results: expected one or more, or to be left out, got []");
  EXPECT_EQ(refusal_of(analyze_fields(), R"({"model": "induction", "sites": []})"),
            "request: sites: expected one or more, or to be left out, got []");
  EXPECT_EQ(refusal_of(embed_fields(), R"({"model": "english", "text": "a", "pooling": []})"),
            "request: pooling: expected one or more, or to be left out, got []");
  EXPECT_EQ(refusal_of(generate_fields(), R"({"model": "gpt", "text": "a", "stop": []})"), "nothing was thrown");
}

TEST(Fields, RefuseAWordTwiceInAList) {
  EXPECT_EQ(refusal_of(attend_fields(), R"({"q": "[[1]]", "k": "[[1]]", "v": "[[1]]", "results": ["out", "out"]})"),
            "request: results: expected each word once, got \"out\" twice");
  const auto results = std::ranges::find(attend_fields().infos(), std::string("results"), &FieldInfo::name);
  EXPECT_EQ(error_message<Error>([&] { (void)field_value(*results, "out,lse,out"); }),
            "request: results: expected each word once, got \"out\" twice");
}

TEST(Fields, RefuseAWholeNumberTwiceInAList) {
  const FieldInfo numbers{.name = "n", .type = FieldType::wholes};
  EXPECT_EQ(error_message<Error>([&] { (void)field_value(numbers, "8,12,8"); }),
            "request: n: expected each number once, got 8 twice");
  EXPECT_EQ(error_message<Error>([&] { (void)field_values({&numbers, 1}, R"({"n": [8, 12, 8]})"); }),
            "request: n: expected each number once, got 8 twice");
}

TEST(Fields, NameTheFieldOfANumberThatNoTypeHoldsAndShowItAsItWasWritten) {
  constexpr const char* kRange =
      "request: scale: expected a number in the range of f64, up to 1.8e308 and down to 4.9e-324, got ";
  EXPECT_EQ(refusal(R"({"q": "q.npy", "scale": 1e999})"), std::string(kRange) + "1e999");
  EXPECT_EQ(refusal(R"({"scale": -1E+400, "row": 1})"), std::string(kRange) + "-1E+400");
  EXPECT_EQ(refusal(R"({"scale": 1e-400})"), std::string(kRange) + "1e-400");
  EXPECT_EQ(refusal(R"({"zebra": 1e999})"), "there is no field zebra");
  EXPECT_EQ(refusal(R"({"row": {"a": [0, 1e999]}})"),
            "request: row: expected a whole number from 0 to 1099511627776, got 1e999");
  EXPECT_EQ(refusal(R"({"row": 1000000000000000000000000000000})"),
            "request: row: expected a whole number from 0 to 1099511627776, got 1000000000000000000000000000000");
  EXPECT_EQ(refusal(R"({"row": 4.0})"), "request: row: expected a whole number from 0 to 1099511627776, got 4.0");
  EXPECT_EQ(refusal(R"({"seed": 18446744073709551616})"),
            "request: seed: expected a whole number from 0 to 18446744073709551615, got 18446744073709551616");
  EXPECT_EQ(refusal(R"({"row": [1.50, {"a": [], "b": [1e2, null, "x"]}, -3]})"),
            "request: row: expected a whole number from 0 to 1099511627776, "
            "got [1.50,{\"a\":[],\"b\":[1e2,null,\"x\"]},-3]");
  EXPECT_EQ(refusal("1e999"),
            "the request: expected JSON, got a number out of the range of f64, up to 1.8e308: '1e999'");
}

TEST(Fields, HintAtAFieldThatTheCommandCallsSoOrThatWasCalledSo) {
  EXPECT_EQ(refusal_of(analyze_fields(), R"({"line": "a"})"), "there is no field line; did you mean texts?");
  EXPECT_EQ(refusal_of(analyze_fields(), R"({"text": "a.txt"})"), "there is no field text; did you mean file?");
  EXPECT_EQ(refusal_of(probe_fields(), R"({"text_file": "a"})"), "there is no field text_file; did you mean file?");
}

TEST(Fields, SayWhereARequestIsNoJson) {
  EXPECT_THAT(refusal("{"), StartsWith("the request: expected JSON, got other text at line 1, column 2: "));
  EXPECT_THAT(refusal("{\"q\": \"q.npy\",\n \"row\": nul}"), HasSubstr("got other text at line 2, column 12: "));
  const std::string long_text(1'000'000, 'a');
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
            "request: row: expected a whole number, 0 or more, got \"7x\"");
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
std::string wrong_json(const FieldInfo& field) {
  return field.type == FieldType::text || field.type == FieldType::texts ? R"({"x": 7})" : R"("x7")";
}

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

// Those of every question of a page and of a command.
struct Described {
  std::string question;
  std::span<const FieldInfo> fields;
};

std::vector<Described> all_questions() {
  std::vector<Described> all;
  for (const Question& one : questions()) all.push_back({one.name, one.fields});
  return all;
}

void for_each_field(const std::function<void(const std::string& name, const FieldInfo& field)>& look) {
  for (const auto& [question, fields] : all_questions()) {
    for (const FieldInfo& field : fields) look(question + "." + field.name, field);
  }
}

TEST(Fields, HaveHelpAndAnExample) {
  for_each_field([](const std::string& name, const FieldInfo& field) {
    EXPECT_NE(field.meaning, "") << name;
    EXPECT_NE(field.example, "") << name;
    EXPECT_NE(field.example, field.fallback) << name;
    EXPECT_NO_THROW(static_cast<void>(field_value(field, field.example))) << name;
  });
}

std::string whole_text(double number) { return std::to_string(static_cast<std::int64_t>(number)); }

// Texts of numbers at both ends, the last that are taken and the first that are not.
struct Ends {
  std::vector<std::string> inside, outside;
};

std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

void add_end(Ends& ends, const Bound& bound, double beyond) {
  const double back = -beyond;
  ends.inside.push_back(shortest(bound.is_open ? std::nextafter(bound.at, back) : bound.at));
  ends.outside.push_back(shortest(bound.is_open ? bound.at : std::nextafter(bound.at, beyond)));
}

std::optional<Ends> ends_of(const FieldInfo& field) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Ends ends;
  switch (field.type) {
    case FieldType::seed:
      return Ends{{"0", "18446744073709551615"}, {"-1", "18446744073709551616"}};
    case FieldType::size:
      return Ends{{"0", "1024PiB"}, {"-1", "1025 PiB"}};
    case FieldType::whole:
    case FieldType::wholes:
      return Ends{{whole_text(field.least.at), whole_text(field.most.at)},
                  {whole_text(field.least.at - 1), whole_text(field.most.at + 1)}};
    case FieldType::number:
      add_end(ends, field.least, -kInfinity);
      add_end(ends, field.most, kInfinity);
      return ends;
    default:
      return std::nullopt;
  }
}

// As the document shows it, and as every face reads it: by itself, as what other fields a request needs is not asked.
TEST(Fields, TakeTheirExampleInEveryFace) {
  int lists = 0;
  for (const Question& question : questions()) {
    for (FieldInfo field : question.fields) {
      field.needs = field.needs_one = field.excludes = field.one_of = {};
      field.beside = {};
      field.required = false;
      const std::string what = question.name + "." + field.name + " = " + field.example;
      const FieldValue value = field_value(field, field.example);
      const bool is_text = field.type == FieldType::text || field.type == FieldType::texts ||
                           field.type == FieldType::wholes || field.type == FieldType::size;
      const nlohmann::json shown = is_text ? nlohmann::json(field.example) : nlohmann::json::parse(field.example);
      const auto read = [&] { return field_values({&field, 1}, nlohmann::json{{field.name, shown}}.dump()); };
      ASSERT_NO_THROW(static_cast<void>(read())) << what;
      EXPECT_EQ(read().front().second, value) << what;
      const bool is_list = field.type == FieldType::texts || field.type == FieldType::wholes;
      lists += is_list ? 1 : 0;
      if (!is_list) continue;
      EXPECT_EQ(field_values({&field, 1}, NamedValues{{field.name, field.example}}).front().second, value) << what;
    }
  }
  EXPECT_GE(lists, 20);
}

TEST(Fields, OfNumbersTakeWhatIsWithinTheirBoundsAndNothingElse) {
  int walked = 0;
  for_each_field([&](const std::string& name, const FieldInfo& field) {
    const std::optional<Ends> ends = ends_of(field);
    if (!ends) return;
    ++walked;
    const bool has_ends = field.type == FieldType::seed || (field.least.is_finite() && field.most.is_finite());
    EXPECT_TRUE(has_ends) << name;
    for (const std::string& text : ends->inside) {
      EXPECT_EQ(error_message([&] { static_cast<void>(field_value(field, text)); }), "nothing was thrown") << name;
    }
    FieldInfo read = field;  // of a list in a text each number
    if (field.type == FieldType::wholes) read.type = FieldType::whole;
    const std::string said = "request: " + field.name + ": expected " + expected_of(read) + ", got ";
    for (const std::string& text : ends->outside) {
      EXPECT_THAT(error_message([&] { static_cast<void>(field_value(field, text)); }), StartsWith(said))
          << name << text;
    }
    EXPECT_THAT(expected_of(field), HasSubstr(bounds_of(field))) << name << ": in the words of the document";
    EXPECT_TRUE(checked_value(field, field_value(field, field.example), "") == field_value(field, field.example));
  });
  EXPECT_GT(walked, 200);
}

// Outside of its bounds, a number is refused by whoever is asked, whatever else is missing.
TEST(Fields, OutOfBoundsAreNamedByTheQuestion) {
  Studio studio({.text = {}, .asker = Asker::owner});
  for (const Question& question : questions()) {
    for (const FieldInfo& field : question.fields) {
      const std::optional<Ends> ends = ends_of(field);
      if (!ends || field.type == FieldType::wholes) continue;
      for (const std::string& text : ends->outside) {
        if (text.find(' ') != std::string::npos) continue;  // a size in words
        const std::string request = "{\"" + field.name + "\": " + text + "}";
        EXPECT_THAT(error_message([&] { static_cast<void>(studio.ask(question.name, request)); }),
                    StartsWith("request: " + field.name + ": expected " + expected_of(field)))
            << question.name << request;
      }
    }
  }
}

// "[heads]" at the end of a phrase, "(8)", "default": a default that no face finds. Shapes stand in brackets, too.
TEST(Fields, HaveNoDefaultInProse) {
  static const std::regex kDefault(
      R"(\[(?![A-Z]\w*(, [A-Z]\w*)*\]|texts, width\])[^\]"{:]+\](;|$)|\([0-9a-zA-Z_ /-]*[0-9_-][0-9a-zA-Z_ /-]*\)$|\bby default\b)");
  EXPECT_TRUE(std::regex_search("Those of the keys and values [heads]", kDefault));
  EXPECT_TRUE(std::regex_search("Pixels of a patch (8)", kDefault));
  EXPECT_TRUE(std::regex_search("Width inside (4 d_model)", kDefault));
  EXPECT_FALSE(std::regex_search("A file of Q, K and V: [T, D], [H, T, D] or [B, H, T, D]", kDefault));
  for_each_field([](const std::string& name, const FieldInfo& field) {
    EXPECT_FALSE(std::regex_search(field.meaning, kDefault)) << name << ": " << field.meaning;
    EXPECT_TRUE(field.fallback.empty() || field.otherwise.empty()) << name;
  });
}

TEST(Fields, HaveCompanyThatIsThere) {
  for (const auto& [question, fields] : all_questions()) {
    for (const FieldInfo& field : fields) {
      std::vector<const std::vector<std::string>*> all{&field.needs, &field.needs_one, &field.excludes, &field.one_of};
      for (const NeedBeside& one : field.beside) all.insert(all.end(), {&one.others, &one.needs_one});
      for (const auto* others : all) {
        for (const std::string& other : *others) {
          const std::string named = other.substr(0, other.find('='));
          EXPECT_NE(std::ranges::find(fields, named, &FieldInfo::name), fields.end())
              << question << "." << field.name << ": " << other;
          EXPECT_NE(named, field.name) << question;
        }
      }
    }
  }
}

TEST(Fields, SayWhyTheyExcludeOthers) {
  for_each_field([](const std::string& name, const FieldInfo& field) {
    for (const std::string& other : field.excludes) EXPECT_TRUE(field.reasons.contains(other)) << name << ": " << other;
  });
}

TEST(Fields, GoTogetherAsTheySay) {
  const std::vector<FieldInfo> fields{
      {.name = "map"},
      {.name = "reduce", .needs = {"map"}},
      {.name = "png", .needs_one = {"map", "tile"}},
      {.name = "tile", .excludes = {"map"}, .reasons = {{"map", "a map has its own"}}},
      {.name = "text", .one_of = {"file", "list"}},
      {.name = "file"},
      {.name = "list", .type = FieldType::flag},
  };
  const auto said = [&](std::string_view json) {
    return error_message([&] { static_cast<void>(field_values(fields, json)); });
  };
  EXPECT_EQ(said(R"({"text": "a"})"), "nothing was thrown");
  EXPECT_EQ(said(R"({"text": "a", "list": false})"), "nothing was thrown") << "a flag that is off is not there";
  EXPECT_EQ(said(R"({"text": "a", "reduce": "mean"})"), "request: reduce: expected `map` beside it, got none");
  EXPECT_EQ(said(R"({"text": "a", "png": "p"})"), "request: png: expected `map` or `tile` beside it, got none of them");
  EXPECT_EQ(said(R"({"text": "a", "png": "p", "tile": "t"})"), "nothing was thrown");
  EXPECT_EQ(said(R"({"text": "a", "map": "m", "tile": "t"})"),
            "request: tile: expected it without `map` (a map has its own), got both");
  EXPECT_EQ(said("{}"), "request: text, file, list: expected one of them, got none");
  EXPECT_EQ(said(R"({"file": "f", "list": true})"), "request: file, list: expected one of them, got both");
  EXPECT_EQ(said(R"({"text": "t", "file": "f", "list": true})"),
            "request: text, file, list: expected one of them, got several");
  const auto company = [&](std::size_t n) {
    return company_of(fields, fields[n], [](auto name) { return std::string(name); });
  };
  EXPECT_EQ(company(0), "not beside tile: a map has its own") << "as the other says";
  EXPECT_EQ(company(1), "needs map");
  EXPECT_EQ(company(2), "needs map or tile");
  EXPECT_EQ(company(5), "one of text, file and list");
}

TEST(Fields, NeedAValueOfAnother) {
  const std::vector<FieldInfo> fields{
      {.name = "momentum", .needs = {"optimizer=sgd"}},
      {.name = "optimizer", .words = {"adamw", "sgd"}, .fallback = "adamw"},
      {.name = "v", .needs_one = {"stage=dp", "stage=ds", "all"}},
      {.name = "stage"},
      {.name = "all", .type = FieldType::flag},
      {.name = "rate", .excludes = {"optimizer=adamw"}},
  };
  const auto said = [&](std::string_view json) {
    return error_message([&] { static_cast<void>(field_values(fields, json)); });
  };
  EXPECT_EQ(said(R"({"momentum": "x", "optimizer": "sgd"})"), "nothing was thrown");
  EXPECT_EQ(said(R"({"momentum": "x"})"), "request: momentum: expected `optimizer` sgd beside it, got adamw");
  EXPECT_EQ(said(R"({"rate": "x"})"), "request: rate: expected it without `optimizer` adamw, got both");
  EXPECT_EQ(said(R"({"rate": "x", "optimizer": "sgd"})"), "nothing was thrown");
  EXPECT_EQ(said(R"({"v": "x", "stage": "ds"})"), "nothing was thrown");
  EXPECT_EQ(said(R"({"v": "x", "stage": "raw"})"),
            "request: v: expected `stage` dp, ds or `all` beside it, got none of them");
  const auto company = [&](std::size_t n) {
    return company_of(fields, fields[n], [](auto name) { return std::string(name); });
  };
  EXPECT_EQ(company(0), "needs optimizer sgd");
  EXPECT_EQ(company(2), "needs stage dp, ds or all");
}

TEST(Fields, NeedOneOfOthersBesideAThird) {
  const std::vector<FieldInfo> fields{
      {.name = "scale", .excludes = {"quiet"}, .beside = {{{"json", "page"}, {"png", "svg"}}}},
      {.name = "json", .type = FieldType::flag},
      {.name = "page"},
      {.name = "png"},
      {.name = "svg"},
      {.name = "quiet", .type = FieldType::flag},
  };
  const auto said = [&](std::string_view json) {
    return error_message([&] { static_cast<void>(field_values(fields, json)); });
  };
  EXPECT_EQ(said(R"({"scale": "x"})"), "nothing was thrown");
  EXPECT_EQ(said(R"({"scale": "x", "json": true})"),
            "request: scale: expected `png` or `svg` beside it, since `json` is given, got none of them");
  EXPECT_EQ(said(R"({"scale": "x", "json": true, "svg": "s"})"), "nothing was thrown");
  EXPECT_EQ(company_of(fields, fields[0], [](auto name) { return std::string(name); }),
            "beside json or page needs png or svg; not beside quiet");
}

TEST(Fields, AreRefusedByARequestThatWasNotRead) {
  ProbeRequest request;
  request.q = request.k = "[[1]]";
  EXPECT_NO_THROW(probe_fields().require_company(request));
  request.random = "1,1,1,2,2,2";
  EXPECT_EQ(error_message([&] { probe_fields().require_company(request); }),
            "request: q, random: expected one of them, got both");
  request.q = "";
  EXPECT_EQ(error_message([&] { probe_fields().require_company(request); }),
            "request: k: expected it without `random` (q and k are drawn), got both");
  // Whether a default was given, nobody knows.
  GenerateRequest draw;
  draw.model = "gpt";
  draw.text = "a";
  draw.samples = 2;
  EXPECT_NO_THROW(generate_fields().require_company(draw));
}

TEST(Fields, OfTextAreNotEmpty) {
  const auto said = [](const char* json) {
    return error_message([&] { static_cast<void>(generate_fields().from_json(json)); });
  };
  EXPECT_EQ(said(R"({"model": "gpt", "text": ""})"), "nothing was thrown");  // what begins a text
  EXPECT_EQ(said(R"({"model": "gpt", "chat": true, "messages": ""})"), "request: messages: expected a value, got \"\"");
  EXPECT_EQ(said(R"({"model": "", "text": "a"})"), "request: model: expected a value, got \"\"");
  EXPECT_EQ(error_message([] {
              static_cast<void>(embed_fields().from_json(R"({"model": "minilm", "texts": ["a"], "prompt": ""})"));
            }),
            "nothing was thrown");  // leaves out the folder's own
}

TEST(Fields, SayTheirBoundsInOneWay) {
  const auto said = [](Bound least, Bound most) {
    return expected_of({.name = "x", .least = least, .most = most, .type = FieldType::number});
  };
  EXPECT_EQ(said(0, 1), "a number from 0 to 1");
  EXPECT_EQ(said(0, below(1)), "a number from 0, below 1");
  EXPECT_EQ(said(above(0), 1), "a number above 0, up to 1");
  EXPECT_EQ(said(above(0), below(1)), "a number above 0, below 1");
  EXPECT_EQ(said(-kAnyNumber, kAnyNumber), "a number from -1e38 to 1e38");
  const FieldInfo size{.name = "x", .least = 0, .most = 1 << 20, .type = FieldType::size};
  EXPECT_EQ(expected_of(size), "a number of bytes from 0 to 1MiB, such as 4096, 512MiB or 4GiB");
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

TEST(Questions, AreThoseOfTheDocument) {
  EXPECT_THAT(document(), HasSubstr(questions_as_markdown() + "<!-- made by studio_messages: end -->"))
      << "build/release/apps/studio/studio_messages docs/api.md writes them";
}

TEST(Questions, HaveANameEach) {
  std::vector<std::string> names;
  for (const Question& question : questions()) names.push_back(question.name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

// "raw, scaled or masked" is no prose: what reads it as one could neither refuse nor offer a word.
TEST(Questions, DeclareTheWordsThatAMeaningLists) {
  static const std::regex kList(R"((^|: )[a-z0-9_-]+(, [a-z0-9_-]+)* or [a-z0-9_-]+($|;))");
  for (const Question& question : questions()) {
    for (const FieldInfo& field : question.fields) {
      const bool is_text = field.type == FieldType::text || field.type == FieldType::texts;
      if (!is_text || !field.words.empty()) continue;
      EXPECT_FALSE(std::regex_search(field.meaning, kList))
          << question.name << "." << field.name << ": " << field.meaning;
    }
  }
}

TEST(Replies, HaveTheKeysOfTheDocument) {
  const std::string text = document();
  const auto json = nlohmann::json::parse(reply_as_json(CheckFigures{}));
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
