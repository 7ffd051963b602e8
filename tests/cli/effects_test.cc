// Every option of every command, with and without: what comes must differ. An option that does nothing fails.
// effects.txt says of each command what it is asked, and of an option what else it needs.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../hub/hub_server.h"
#include "cli/command.h"
#include "cli/described_options.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "qkv/files.h"
#include "qkv/tensor.h"

namespace qkv::effects_test {
namespace {

using tests::described_options;
using tests::DescribedOption;
using tests::HubServer;
using tests::run_qkv;
using tests::TemporaryDirectory;

using Words = std::vector<std::string>;

// Words as a shell reads them, of which some stand in double quotes.
Words words_of(const std::string& text) {
  Words words;
  bool is_quoted = false, is_open = false;
  for (const char c : text) {
    if (c == '"') {
      is_quoted = !is_quoted;
      if (!is_open) words.emplace_back();
      is_open = true;
    } else if (c == ' ' && !is_quoted) {
      is_open = false;
    } else {
      if (!is_open) words.emplace_back();
      is_open = true;
      words.back() += c;
    }
  }
  return words;
}

struct Effect {
  std::optional<Words> before;
  Words added;
  bool is_whole = false;  // added is the whole request
  int code = 0;
};

struct Effects {
  std::map<std::string, Words> requests;    // by command
  std::map<std::string, Effect> of_option;  // by "command --option"
};

std::vector<std::string> parted(const std::string& line) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = line.find(" |"); end != std::string::npos; end = line.find(" |", begin)) {
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 2;
  }
  parts.push_back(line.substr(begin));
  return parts;
}

Effects read_effects() {
  Effects effects;
  std::ifstream file(QKV_EFFECTS);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> parts = parted(line);
    if (parts.size() == 1) {
      const std::size_t colon = line.find(':');
      effects.requests[line.substr(0, colon)] = words_of(line.substr(colon + 1));
      continue;
    }
    Effect effect;
    const Words before = words_of(parts.at(1));
    if (!before.empty()) effect.before = before == Words{"(none)"} ? Words{} : before;
    effect.added = words_of(parts.at(2));
    effect.is_whole = effect.added.front() == "=";
    if (effect.is_whole) effect.added.erase(effect.added.begin());
    if (parts.size() > 3) effect.code = std::stoi(parts[3]);
    effects.of_option[parts[0]] = effect;
  }
  return effects;
}

Words without(Words words, const DescribedOption& option) {
  const auto at = std::ranges::find(words, option.name);
  if (at != words.end()) words.erase(at, at + (option.is_flag() ? 1 : 2));
  return words;
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

void write_files() {
  const auto write_numbers = [](const std::string& path, const std::vector<float>& values) {
    write_tensor(path, Tensor(values, Shape{2, 2}));
  };
  write_numbers("a.npy", {1, 2, 3, 4});
  write_numbers("b.npy", {1, 2, 3, 5});
  write_numbers("c.npy", {1, 2, 3, std::numeric_limits<float>::quiet_NaN()});
  write_numbers("e.npy", {1, 2, 3, 4.00003F});
  write_tensor("i.npy", Tensor(std::vector<std::int32_t>{1, 2, 3, 4}, Shape{2, 2}));
  write_tensor("lse.npy", Tensor(std::vector<float>{1.3F, 1.9F}, Shape{2}));
  const auto numbers = [](float n) { return Tensor(std::vector<float>{n, 0, 0, 1}, Shape{1, 1, 2, 2}); };
  write_tensors(
      std::vector<NamedView>{{"all.npz:q", numbers(1)}, {"all.npz:k", numbers(2)}, {"all.npz:v", numbers(3)}});
  write_tensors(
      std::vector<NamedView>{{"w.safetensors:blocks.0.x", numbers(1)}, {"w.safetensors:blocks.1.x", numbers(2)}});
  write_text("captions.txt", "a green circle\n");
  write_text("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncats\nare\nnear\n");
  write_text("letter.txt", "abcxyzab");
  write_text("letters.txt", "abcxyzab\nxyzabcxy\n");
  write_text("near.txt", "the cats are near\nthe dogs are near\n");
  write_text("parts.txt", "the cats are near\n---\nthe dogs are near\n");
  write_text("talk.json", R"([{"role": "user", "content": "abc"}])");
  tests::put_chat_model("talk");
  std::string sentences;
  for (int n = 0; n < 40; ++n) sentences += "The cat sat on the mat and the dog ran to it. ";
  write_text("long.txt", sentences);
  std::filesystem::copy_file(QKV_SOURCE_DIR "/tests/fuzz/corpus/png/rgba.png", "p.png");
  EXPECT_EQ(run_qkv({"train", "tokenizer", "long.txt", "--size", "300", "--out", "tokenizer.json"}).code, 0);
}

// Times and rates are others each time; so is what a run of the allocator gives back.
std::string without_times(const std::string& text) {
  static const std::regex kTime(R"( *[0-9][0-9.,]*(e-?[0-9]+)? ?(ms|s|us|µs|min|[KMG]iB|[KMG]?B|[a-z]+/s)\b)");
  static const std::regex kMember(R"re("([a-z_]*(seconds|per_second|bytes)[a-z_]*)": ?[-0-9.e+]+)re");
  return std::regex_replace(std::regex_replace(text, kTime, " #"), kMember, "\"$1\": #");
}

struct Reply {
  int code = 0;
  std::string out, err;
  std::map<std::string, std::string> files;
  bool operator==(const Reply&) const = default;
};

std::map<std::string, std::string> files_here(bool has_times) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(".")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::string name = entry.path().string();
    const bool is_text = name.ends_with(".json") || name.ends_with(".jsonl");
    files[name] = has_times ? std::string() : is_text ? without_times(bytes) : std::move(bytes);
  }
  return files;
}

class EffectTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    hub_.add("config.json", R"({"model_type": "gpt2"})");
    hub_.add("model.safetensors", std::string(1000, 'x'), true);
    home_ = std::filesystem::current_path();
    std::filesystem::create_directory(given_);
    std::filesystem::current_path(given_);
    write_files();
  }
  void TearDown() override { std::filesystem::current_path(home_); }

  // What a request gives in a folder of the files above.
  Reply reply_of(const std::string& command, const Words& words) {
    std::filesystem::current_path(home_);
    std::filesystem::remove_all(here_);
    std::filesystem::copy(given_, here_, std::filesystem::copy_options::recursive);
    std::filesystem::current_path(here_);
    Words all = words_of(command);
    for (const std::string& word : words) {
      all.push_back(word == "HUB" ? hub_.address() : word);
    }
    const tests::Outcome outcome = run_qkv(all);
    return {outcome.code, without_times(outcome.out), without_times(outcome.err),
            files_here(command == "bench variants")};
  }

  // The reply to a request that is asked often; it must be the same each time.
  const Reply& known_reply(const std::string& command, const Words& words) {
    const auto known = known_.find(words);
    if (known != known_.end()) return known->second;
    const Reply reply = reply_of(command, words);
    EXPECT_EQ(reply.out, reply_of(command, words).out) << command << " " << testing::PrintToString(words);
    return known_[words] = reply;
  }

 private:
  HubServer hub_;
  std::filesystem::path home_;
  const TemporaryDirectory directory_;
  const std::filesystem::path given_ = directory_ / "given", here_ = directory_ / "here";
  std::map<Words, Reply> known_;
};

TEST_P(EffectTest, OfEachOption) {
  const Effects effects = read_effects();
  const std::string& command = GetParam();
  for (const DescribedOption& option : described_options()) {
    if (option.command != command) continue;
    const auto row = effects.of_option.find(command + " " + option.name);
    const bool has_row = row != effects.of_option.end();
    Effect effect = has_row ? row->second : Effect{};
    if (!has_row) effect.added = option.is_flag() ? Words{option.name} : Words{option.name, option.example};
    Words before = effect.before.value_or(effects.requests.at(command));
    if (!effect.is_whole) before = without(before, option);
    Words after = effect.is_whole ? Words() : before;
    after.insert(after.end(), effect.added.begin(), effect.added.end());
    const Reply with = reply_of(command, after);
    const std::string what = "qkv " + command + " " + testing::PrintToString(after) + "\n" + with.err;
    EXPECT_EQ(with.code, effect.code) << what;
    EXPECT_FALSE(with == known_reply(command, before)) << what;
  }
}

std::vector<std::string> commands() {
  std::vector<std::string> names;
  for (const auto& [command, words] : read_effects().requests) names.push_back(command);
  return names;
}

std::string as_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Commands, EffectTest, testing::ValuesIn(commands()), as_name);

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
