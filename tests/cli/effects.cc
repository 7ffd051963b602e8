#include "cli/effects.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>

#include "model/chat_folder.h"
#include "qkv/files.h"
#include "qkv/tensor.h"

namespace qkv::tests {
namespace {

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

Words without(Words words, const DescribedOption& option) {
  const auto at = std::ranges::find(words, option.name);
  if (at != words.end()) words.erase(at, at + (option.is_flag() ? 1 : 2));
  return words;
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// One with a prompt for queries.
void put_sentence_model(const std::string& folder) {
  put_chat_model(folder);
  write_text(folder + "/modules.json",
             R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  std::filesystem::create_directory(folder + "/1_Pooling");
  write_text(folder + "/1_Pooling/config.json",
             R"({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true})");
  write_text(folder + "/config_sentence_transformers.json", R"({"prompts": {"query": "find "}})");
}

void write_files() {
  const auto write_numbers = [](const std::string& path, const std::vector<float>& values) {
    write_tensor(path, Tensor(values, Shape{2, 2}));
  };
  std::vector<float> wave;
  for (int n = 0; n < 4 * 64 * 16; ++n) wave.push_back(std::sin(1.7F * static_cast<float>(n)));
  write_tensor("heads.npy", Tensor(wave, Shape{1, 4, 64, 16}));
  write_numbers("a.npy", {1, 2, 3, 4});
  write_numbers("b.npy", {1, 2, 3, 5});
  write_numbers("c.npy", {1, 2, 3, std::numeric_limits<float>::quiet_NaN()});
  write_numbers("e.npy", {1, 2, 3, 4.00003F});
  write_tensor("i.npy", Tensor(std::vector<std::int32_t>{1, 2, 3, 4}, Shape{2, 2}));
  write_tensor("lse.npy", Tensor(std::vector<float>{1.40026F, 1.10794F}, Shape{2}));
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
  put_chat_model("talk");
  put_sentence_model("sentences");
  EXPECT_EQ(run_qkv({"convert", "english", "short.safetensors", "--type", "bf16"}).code, 0);
  EXPECT_EQ(run_qkv({"convert", "towers", "towers.safetensors", "--type", "bf16"}).code, 0);
  std::string sentences;
  for (int n = 0; n < 40; ++n) sentences += "The cat sat on the mat and the dog ran to it. ";
  write_text("long.txt", sentences);
  const auto copy_picture = [](const char* name, const char* to) {
    std::filesystem::copy_file(std::string(QKV_SOURCE_DIR "/tests/fuzz/corpus/png/") + name, to);
  };
  copy_picture("rgba.png", "p.png");
  std::filesystem::create_directory("photos");
  copy_picture("rgba.png", "photos/a.png");
  copy_picture("gamma.png", "photos/b.png");
  for (const char* caption : {"photos/a.txt", "photos/b.txt"}) write_text(caption, "a red circle\n");
  EXPECT_EQ(run_qkv({"train", "tokenizer", "long.txt", "--size", "300", "--out", "tokenizer.json"}).code, 0);
  EXPECT_EQ(run_qkv(words_of("train previous --steps 3 --batch 2 --out begun --layers 1 --d-model 8 --heads 2 --d-ff 8 "
                             "--warm-up 1 --examples 2 --examine-every 3 --save-every 3"))
                .code,
            0);
}

// Times and rates are others each time; so is what a run of the allocator gives back.
std::string without_times(const std::string& text) {
  static const std::regex kTime(R"( *[0-9][0-9.,]*(e-?[0-9]+)? ?(ms|s|us|µs|min|[KMG]iB|[KMG]?B|[a-z]+/s)\b)");
  static const std::regex kMember(R"re("([a-z_]*(seconds|per_second|bytes)[a-z_]*)": ?[-0-9.e+]+)re");
  return std::regex_replace(std::regex_replace(text, kTime, " #"), kMember, "\"$1\": #");
}

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

}  // namespace

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
    if (parts.at(1).starts_with(" nothing: ")) {
      effects.without_effect.insert(parts[0]);
      continue;
    }
    Effect effect;
    const Words before = words_of(parts.at(1));
    if (!before.empty()) effect.before = before == Words{"(none)"} ? Words{} : before;
    effect.added = words_of(parts.at(2));
    effect.is_whole = effect.added.front() == "=";
    if (effect.is_whole) effect.added.erase(effect.added.begin());
    if (parts.size() > 3) {
      effect.code = std::stoi(parts[3]);
      effect.why = parts[3].substr(std::min(parts[3].find(": "), parts[3].size()));
    }
    effects.of_option[parts[0]] = effect;
  }
  return effects;
}

Effect Effects::of(const DescribedOption& option) const {
  const auto row = of_option.find(option.command + " " + option.name);
  if (row != of_option.end()) return row->second;
  Effect effect;
  effect.added = option.words();
  return effect;
}

// Another value is held against the one that the request has: without any, a default may be much work.
Words Effects::before(const DescribedOption& option) const {
  const Effect effect = of(option);
  const Words words = effect.before.value_or(requests.at(option.command));
  const auto at = std::ranges::find(words, option.name);
  const bool is_other = at != words.end() && !option.is_flag() && effect.added.front() == option.name &&
                        effect.added.at(1) != *std::next(at);
  return effect.is_whole || is_other ? words : without(words, option);
}

Words Effects::after(const DescribedOption& option) const {
  const Effect effect = of(option);
  if (effect.is_whole) return effect.added;
  Words words = without(before(option), option);
  words.insert(words.end(), effect.added.begin(), effect.added.end());
  return words;
}

bool Effects::is_on_plain(const DescribedOption& option) const {
  const Words& plain = requests.at(option.command);
  const Effect effect = of(option);
  const bool is_there = std::ranges::find(plain, option.name) != plain.end();
  return is_there || (effect.added == option.words() && effect.before.value_or(plain) == plain);
}

bool Effects::is_excused(const DescribedOption& option) const {
  return without_effect.contains(option.command + " " + option.name) || without_effect.contains("* " + option.name);
}

bool Effects::is_excused_beside_json(const DescribedOption& option) const {
  return without_effect.contains(option.command + " " + option.name + std::string(kBesideJson));
}

bool Effects::is_without_effect(const DescribedOption& option) const {
  return is_excused(option) && !of_option.contains(option.command + " " + option.name);
}

std::vector<std::string> commands() {
  std::vector<std::string> names;
  for (const auto& [command, words] : read_effects().requests) names.push_back(command);
  return names;
}

std::string name_of_command(const testing::TestParamInfo<std::string>& command) {
  std::string name = command.param;
  std::ranges::replace(name, ' ', '_');
  return name;
}

void Asked::SetUp() {
  hub_.add("config.json", R"({"model_type": "gpt2"})");
  hub_.add("model.safetensors", std::string(1000, 'x'), true);
  home_ = std::filesystem::current_path();
  std::filesystem::create_directory(given_);
  std::filesystem::current_path(given_);
  write_files();
}

void Asked::TearDown() { std::filesystem::current_path(home_); }

Outcome Asked::run(const std::string& command, const Words& words, const std::vector<Environment>& extra) {
  std::filesystem::current_path(home_);
  std::filesystem::remove_all(here_);
  std::filesystem::copy(given_, here_, std::filesystem::copy_options::recursive);
  std::filesystem::current_path(here_);
  Words all = words_of(command);
  for (const std::string& word : words) all.push_back(word == "HUB" ? hub_.address() : word);
  return run_qkv(all, extra);
}

int Asked::threads_of(const std::string& command, const Words& words) {
  const std::string counted = directory_ / "threads";
  write_file(counted, std::string_view());
  EXPECT_EQ(run(command, words, {{"LD_PRELOAD", QKV_THREAD_COUNT}, {"QKV_COUNTED_THREADS", counted}}).code, 0);
  return static_cast<int>(std::filesystem::file_size(counted));
}

Reply Asked::reply_of(const std::string& command, const Words& words) {
  const Outcome outcome = run(command, words);
  return {outcome.code, without_times(outcome.out), without_times(outcome.err),
          files_here(command == "bench variants")};
}

}  // namespace qkv::tests
