// Every option of every command, with and without: what comes must differ. An option that does nothing fails.
// effects.txt says of each command what it is asked, and of an option what else it needs.
#include "cli/effects.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/asked.h"
#include "cli/command.h"
#include "cli/without_times.h"

namespace qkv::effects_test {
namespace {

using tests::described_options;
using tests::DescribedOption;
using tests::Effect;
using tests::Effects;
using tests::read_effects;
using tests::Reply;
using tests::Words;

class EffectTest : public tests::Asked, public testing::WithParamInterface<std::string> {
 protected:
  // Whether `after`, to which `with` is the reply, comes to something else; of --threads, to more threads.
  bool differs(const DescribedOption& option, const Words& before, const Words& after, const Reply& with) {
    const std::string& command = GetParam();
    if (option.name == "--threads" && with.code == 0) return threads_of(command, after) > threads_of(command, before);
    return !(with == known_reply(command, before));
  }

  // The reply to a request that is asked often; it must be the same each time.
  const Reply& known_reply(const std::string& command, const Words& words) {
    static std::map<std::pair<std::string, Words>, Reply> all;  // of the tests below, in one process
    const auto known = all.find({command, words});
    if (known != all.end()) return known->second;
    const Reply reply = reply_of(command, words);
    EXPECT_EQ(reply.out, reply_of(command, words).out) << command << " " << testing::PrintToString(words);
    return all[{command, words}] = reply;
  }
};

TEST_P(EffectTest, OfEachOption) {
  const Effects effects = read_effects();
  const std::string& command = GetParam();
  for (const DescribedOption& option : described_options()) {
    if (option.command != command) continue;
    const Effect effect = effects.of(option);
    const Words before = effects.before(option), after = effects.after(option);
    const Reply with = reply_of(command, after);
    const std::string what = "qkv " + command + " " + testing::PrintToString(after) + "\n" + with.err;
    EXPECT_EQ(with.code, effect.code) << what;
    if (effects.is_without_effect(option)) continue;
    EXPECT_TRUE(differs(option, before, after, with)) << what;
  }
}

// What an option needs is declared: on a request that lacks it, the option is refused, not accepted without effect.
// What the request holds already is tried above.
TEST_P(EffectTest, OfEachOptionOnThePlainRequest) {
  const Effects effects = read_effects();
  const std::string& command = GetParam();
  for (const DescribedOption& option : described_options()) {
    if (option.command != command || option.is_place() || effects.is_on_plain(option)) continue;
    const Words& before = effects.requests.at(command);
    Words after = before;
    for (const std::string& word : option.words()) after.push_back(word);
    const bool differs = !(reply_of(command, after) == known_reply(command, before));
    EXPECT_NE(differs, effects.is_excused(option)) << "qkv " << command << " " << testing::PrintToString(after)
                                                   << (differs ? " differs, and is excused" : " changes nothing");
  }
}

Words in_json(Words words) {
  if (std::ranges::find(words, "--json") == words.end()) words.emplace_back("--json");
  return words;
}

// What shapes the text alone is refused where JSON is printed instead, not accepted without effect.
TEST_P(EffectTest, OfEachOptionBesideJson) {
  const Effects effects = read_effects();
  const std::string& command = GetParam();
  const auto& all = described_options();
  const auto is_json = [&](const DescribedOption& option) {
    return option.command == command && option.name == "--json";
  };
  if (std::ranges::none_of(all, is_json)) GTEST_SKIP() << "qkv " << command << " prints no JSON";
  for (const DescribedOption& option : all) {
    if (option.command != command || is_json(option)) continue;
    const Words after = in_json(effects.after(option));
    if (after == effects.after(option)) continue;  // as above
    const Reply& without = known_reply(command, in_json(effects.before(option)));
    if (without.code == 2) continue;  // beside what JSON excludes
    const bool is_other = differs(option, in_json(effects.before(option)), after, reply_of(command, after));
    EXPECT_NE(is_other, effects.is_excused_beside_json(option))
        << "qkv " << command << " " << testing::PrintToString(after)
        << (is_other ? " differs, and is excused" : " changes nothing");
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, EffectTest, testing::ValuesIn(tests::commands()), tests::name_of_command);

TEST(Effects, AreAskedForOfEachOption) {
  const Words probe = {"probe", "--random", "1,2,1,8,8,4"};
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<std::pair<Words, std::string>> refused = {
      {with(probe, {"--row", "1", "--color-scale", "linear"}),
       "--color-scale: expected --map or --tile beside it, got none of them"},
      {with(probe, {"--map", "4", "--json", "--color-scale", "linear"}),
       "--color-scale: expected --png, --svg or --pdf beside it, since --json is given, got none of them"},
      {with(probe, {"--map", "4", "--png", "m.png", "--color", "true"}),
       "--color: expected --terminal beside it, since --png is given, got none"},
      {with(probe, {"--map", "4", "--json", "--terminal"}), "--terminal: expected it without --json, got both"},
      {{"mask", "causal", "--json", "--color", "never"}, "--color: expected it without --json, got both"},
      {{"mask", "causal", "--json", "--cells", "16"},
       "--cells: expected --map, --png, --svg or --pdf beside it, since --json is given, got none of them"},
      {{"explain", "a b", "--json", "--width", "40"}, "--width: expected it without --json, got both"},
      {{"explain", "a b", "--svg", "x", "--color", "never"},
       "--color: expected --print beside it, since --svg is given, got none"},
      {{"cost", "gpt3", "--plot", "--tokens", "512"}, "--tokens: expected it without --plot, got both"},
      {{"cost", "gpt3", "--plot", "--tile", "32"},
       "--tile: expected --of traffic beside it, since --plot is given, got memory"},
      {{"tokens", "english", "--list", "--no-specials"},
       "--no-specials: expected it without --list (a vocabulary has no template), got both"},
      {{"train", "copy", "--momentum", "0.5"}, "--momentum: expected --optimizer sgd beside it, got adamw"},
  };
  for (const auto& [words, message] : refused) {
    const tests::Outcome outcome = tests::run_qkv(words);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(words);
    EXPECT_EQ(outcome.err, "qkv " + words.front() + ": " + message + "\n");
  }
}

// What refuses a value need not be what heeds it.
TEST(Effects, AreRefusalsOnlyWhereNothingElseIsSeen) {
  for (const auto& [name, effect] : read_effects().of_option) {
    EXPECT_EQ(effect.code == 2, !effect.why.empty()) << name;
  }
}

TEST(Effects, AreOfCommandsAndOptionsThatThereAre) {
  const Effects effects = read_effects();
  std::vector<std::string> names, of_commands;
  for (const DescribedOption& option : described_options()) {
    names.push_back(option.command + " " + option.name);
    of_commands.push_back(option.command);
  }
  for (const auto& [name, effect] : effects.of_option) EXPECT_THAT(names, testing::Contains(name));
  for (std::string name : effects.without_effect) {
    const bool is_any = name.starts_with("* ");
    name = name.substr(0, name.find(tests::kBesideJson));
    EXPECT_THAT(names, testing::Contains(testing::EndsWith(is_any ? name.substr(1) : name)));
  }
  const std::set<std::string> described(of_commands.begin(), of_commands.end());
  std::set<std::string> asked;
  for (const auto& [command, words] : effects.requests) asked.insert(command);
  EXPECT_EQ(asked, described);
}

TEST(Effects, AreNoTimes) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"in  12.5 ms, 1,234 tokens/s, 3e-05s; 2 min", "in #, #, #; #"},
      {"4.0 GB/s of 12 GiB, 100B", " #/s of #, #"},
      {"7 µs", " #"},
      {R"({"seconds": 0.5, "in_bytes_all":-3e+07, "steps": 5})", R"({"seconds": #, "in_bytes_all": #, "steps": 5})"},
      {R"("seconds": null "bytes" 5)", R"("seconds": null "bytes" 5)"},
      {"8 heads, 5 sets, 1e5, 3 msx, 2e", "8 heads, 5 sets, 1e5, 3 msx, 2e"},
      {R"(a "quoted" 5 s)", R"(a "quoted" #)"},
  };
  for (const auto& [text, kept] : all) EXPECT_EQ(tests::without_times(text), kept);
}

}  // namespace
}  // namespace qkv::effects_test
