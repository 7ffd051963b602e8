// What the studio refuses, before it costs anything, and what it reads for whoever asks.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "api/ask.h"
#include "files/temporary_directory.h"
#include "qkv/api/explain.h"
#include "qkv/api/questions.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/train/trained_model.h"

namespace qkv::studio_bounds_test {
namespace {

using testing::HasSubstr;
using tests::TemporaryDirectory;

std::string message_of(Studio& studio, const std::string& question, const Json& request,
                       const StudioWatch& watch = {}) {
  try {
    static_cast<void>(studio.ask(question, request.dump(), watch));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string message_of(const std::string& question, const Json& request) {
  Studio studio;
  return message_of(studio, question, request);
}

std::string words(int count) {
  std::string text;
  for (int n = 0; n < count; ++n) text += "the ";
  return text;
}

TEST(StudioBounds, HoldForEveryNumberOfEveryQuestion) {
  Studio studio({.text = {}, .asker = Asker::owner});
  for (const Question& question : questions()) {
    for (const FieldInfo& field : question.fields) {
      if (field.type != FieldType::whole && field.type != FieldType::number) continue;
      EXPECT_TRUE(field.least.is_finite()) << question.name << "." << field.name;
      ASSERT_TRUE(field.most.is_finite()) << question.name << "." << field.name;
      const Json beyond =
          field.type == FieldType::whole ? Json(static_cast<std::int64_t>(field.most.at) + 1) : Json(2 * field.most.at);
      EXPECT_THAT(message_of(studio, question.name, {{field.name, beyond}}), HasSubstr(field.name + ": expected a "))
          << question.name;
    }
  }
}

TEST(StudioBounds, OfAnAnswerAreThoseOfTheCommand) {
  EXPECT_EQ(message_of("explain", {{"model", "induction"}, {"text", "ab"}, {"answer", 1'000'000'000}}),
            "request: answer: expected a whole number from 1 to 4096, got 1000000000");
}

TEST(StudioBounds, OfACostAreThoseOfItsFigures) {
  EXPECT_EQ(message_of("cost", {{"preset", "gpt2"}, {"heads", 0}}),
            "request: heads: expected a whole number from 1 to 10000, got 0");
  EXPECT_EQ(message_of("cost", {{"preset", "gpt2"}, {"d_k", 100'001}}),
            "request: d_k: expected a whole number from 1 to 100000, got 100001");
}

TEST(StudioBounds, OfAMapsMaskLeaveSomethingToDraw) {
  const auto of_map = [](Json request) {
    request.update({{"mask", "all"}, {"map", true}});
    return message_of("mask", request);
  };
  EXPECT_EQ(of_map({{"batch", 0}}), "request: batch: expected a whole number from 1 to 1099511627776, got 0");
  EXPECT_EQ(of_map({{"tk", 0}}), "request: tk: expected a whole number from 1 to 1099511627776, got 0");
  EXPECT_THAT(of_map({{"batch", std::int64_t{1} << 40}, {"heads", std::int64_t{1} << 40}}),
              HasSubstr("request: heads: expected fewer than 2^63 elements"));
  EXPECT_EQ(of_map({{"batch_entry", 2}, {"batch", 2}}), "request: batch_entry: expected an entry from 0 to 1, got 2");
}

TEST(StudioBounds, OfWordsHoldForEachAndForAll) {
  EXPECT_EQ(message_of("explain", {{"text", std::string(2'000'000, 'a')}}),
            "request: text: expected a text of at most 1048576 bytes, got one of 2000000");
  EXPECT_EQ(message_of("explain", {{"text", "a " + std::string(1025, 'b')}}),
            "request: text: expected words of at most 1024 bytes, got one of 1025");
  EXPECT_EQ(message_of("explain", {{"text", "a"}, {"context", std::string(1025, 'b')}}),
            "request: context: expected words of at most 1024 bytes, got one of 1025");
  EXPECT_EQ(message_of("explain", {{"text", std::string(1024, 'b')}}), "");
}

TEST(StudioBounds, OfNumbersHoldBeforeTheWork) {
  Studio studio;
  int asked = 0;
  const StudioWatch watch = [&](std::string_view /*what*/, const ProbeProgress& /*at*/) {
    ++asked;
    return Proceed::go_on;
  };
  const Json large = {{"text", words(1000)}, {"heads", 16}, {"d_model", 64}, {"block", "pre-norm"}};
  EXPECT_THAT(message_of(studio, "explain", large, watch),
              HasSubstr("numbers: expected an explanation of at most 67108864 numbers"));
  EXPECT_EQ(asked, 0);
  Studio of_owner({.text = {}, .asker = Asker::owner});
  EXPECT_EQ(message_of("explain", Json::object()), message_of(of_owner, "explain", Json::object()));
  EXPECT_EQ(message_of("explain", {{"text", words(300)}, {"block", "pre-norm"}}), "");
}

TEST(StudioBounds, OfCommandsHoldForReadersAlone) {
  const Json own = {{"q", "[[1]]"}, {"k", "[[1]]"}, {"v", "[[1]]"}};
  const auto with = [&](const char* field, const Json& value) {
    Json request = own;
    request[field] = value;
    return request;
  };
  EXPECT_EQ(message_of("attend", with("memory_limit", "8GiB")),
            "request: memory_limit: expected at most 4294967296 in a studio, got 8589934592");
  EXPECT_EQ(message_of("attend", with("threads", 257)), "request: threads: expected at most 256 in a studio, got 257");
  EXPECT_EQ(message_of("probe", {{"random", "1,1,1,4,4,2"}, {"row", 0}, {"threads", 257}}),
            "request: threads: expected at most 256 in a studio, got 257");
  EXPECT_EQ(refused_field("bench_variants", R"({"memory_limit": "8GiB"})"), "memory_limit");
  EXPECT_EQ(refused_field("bench_variants", R"({"threads": 257})"), "threads");
  EXPECT_EQ(refused_field("bench_variants", R"({"tokens": "256:131072"})"), "tokens");
  EXPECT_EQ(refused_field("bench_variants", R"({"heads": 1025})"), "heads");
  EXPECT_EQ(refused_field("bench_variants", R"({"tokens": "65536", "head_dim": 1024})"), "head_dim");
  EXPECT_EQ(refused_field("bench_positions", R"({"steps": 10001})"), "steps");
  EXPECT_EQ(refused_field("bench_positions", R"({"examples": 4097})"), "examples");
  EXPECT_EQ(refused_field("bench_positions", R"({"layers": 17})"), "layers");
  EXPECT_EQ(refused_field("bench_positions", R"({"d_model": 1024})"), "d_model");
  EXPECT_EQ(refused_field("bench_positions", R"({"batch": 1048576})"), "batch");
  Studio of_owner({.text = {}, .asker = Asker::owner});
  EXPECT_EQ(message_of(of_owner, "attend", with("memory_limit", "8GiB")), "");
}

TEST(StudioBounds, StopADrawnModelOnceItsClientLeaves) {
  Studio studio;
  for (const auto& [question, request] :
       std::vector<std::pair<std::string, Json>>{{"explain", {{"text", "a b"}, {"d_model", 1024}}},
                                                 {"bench", {{"tokens", "a b"}, {"seed", 1}, {"d_model", 1024}}}}) {
    int asked = 0;
    const StudioWatch leaves = [&](std::string_view /*what*/, const ProbeProgress& /*at*/) {
      return ++asked > 9 ? Proceed::stop : Proceed::go_on;
    };
    EXPECT_THROW(static_cast<void>(studio.ask(question, request.dump(), leaves)), Cancelled) << question;
  }
}

// Each pair of fields that the command refuses, and single ones that need a model.
TEST(ExplainRules, HoldForTheQuestion) {
  const Json own = {{"q", "[[1,0],[0,1]]"}, {"k", "[[1,0],[1,1]]"}, {"v", "[[2],[3]]"}};
  const Json model = {{"model", "induction"}, {"text", "abcab"}};
  const Json worked = {{"worked", "vectors"}};
  const auto refused = [](Json request, const Json& more) {
    request.update(more);
    return refused_field("explain", request.dump());
  };
  const std::vector<Json> drawn = {{{"heads", 4}}, {{"kv_heads", 1}}, {{"d_model", 16}},
                                   {{"d_k", 4}},   {{"d_v", 4}},      {{"positions", "none"}}};
  const std::vector<Json> scores = {{{"causal", true}}, {{"mask", "causal"}}, {{"bias", "alibi"}}, {{"scale", 2}},
                                    {{"softcap", 2}},   {{"context", "a b"}}, {{"dropout", 0.5}},  {{"seed", 1}}};
  const auto name_of = [](const Json& one) { return one.begin().key(); };
  for (const Json& one : drawn) {
    for (const Json& beside : {own, model, worked}) EXPECT_EQ(refused(beside, one), name_of(one)) << beside << one;
  }
  for (const Json& one : scores) {
    for (const Json& beside : {model, worked}) EXPECT_EQ(refused(beside, one), name_of(one)) << beside << one;
  }
  for (const char* block : {"pre-norm", "post-norm"}) {
    EXPECT_EQ(refused(own, {{"block", block}}), "block");
    EXPECT_EQ(refused(worked, {{"block", block}}), "block");
  }
  EXPECT_EQ(refused(model, {{"block", "post-norm"}}), "block");
  EXPECT_EQ(refused(model, {{"block", "pre-norm"}}), "");
  EXPECT_EQ(refused(own, {{"seed", 1}}), "seed");
  EXPECT_EQ(refused(own, {{"seed", 1}, {"dropout", 0.5}}), "");
  EXPECT_EQ(refused(own, {{"bias", "t5"}}), "bias");
  EXPECT_EQ(refused(own, {{"npz", "x.npz"}}), "npz");
  EXPECT_EQ(refused(own, {{"model", "induction"}}), "model");
  EXPECT_EQ(refused(worked, {{"model", "induction"}}), "model");
  EXPECT_EQ(refused(worked, {{"query", "a"}}), "query");
  EXPECT_EQ(refused({{"text", "a b"}}, {{"bias", "t5"}, {"positions", "rotary"}}), "bias");
  for (const Json& one : std::vector<Json>{{{"example", 1}},
                                           {{"site", "tokens"}},
                                           {{"layer", 0}},
                                           {{"head", "1.0"}},
                                           {{"answer", 2}},
                                           {{"captions", "a|b"}},
                                           {{"picture", "x.png"}}}) {
    EXPECT_EQ(refused({{"text", "a b"}}, one), name_of(one)) << one;
  }
  EXPECT_EQ(refused(model, {{"example", 1}}), "example");
}

TEST(ExplainRules, HoldForTheLibrary) {
  const Tensor one(std::vector<double>{1}, {1, 1});
  ExplainOptions options;
  options.own = OwnTensors{.q = one, .k = one, .v = one};
  options.surroundings = Surroundings::post_norm_block;
  EXPECT_THROW(static_cast<void>(explain(options)), InvalidArgument);
}

TEST(StudioBounds, RefuseALongTextBeforeItsPass) {
  Studio studio;
  int layers = 0;
  const StudioWatch watch = [&](std::string_view what, const ProbeProgress& /*at*/) {
    layers += what == "the text" ? 1 : 0;
    return Proceed::go_on;
  };
  for (const char* question : {"heads", "head", "head_parts", "pair", "bench"}) {
    const Json request = {{"model", "gpt"}, {"text", words(3000)}};
    EXPECT_THAT(message_of(studio, question, request, watch), HasSubstr("text: expected at most 1024 tokens"))
        << question;
  }
  EXPECT_EQ(layers, 0);
}

TEST(StudioBounds, RefuseAPassThatTakesTooMuch) {
  StudioOptions options;
  options.limits.pass_bytes = 1 << 20;
  Studio studio(options);
  EXPECT_THAT(message_of(studio, "far_open", {{"model", "gpt"}, {"text", words(2000)}}),
              testing::AllOf(HasSubstr("text: expected at most about "), HasSubstr("whose pass takes 0.0 GB here")));
}

TEST(StudioBounds, RefuseAPassOfACommandThatTakesTooMuch) {
  const std::vector<std::pair<std::string, Json>> asked = {
      {"lens", {{"model", "gpt"}}},     {"change", {{"model", "gpt"}, {"remove", {"1.0"}}}},
      {"explain", {{"model", "gpt"}}},  {"probe", {{"model", "gpt"}, {"map", "8"}}},
      {"generate", {{"model", "gpt"}}}, {"embed", {{"model", "gpt"}}},
      {"fill", {{"model", "english"}}}};
  StudioOptions options;
  options.limits.pass_bytes = 1 << 18;
  Studio of_readers(options);
  options.asker = Asker::owner;
  Studio of_owner(options);
  for (const auto& [question, request] : asked) {
    Json long_request = request;
    long_request["text"] = words(100);
    EXPECT_THAT(message_of(of_readers, question, long_request),
                testing::AllOf(HasSubstr("text: expected at most about "), HasSubstr("whose pass takes")))
        << question;
  }
  EXPECT_EQ(message_of(of_owner, "embed", {{"model", "gpt"}, {"text", words(100)}}), "");
}

TEST(StudioBounds, StopAPassOnceItsClientLeaves) {
  Studio studio;
  int asked = 0;
  const StudioWatch leaves = [&](std::string_view /*what*/, const ProbeProgress& /*at*/) {
    return ++asked > 3 ? Proceed::stop : Proceed::go_on;
  };
  for (const auto& [question, request] : std::vector<std::pair<std::string, Json>>{
           {"far_open", {{"model", "gpt"}, {"text", words(600)}}},
           {"heads", {{"model", "gpt"}, {"text", words(300)}}},
           {"explain", {{"model", "induction"}, {"text", "abcxyzab"}}},
           {"change", {{"model", "induction"}, {"text", "abcxyzab"}, {"changes", {"remove 1.0"}}}},
           {"analyze", {{"model", "induction"}, {"count", 4}, {"importance", 2}}}}) {
    asked = 0;
    EXPECT_THROW(static_cast<void>(studio.ask(question, request.dump(), leaves)), Cancelled) << question;
    EXPECT_EQ(asked, 4) << question;
  }
}

TEST(StudioBounds, OpenAModelOnceHoweverItsPathIsSpelt) {
  const TemporaryDirectory directory;
  std::filesystem::copy_file(trained_model_path("induction"), directory / "m.safetensors");
  Studio studio;
  const Json request = {{"model", directory / "m.safetensors"}, {"text", "abcxyzab"}};
  static_cast<void>(studio.ask("heads", request.dump()));
  int layers = 0;
  const StudioWatch watch = [&](std::string_view what, const ProbeProgress& /*at*/) {
    layers += what == "the text" ? 1 : 0;
    return Proceed::go_on;
  };
  const std::string spelt = directory / "././m.safetensors";
  static_cast<void>(studio.ask("heads", Json{{"model", spelt}, {"text", "abcxyzab"}}.dump(), watch));
  EXPECT_EQ(layers, 0) << "the pass is kept";
}

TEST(StudioFiles, ArePlainOnes) {
  const TemporaryDirectory directory;
  const std::string pipe = directory / "pipe.safetensors";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(message_of("heads", {{"model", pipe}, {"text", "a"}}),
              HasSubstr("expected a file or a folder, got a pipe"));
  EXPECT_THAT(message_of("explain", {{"model", "shapes"}, {"picture", pipe}}),
              HasSubstr("expected a file, got a pipe"));
  const std::string array = directory / "pipe.npy";
  ASSERT_EQ(::mkfifo(array.c_str(), 0600), 0);
  EXPECT_THAT(message_of("explain", {{"q", array}, {"k", array}, {"v", array}}),
              HasSubstr("expected a file, got a pipe"));
  EXPECT_THAT(message_of("explain", {{"model", "shapes"}, {"picture", "/dev/zero"}}),
              HasSubstr("got a pipe or a device"));
  EXPECT_THAT(message_of("explain", {{"model", "shapes"}, {"picture", directory.path()}}),
              HasSubstr("it is a directory"));
  EXPECT_THROW(static_cast<void>(TrainedModel::read(pipe)), Error) << "by the command, too";
}

TEST(StudioFiles, HaveNamesWithoutNul) {
  EXPECT_THAT(message_of("heads", {{"model", std::string("./a\0b", 5)}, {"text", "a"}}), HasSubstr("a NUL byte"));
  EXPECT_THAT(message_of("heads", {{"model", std::string("induction\0b", 11)}, {"text", "a"}}),
              HasSubstr("a NUL byte"));
}

class Rooted : public testing::Test {
 protected:
  Rooted() {
    std::filesystem::create_directories(directory_ / "in/deep");
    for (const char* name : {"in/a.npy", "in/deep/b.npy", "out.npy"}) {
      write_tensor(directory_ / name, Tensor(std::vector<double>{1, 2}, {1, 2}));
    }
    std::filesystem::create_symlink(directory_ / "out.npy", directory_ / "in/link.npy");
    std::filesystem::create_directory_symlink(directory_.path(), directory_ / "in/up");
    std::filesystem::create_symlink(directory_ / "in/a.npy", directory_ / "way_in.npy");
  }

  std::string asked(const std::string& path) {
    StudioOptions options;
    options.root = directory_ / "in";
    Studio studio(options);
    const std::string whole = directory_ / path;
    return message_of(studio, "explain", {{"q", whole}, {"k", whole}, {"v", whole}});
  }

  TemporaryDirectory directory_;
};

TEST_F(Rooted, ReadsWhatIsBelow) {
  EXPECT_EQ(asked("in/a.npy"), "");
  EXPECT_EQ(asked("in/deep/b.npy"), "");
  EXPECT_EQ(asked("in/deep/../a.npy"), "");
  EXPECT_EQ(asked("in/./deep//b.npy"), "");
  EXPECT_EQ(asked("way_in.npy"), "") << "a link is what it leads to";
  EXPECT_THAT(asked("in/none.npy"), HasSubstr("No such file"));
}

TEST_F(Rooted, TellsNothingOfWhatLiesOutside) {
  for (const char* path : {"out.npy", "none.npy", "in/../out.npy", "in/../none.npy", "in/link.npy", "in/up/out.npy",
                           "in/deep/../../out.npy", "in/up/none.npy"}) {
    EXPECT_THAT(asked(path), HasSubstr("it lies outside of " + (directory_ / "in"))) << path;
  }
  EXPECT_THAT(asked("none/../in/a.npy"), HasSubstr("outside")) << "or it would tell whether the folder is there";
}

// What a command reads, a studio reads for its readers within the root alone.
TEST_F(Rooted, HoldsForWhatCommandsRead) {
  StudioOptions options;
  options.root = directory_ / "in";
  Studio studio(options);
  const std::string out = directory_ / "out.npy";
  const Json own = {{"q", "[[1]]"}, {"k", "[[1]]"}, {"v", "[[1]]"}};
  const auto with = [](Json request, const Json& more) {
    request.update(more);
    return request;
  };
  const std::vector<std::pair<std::string, Json>> asked = {
      {"attend", with(own, {{"q", out}})},
      {"attend", with(own, {{"mask_file", out}})},
      {"attend", with(own, {{"bias_file", out}})},
      {"attend", with(own, {{"kv_lengths", out}})},
      {"attend", with(own, {{"sinks", out}})},
      {"attend", with(own, {{"d_out", out}})},
      {"attend", with(own, {{"d_out", "[[1]]"}, {"d_lse", out}})},
      {"check", {{"a", out}, {"b", directory_ / "in/a.npy"}}},
      {"check", {{"a", "induction"}, {"b", "induction"}, {"file", out}}},
      {"probe", {{"q", out}, {"k", out}, {"row", 0}}},
      {"probe", {{"model", "shapes"}, {"picture", out}, {"row", 0}}},
      {"explain", {{"q", out}, {"k", out}, {"v", out}}},
      {"analyze", {{"model", "english"}, {"syntax", out}}},
      {"change", {{"model", "english"}, {"file", out}, {"remove", {"0.0"}}}},
      {"lens", {{"model", out}, {"text", "a"}}},
      {"generate", {{"model", "gpt"}, {"chat", true}, {"messages", out}}},
      {"embed", {{"model", "english"}, {"file", out}}},
      {"match", {{"images", {out}}, {"captions", {"a"}}}},
      {"tokens", {{"tokenizer", directory_.path()}, {"text", "a"}}},
      {"tokens", {{"tokenizer", "english"}, {"file", out}}},
      {"info", {{"file", out}}}};
  for (const auto& [question, request] : asked) {
    EXPECT_THAT(message_of(studio, question, request), HasSubstr("it lies outside of " + (directory_ / "in")))
        << question << request;
  }
}

// A text may be the path of a picture: whether one lies outside is not told.
TEST_F(Rooted, TellsNothingOfAPictureOutside) {
  StudioOptions options;
  options.root = directory_ / "in";
  Studio studio(options);
  const auto said_of = [&](const std::string& model, const std::string& path) {
    std::string message = message_of(studio, "explain", {{"model", model}, {"text", path}});
    const std::size_t at = message.find(path);
    return at == std::string::npos ? message : message.replace(at, path.size(), "PATH");
  };
  for (const char* model : {"shapes", "towers"}) {
    const std::string there = said_of(model, directory_ / "out.npy");
    EXPECT_EQ(there, said_of(model, directory_ / "none.npy")) << model;
    EXPECT_NE(there, "") << model;
  }
  EXPECT_THAT(said_of("shapes", directory_ / "out.npy"), HasSubstr("outside of " + (directory_ / "in")));
}

TEST(StudioFiles, AreNotWrittenForReaders) {
  const TemporaryDirectory directory;
  const std::string out = directory / "m.gguf";
  const Json convert = {{"model", "induction"}, {"out", out}};
  EXPECT_EQ(message_of("convert", convert),
            "convert: it writes a model, which a studio does not do for its readers; `qkv convert` does");
  EXPECT_THAT(message_of("train", {{"task", "copy"}, {"out", out}}),
              HasSubstr("a studio's runs lie where it was started"));
  EXPECT_THAT(message_of("fetch", {{"name", "a/b"}, {"out", out}}), HasSubstr("`qkv fetch` does"));
  EXPECT_THAT(message_of("view", {{"export", out}}), HasSubstr("`qkv view` does"));
  EXPECT_THAT(message_of("bench_bottleneck", {{"out", out}}), HasSubstr("`qkv bench bottleneck` does"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Studio, OpensAModelOnceForCommandsToo) {
  const TemporaryDirectory directory;
  const std::string path = directory / "m.safetensors";
  std::filesystem::copy_file(trained_model_path("induction"), path);
  Studio studio;
  const auto time = std::filesystem::last_write_time(path);
  const Json request = {{"model", path}, {"text", "abcxyzab"}};
  EXPECT_EQ(message_of(studio, "heads", request), "");
  write_file(path, std::string_view("not a model any more"));
  std::filesystem::last_write_time(path, time);  // as if nothing had been written
  EXPECT_EQ(message_of(studio, "lens", request), "") << "the page's model is kept";
  EXPECT_THAT(message_of("lens", request), HasSubstr(path)) << "another studio reads the file";
}

TEST_F(Rooted, HasTheBoxAllTheSame) {
  StudioOptions options;
  options.root = directory_ / "in";
  Studio studio(options);
  EXPECT_EQ(message_of(studio, "heads", {{"model", "induction"}, {"text", "abcxyzab"}}), "");
  EXPECT_THAT(message_of(studio, "heads", {{"model", directory_ / "out"}, {"text", "a"}}), HasSubstr("outside"));
  EXPECT_THAT(message_of(studio, "learn", {{"run", directory_.path()}}), HasSubstr("outside"));
}

TEST(StudioWeight, TellsLightQuestionsFromHeavyOnes) {
  EXPECT_TRUE(Studio::is_light("about", "{}"));
  EXPECT_TRUE(Studio::is_light("bench", R"({"q": "1,0;0,1"})"));
  EXPECT_TRUE(Studio::is_light("heads", R"({"model": "induction", "text": "ab"})"));
  EXPECT_TRUE(Studio::is_light("heads", "no JSON, refused at once"));
  EXPECT_TRUE(Studio::is_light("nope", "{}"));  // likewise
  EXPECT_FALSE(Studio::is_light("heads", Json{{"model", "gpt"}, {"text", words(300)}}.dump()));
  EXPECT_FALSE(Studio::is_light("heads", R"({"model": "./mine", "text": "ab"})"));
  EXPECT_FALSE(Studio::is_light("explain", R"({"model": "induction", "text": "ab"})"));
  EXPECT_FALSE(Studio::is_light("explain", R"({"text": "a b", "d_model": 4096})"));
  EXPECT_TRUE(Studio::is_light("explain", R"({"q": "[[1]]", "k": "[[1]]", "v": "[[1]]"})"));
  EXPECT_FALSE(Studio::is_light("explain", R"({"q": "[[1]]", "k": "[[1]]", "v": "v.npy"})"));
  EXPECT_FALSE(Studio::is_light("explain", R"({"npz": "own.npz"})"));
  EXPECT_FALSE(Studio::is_light("far_walk", R"({"tokens": 4096})"));
  EXPECT_FALSE(Studio::is_light("mask", R"({"mask": "causal", "tq": 1000000})"));
}

}  // namespace
}  // namespace qkv::studio_bounds_test
