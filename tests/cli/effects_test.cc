// Every option of every command, with and without: what comes must differ. An option that does nothing fails.
// effects.txt says of each command what it is asked, and of an option what else it needs.
#include "cli/effects.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

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
  // The reply to a request that is asked often; it must be the same each time.
  const Reply& known_reply(const std::string& command, const Words& words) {
    const auto known = known_.find(words);
    if (known != known_.end()) return known->second;
    const Reply reply = reply_of(command, words);
    EXPECT_EQ(reply.out, reply_of(command, words).out) << command << " " << testing::PrintToString(words);
    return known_[words] = reply;
  }

 private:
  std::map<Words, Reply> known_;
};

TEST_P(EffectTest, OfEachOption) {
  const Effects effects = read_effects();
  const std::string& command = GetParam();
  for (const DescribedOption& option : described_options()) {
    if (option.command != command) continue;
    const Effect effect = effects.of(option);
    const Words before = effects.before(option);
    Words after = effect.is_whole ? Words() : before;
    after.insert(after.end(), effect.added.begin(), effect.added.end());
    const Reply with = reply_of(command, after);
    const std::string what = "qkv " + command + " " + testing::PrintToString(after) + "\n" + with.err;
    EXPECT_EQ(with.code, effect.code) << what;
    EXPECT_FALSE(with == known_reply(command, before)) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, EffectTest, testing::ValuesIn(tests::commands()), tests::name_of_command);

TEST(Effects, AreOfCommandsAndOptionsThatThereAre) {
  const Effects effects = read_effects();
  std::vector<std::string> names, of_commands;
  for (const DescribedOption& option : described_options()) {
    names.push_back(option.command + " " + option.name);
    of_commands.push_back(option.command);
  }
  for (const auto& [name, effect] : effects.of_option) EXPECT_THAT(names, testing::Contains(name));
  const std::set<std::string> described(of_commands.begin(), of_commands.end());
  std::set<std::string> asked;
  for (const auto& [command, words] : effects.requests) asked.insert(command);
  EXPECT_EQ(asked, described);
}

}  // namespace
}  // namespace qkv::effects_test
