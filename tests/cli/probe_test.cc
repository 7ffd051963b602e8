// qkv probe, as a user runs it.
#include "qkv/probe.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/attend_fixture.h"
#include "qkv/files.h"
#include "qkv/npz.h"
#include "qkv/random.h"

namespace qkv::probe_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using tests::Outcome;

class ProbeCommand : public tests::Attend {
 protected:
  [[nodiscard]] Outcome probe(std::vector<std::string> words) const {
    words.insert(words.begin(), {"probe", "--q", path("q.npy"), "--k", path("k.npy")});
    return tests::run_qkv(words);
  }

  // What a call that must end with 2 says; nothing is printed or left behind.
  [[nodiscard]] std::string misuse(const std::vector<std::string>& words) const {
    const auto before = directory_.names();
    const Outcome outcome = probe(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_EQ(directory_.names(), before) << "something was left behind";
    return outcome.err;
  }

  void write_two_heads() const { write_inputs({1, 2, 70, 4}, {1, 1, 70, 4}, {1, 1, 70, 4}); }

  static void expect_same(const Tensor& got, const Tensor& expected) {
    EXPECT_EQ(got.shape(), expected.shape());
    EXPECT_EQ(got.to_vector(), expected.to_vector());
  }
};

TEST_F(ProbeCommand, WritesWhatTheLibraryComputes) {
  write_two_heads();
  const Outcome outcome =
      probe({"--causal", "--bias", "alibi",         "--head",  "1",      "--map",   "7x10", "--row",
             "69",       "--tile", "3:9,2:5",       "--stage", "biased", "--top-k", "3",    "--key-totals",
             "--stats",  "--npz",  path("all.npz"), "--quiet"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out + outcome.err, IsEmpty());
  const Tensor q = result("q.npy");
  const Tensor k = result("k.npy");
  const Probe expected(q, k, {.bias = alibi(), .mask = causal()});
  const auto array = [&](const std::string& name) { return result("all.npz:" + name); };
  const HeadPlace head = {0, 1};
  const CellMaps map = expected.map({.heads = {1}, .size = {7, 10}});
  expect_same(array("map"), map.mean.select(0, 0));
  expect_same(array("map_visible"), map.visible.select(0, 0));
  expect_same(array("row"), expected.row(head, 69, Stage::biased));
  expect_same(array("tile"), expected.tile({0, 1, 3, 9, 2, 5}, Stage::biased));
  expect_same(array("top_keys"), expected.top_keys(head, 3).keys);
  expect_same(array("top_weights"), expected.top_keys(head, 3).weights);
  expect_same(array("key_totals"), expected.key_totals(head));
  expect_same(array("entropy"), expected.statistics(head).entropy);
  expect_same(array("diagonal"), expected.statistics(head).diagonal);
  EXPECT_EQ(npz_names(path("all.npz")).size(), 15U);
}

TEST_F(ProbeCommand, PutsSeveralHeadsOnAFirstAxis) {
  write_two_heads();
  ASSERT_EQ(probe({"--head", "all", "--row", "5", "--npy", path("rows.npy")}).code, 0);
  const Tensor q = result("q.npy");
  const Tensor k = result("k.npy");
  const Tensor rows = result("rows.npy");
  EXPECT_EQ(rows.shape(), Shape({2, 70}));
  expect_same(Tensor(rows.view().select(0, 1)), Probe(q, k).row({0, 1}, 5));
}

TEST_F(ProbeCommand, AveragesHeads) {
  write_two_heads();
  const Outcome outcome = probe({"--average", "--map", "5", "--reduce", "max", "--npz", path("m.npz")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("mean of 2 heads"));
  const Tensor q = result("q.npy");
  const Tensor k = result("k.npy");
  expect_same(result("m.npz:map"), Probe(q, k).map({.size = {5, 5}, .of = MapOf::mean}).largest.select(0, 0));
}

TEST_F(ProbeCommand, AveragesTheHeadsThatAreChosen) {
  const std::vector<std::string> drawn = {"probe", "--random", "1,4,2,6,6,4", "--causal", "--map", "6", "--average"};
  const auto probed = [&](const std::string& heads, const std::string& file) {
    std::vector<std::string> words = drawn;
    words.insert(words.end(), {"--head", heads, "--npz", path(file)});
    const Outcome outcome = tests::run_qkv(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  Generator generator(0);
  const Tensor q = generator.randn({1, 4, 6, 4});
  const Tensor k = generator.randn({1, 2, 6, 4});
  const Probe weights(q, k, {.mask = causal()});
  EXPECT_THAT(probed("0,3", "two.npz"), HasSubstr("mean of heads 0, 3: 6 x 6 cells"));
  const Tensor mean = result("two.npz:map");
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t j = 0; j < 6; ++j) {
      const double wanted = (weights.row({0, 0}, i).at({j}) + weights.row({0, 3}, i).at({j})) / 2;
      EXPECT_NEAR(mean.at({i, j}), wanted, 1e-6) << i << ", " << j;
    }
  }
  EXPECT_THAT(probed("2", "one.npz"), HasSubstr("mean of head 2:"));
  EXPECT_NEAR(result("one.npz:map").at({5, 1}), weights.row({0, 2}, 5).at({1}), 1e-6);
  EXPECT_THAT(probed("all", "all.npz"), HasSubstr("mean of 4 heads:"));
  expect_same(result("all.npz:map"), weights.map({.size = {6, 6}, .of = MapOf::mean}).mean.select(0, 0));
}

TEST_F(ProbeCommand, MapsARectangle) {
  write_two_heads();
  const Outcome outcome =
      probe({"--head", "1", "--map", "4x3", "--area", "60:69,1:7", "--npz", path("m.npz"), "--svg", path("m.svg")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("head 1, queries 60:69, keys 1:7: 4 x 3 cells, mean weight of each"));
  const Tensor q = result("q.npy");
  const Tensor k = result("k.npy");
  const MapRequest request = {.heads = {1}, .size = {4, 3}, .area = MapArea{60, 69, 1, 7}};
  expect_same(result("m.npz:map"), Probe(q, k).map(request).mean.select(0, 0));
  EXPECT_THAT(misuse({"--map", "4", "--area", "60:71,1:7"}),
              HasSubstr("--area: expected no more than the 70 queries, got 71"));
  EXPECT_THAT(misuse({"--row", "4", "--area", "60:70,1:7"}), HasSubstr("--area: expected --map beside it, got none"));
}

TEST_F(ProbeCommand, NamesTheOptionsThatAreMissing) {
  const auto refusal = [](std::vector<std::string> words) {
    words.insert(words.begin(), "probe");
    const Outcome outcome = tests::run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_EQ(refusal({}), "qkv probe: --q, --random, --planted, --model: expected one of them, got none\n");
  EXPECT_EQ(refusal({"--k", "k.npy", "--stats"}), "qkv probe: --k: expected --q beside it, got none\n");
  EXPECT_EQ(refusal({"--random", "1,2,2,4,4,4", "--map", "4", "--average", "--head", "0,2"}),
            "qkv probe: --head: expected a head from 0 to 1, got 2\n");
  EXPECT_EQ(refusal({"--random", "1,2,2,0,4,4", "--row", "1"}),
            "qkv probe: --row: expected a matrix with queries, got one without\n");
}

TEST_F(ProbeCommand, SaysThatAPictureWasWritten) {
  write_two_heads();
  EXPECT_THAT(probe({"--map", "4", "--png", path("m.foo")}).out, HasSubstr("\npicture   " + path("m.foo") + "\n"));
  EXPECT_THAT(misuse({"--map", "4", "--png", path("m.pdf")}),
              HasSubstr("--png: expected a name that ends in .png, got \"" + path("m.pdf") + "\""));
}

TEST_F(ProbeCommand, TakesTheLseThatAttendWrote) {
  write_inputs({9, 4}, {9, 4}, {9, 4});
  ASSERT_EQ(attend({"--causal", "--lse", path("l.npy")}).code, 0);
  ASSERT_EQ(probe({"--causal", "--lse", path("l.npy"), "--row", "8", "--npy", path("r.npy")}).code, 0);
  const Tensor weights = attention_stage(result("q.npy").reshaped({1, 1, 9, 4}), result("k.npy").reshaped({1, 1, 9, 4}),
                                         {.mask = causal()}, Stage::weights);
  const Tensor row = result("r.npy");
  for (std::int64_t j = 0; j < 9; ++j) {
    EXPECT_NEAR(row.at({j}), weights.at({0, 0, 8, j}), 40 * 0x1p-24 * weights.at({0, 0, 8, j}));
  }
}

TEST_F(ProbeCommand, DrawsTheMapInEveryFormat) {
  write_two_heads();
  const Outcome outcome =
      probe({"--causal", "--map", "1024", "--png", path("m.png"), "--svg", path("m.svg"), "--pdf", path("m.pdf")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto start = [&](const std::string& name) {
    const auto bytes = read_file(path(name));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_THAT(start("m.png"), StartsWith("\x89PNG"));
  EXPECT_THAT(start("m.pdf"), StartsWith("%PDF"));
  EXPECT_THAT(start("m.svg"), AllOf(HasSubstr("<svg"), HasSubstr("mean weight")));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("head 0: 70 x 70 cells"), HasSubstr("2415 without a visible pair")));
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("columns: key")));
}

TEST_F(ProbeCommand, HatchesWhatATileOfWeightsDoesNotSee) {
  write_two_heads();
  ASSERT_EQ(probe({"--causal", "--tile", "0:3,0:3", "--svg", path("t.svg")}).code, 0);
  const auto bytes = read_file(path("t.svg"));
  const std::string svg(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_THAT(svg, HasSubstr("3 cells hidden"));
}

TEST_F(ProbeCommand, DrawsHereWhereNoPictureIsWritten) {
  write_two_heads();
  EXPECT_THAT(probe({"--causal", "--map", "8"}).out, HasSubstr("rows: query, columns: key"));
  EXPECT_THAT(probe({"--tile", "0:3,0:3", "--stage", "raw"}).out, HasSubstr("raw"));
  EXPECT_THAT(probe({"--causal", "--tile", "0:3,0:3", "--stage", "scaled"}).out,
              HasSubstr("Attention scores: before the mask\n"));
  EXPECT_THAT(probe({"--causal", "--tile", "0:3,0:3", "--stage", "masked"}).out,
              HasSubstr("Attention scores: causal\n"));
}

TEST_F(ProbeCommand, SaysWhatItFound) {
  write_two_heads();
  const std::string text = probe({"--causal", "--row", "2", "--top-k", "2", "--key-totals", "--stats"}).out;
  EXPECT_THAT(text,
              AllOf(HasSubstr("head 0, query 2\n"), HasSubstr("16 of 70 queries"), HasSubstr("summed over queries"),
                    HasSubstr("means over the queries that see something"), HasSubstr("mask      causal")));
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
}

TEST_F(ProbeCommand, SaysWhatWasApplied) {
  write_two_heads();
  const std::vector<std::string> options = {"--causal", "--row",   "2",        "--scale",   "0.5",   "--softcap",
                                            "20",       "--bias",  "alibi",    "--dropout", ".25",   "--seed",
                                            "7",        "--sinks", "0.5,-1.5", "--target",  "scalar"};
  const std::string text = probe(options).out;
  EXPECT_THAT(text, HasSubstr("lse       computed\nscale     0.5\nsoftcap   20\nbias      alibi\nmask      causal\n"
                              "dropout   p = 0.25, seed 7\nsinks     0.5, -1.5\ntarget    scalar\n"));
  std::vector<std::string> printed = options;
  printed.emplace_back("--json");
  const auto json = nlohmann::json::parse(probe(printed).out);
  EXPECT_EQ(json["softcap"], 20);
  EXPECT_EQ(json["dropout"]["seed"], 7);
  EXPECT_EQ(json["target"], "scalar");
  EXPECT_THAT(probe({"--row", "2"}).out, HasSubstr("scale     0.5 (1 / sqrt(D))\n"));
}

TEST_F(ProbeCommand, PrintsJson) {
  write_two_heads();
  const Outcome outcome = probe({"--causal", "--head", "0,1", "--row", "2", "--stats", "--json"});
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["arrays"]["row"]["shape"], (std::vector<int>{2, 70}));
  EXPECT_EQ(json["arrays"]["visible"]["values"][69], 70);
  EXPECT_EQ(json["means"][0]["visible"], 35.5);
  EXPECT_EQ(json["stage"], "weights");
  EXPECT_TRUE(json["model"].is_null());
  EXPECT_TRUE(json["text"].is_null());
}

TEST_F(ProbeCommand, SaysInJsonThatATextIsMadeUp) {
  const auto json = nlohmann::json::parse(tests::run_qkv({"probe", "--planted", "1024", "--row", "20", "--json"}).out);
  EXPECT_EQ(json["text"], "1024 tokens that are made up");
  EXPECT_TRUE(json["model"].is_null());
  EXPECT_EQ(json["queries"].size(), 1024U);
}

TEST_F(ProbeCommand, DrawsItsOwnInputs) {
  const std::vector<std::string> words = {"probe", "--random", "1,2,1,5,6,3", "--row", "4"};
  const Outcome first = tests::run_qkv(words);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("q         [1, 2, 5, 3] f32, drawn at random"));
  std::vector<std::string> seeded = words;
  seeded.insert(seeded.end(), {"--seed", "1"});
  EXPECT_NE(tests::run_qkv(seeded).out, first.out);
}

TEST_F(ProbeCommand, DoesNotDependOnThreads) {
  write_two_heads();
  ASSERT_EQ(probe({"--stats", "--npz", path("one.npz"), "--threads", "1"}).code, 0);
  ASSERT_EQ(probe({"--stats", "--npz", path("two.npz"), "--threads", "2"}).code, 0);
  expect_same(result("one.npz:entropy"), result("two.npz:entropy"));
}

// The words of a shell's line; what is in quotes stays together.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

TEST_F(ProbeCommand, RunsTheExamplesOfItsPage) {
  std::ifstream page(QKV_SOURCE_DIR "/docs/probe.md");
  bool inside = false;
  int commands = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) inside = line == "```sh";
    if (!inside || !line.starts_with("qkv ")) continue;
    std::vector<std::string> words = words_of(line);
    words.erase(words.begin());
    for (std::string& word : words) {
      if (word.ends_with(".png") || word.ends_with(".svg") || word.ends_with(".npz")) word = path(word);
    }
    const Outcome outcome = tests::run_qkv(words);
    EXPECT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
    ++commands;
  }
  EXPECT_EQ(commands, 11);
  EXPECT_THAT(directory_.names(), testing::IsSupersetOf({"map.png", "mean.svg", "top.npz", "gradients.png"}));
}

TEST_F(ProbeCommand, RefusesWhatHasNoMeaning) {
  write_two_heads();
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{}, "--map, --row, --tile, --top-k, --key-totals, --stats: expected one of them or more, to be shown, got none"},
      {{"--row", "70"}, "--row: expected a query from 0 to 69, got 70"},
      {{"--row", "-1"}, "--row: expected a whole number from 0 to 1099511627776, got -1"},
      {{"--tile", "0:71,0:1"}, "--tile: expected no more than the 70 queries, got 71"},
      {{"--tile", "0:1,0:71"}, "--tile: expected no more than the 70 keys, got 71"},
      {{"--tile", "5:5,0:1"}, "--tile: expected I0:I1,J0:J1"},
      {{"--tile", "3"}, "--tile: expected I0:I1,J0:J1"},
      {{"--top-k", "71"}, "--top-k: expected 1 or more, and no more than the 70 keys, got 71"},
      {{"--map", "0"}, "--map: expected N or ROWSxCOLUMNS, each 1 or more, got 0"},
      {{"--map", "4xx"}, "--map: expected N or ROWSxCOLUMNS"},
      {{"--stats", "--head", "2"}, "--head: expected a head from 0 to 1, got 2"},
      {{"--stats", "--head", "0,1,0"}, "--head: expected each head once, got 0 twice"},
      {{"--map", "4", "--stage", "raw"}, "--stage: expected --row or --tile, whose stage it is (all else is made of"},
      {{"--stats", "--target", "abacus"}, "--target: expected a target that this build holds and this machine runs"},
      {{"--stats", "--head", "x"}, "--head: expected whole numbers, 0 or more, with commas between them, or all"},
      {{"--stats", "--batch", "1"}, "--batch: expected entry 0, the only one, got 1"},
      {{"--stats", "--reduce", "max"}, "--reduce: expected --map beside it, got none"},
      {{"--map", "4", "--reduce", "sum"}, "--reduce: expected mean or max, got \"sum\""},
      {{"--map", "4", "--color-scale", "lgo"}, "--color-scale: expected log or linear, got \"lgo\"; did you mean log?"},
      {{"--map", "4", "--color", "no"}, "--color: expected auto, true, 256 or never, got \"no\""},
      {{"--row", "1", "--stage", "soft"}, "--stage: expected raw, scaled"},
      {{"--stats", "--png", path("x.png")}, "--png: expected --map or --tile beside it, got none of them"},
      {{"--stats", "--npy", path("x.npy")}, "--npy: expected one array; --npz takes several, got 8"},
      {{"--stats", "--npz", path("x.npy")}, "--npz: expected a name that ends in .npz"},
      {{"--row", "1", "--npy", path("q.npy")}, "--npy: expected a file other than that of --q, which is read"},
      {{"--row", "1", "--random", "1,1,1,2,2,2"}, "--q, --random: expected one of them, got both"},
      {{"--row", "1", "--seed", "1"},
       "--seed: expected --random, --planted, --dropout or --d-out random beside it, got none of "
       "them"},
      {{"--row", "1", "--lse", path("k.npy")}, "--lse: expected [B, Hq, Tq] of q, [1, 2, 70], got [1, 1, 70, 4]"}};
  for (const auto& [words, message] : refused) EXPECT_THAT(misuse(words), HasSubstr(message));
  const auto alone = [](std::vector<std::string> words) {
    words.insert(words.begin(), "probe");
    return tests::run_qkv(words).err;
  };
  EXPECT_THAT(alone({"--stats"}), HasSubstr("--q, --random, --planted, --model: expected one of them, got none"));
  EXPECT_THAT(alone({"--random", "1,2", "--stats"}), HasSubstr("--random: expected six numbers B,Hq,Hk,Tq,Tk,D"));
}

TEST_F(ProbeCommand, LooksAtAModelsAttention) {
  const Outcome outcome = tests::run_qkv({"probe", "--model", "gpt", "--text", "The cat sat down because it was tired",
                                          "--layer", "1", "--head", "4", "--row", "5", "--top-k", "1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // Head 1.4 looks at the token before.
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("model     gpt, blocks.1.attn"), HasSubstr("head 4, query 5, ␣it"),
                                 HasSubstr("         4  1           ␣because"), HasSubstr("5  4 ␣because: 1")));
  write_file(path("text"), "The cat sat down because it was tired\n");
  EXPECT_EQ(tests::run_qkv({"probe", "--model", "gpt", "--file", path("text"), "--layer", "1", "--head", "4", "--row",
                            "5", "--top-k", "1"})
                .out,
            outcome.out);
  EXPECT_EQ(tests::run_qkv({"probe", "--model", "gpt", "--row", "0"}).err,
            "qkv probe: --model: expected --text, --example, --picture, --sound, --user, --messages or --file beside "
            "it, got none of them\n");
}

TEST(ProbeOfAModel, RefusesAFileWhoseTextNoPassFits) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "endless.txt", std::string(5'000'000, 'a'));
  EXPECT_THAT(tests::run_qkv({"probe", "--model", "gpt", "--file", directory / "endless.txt", "--map", "4"}).err,
              testing::MatchesRegex("qkv probe: --file: expected at most about .* tokens, whose pass takes .* GB here, "
                                    "got 5000000.*"));
}

}  // namespace
}  // namespace qkv::probe_test
