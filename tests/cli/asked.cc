#include "cli/asked.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "../hub/hub_server.h"
#include "cli/command.h"
#include "cli/without_times.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "qkv/files.h"
#include "qkv/model/model.h"
#include "qkv/random.h"
#include "qkv/tensor.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/wav.h"

namespace qkv::tests {
namespace {

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

// A transcriber that learnt nothing, and a second of sound.
void put_speech() {
  const std::shared_ptr<const Tokenizer> tokens = read_tokenizer("tokenizer.json");
  Generator generator(1);
  const TranscriberOptions options{
      .bins = 8, .frames = 100, .vocabulary = tokens->size(), .length = 32, .d_model = 16, .heads = 2, .start = 4};
  Model(Transcriber(options, generator), {.tokens = tokens}).save("speech.safetensors");
  Sound sound{.rate = 8000, .samples = Generator(2).rand({8000})};
  write_file("speech.wav", encode_wav(sound));
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
  put_speech();
  EXPECT_EQ(run_qkv(words_of("train previous --steps 3 --batch 2 --out begun --layers 1 --d-model 8 --heads 2 --d-ff 8 "
                             "--warm-up 1 --examples 2 --examine-every 3 --save-every 3"))
                .code,
            0);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ostringstream bytes;
  std::ifstream file(path, std::ios::binary);
  if (file.peek() != std::ifstream::traits_type::eof()) bytes << file.rdbuf();
  return std::move(bytes).str();
}

// The files that a request may read, and a copy of them in which it works. Untouched files of the copy have one time in
// common, by which they are told from what a request wrote, without reading them.
class Folder {
 public:
  Folder() {
    std::filesystem::create_directory(given_);
    std::filesystem::create_directory(here_);
    std::filesystem::current_path(given_);
    write_files();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(".")) {
      given_names_.insert(entry.path().lexically_normal());
    }
  }

  /// As it was at first, and the one that relative paths are in.
  void restore() const {
    std::filesystem::current_path(here_);
    for (const std::filesystem::path& name : added()) std::filesystem::remove_all(name);
    for (const std::filesystem::path& name : given_names_) {
      if (std::filesystem::is_directory(given_ / name)) {
        std::filesystem::create_directory(name);
      } else if (!is_untouched(name)) {
        std::filesystem::copy_file(given_ / name, name, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::last_write_time(name, untouched_);
      }
    }
  }

  /// What differs from what was given.
  [[nodiscard]] std::map<std::string, std::string> changed() const {
    std::map<std::string, std::string> files;
    for (const std::filesystem::path& name : added()) {
      if (std::filesystem::is_regular_file(name)) files[name.string()] = bytes_of(name);
    }
    for (const std::filesystem::path& name : given_names_) {
      if (std::filesystem::is_directory(given_ / name) || is_untouched(name)) continue;
      const bool is_there = std::filesystem::exists(name);
      std::string bytes = is_there ? bytes_of(name) : "gone";
      if (!is_there || bytes != bytes_of(given_ / name)) files[name.string()] = std::move(bytes);
    }
    return files;
  }

  [[nodiscard]] std::string beside(const std::string& name) const { return directory_ / name; }

 private:
  [[nodiscard]] std::set<std::filesystem::path> added() const {
    std::set<std::filesystem::path> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(".")) {
      const std::filesystem::path name = entry.path().lexically_normal();
      if (!given_names_.contains(name)) names.insert(name);
    }
    return names;
  }

  [[nodiscard]] bool is_untouched(const std::filesystem::path& name) const {
    std::error_code none;
    return std::filesystem::last_write_time(name, none) == untouched_ && !none;
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path given_ = directory_ / "given", here_ = directory_ / "here";
  const std::filesystem::file_time_type untouched_ =
      std::chrono::floor<std::chrono::seconds>(std::filesystem::file_time_type::clock::now()) - std::chrono::hours(1);
  std::set<std::filesystem::path> given_names_;
};

const Folder& folder() {
  static const Folder kFolder;
  return kFolder;
}

const std::string& hub_address() {
  static HubServer hub;
  static const bool kIsFilled = [] {
    hub.add("config.json", R"({"model_type": "gpt2"})");
    hub.add("model.safetensors", std::string(1000, 'x'), true);
    return true;
  }();
  static_cast<void>(kIsFilled);
  static const std::string kAddress = hub.address();
  return kAddress;
}

Outcome run_in_folder(const std::string& command, const Words& words, const std::vector<Environment>& extra = {}) {
  folder().restore();
  Words all = words_of(command);
  for (const std::string& word : words) all.push_back(word == "HUB" ? hub_address() : word);
  return run_qkv(all, extra);
}

}  // namespace

Reply Asked::reply_of(const std::string& command, const Words& words) {
  const Outcome outcome = run_in_folder(command, words);
  Reply reply{outcome.code, without_times(outcome.out), without_times(outcome.err), folder().changed()};
  for (auto& [name, bytes] : reply.files) {
    if (command == "bench variants") {
      bytes.clear();  // pictures of times
    } else if (name.ends_with(".json") || name.ends_with(".jsonl")) {
      bytes = without_times(bytes);
    }
  }
  return reply;
}

int Asked::threads_of(const std::string& command, const Words& words) {
  const std::string counted = folder().beside("threads");
  write_file(counted, std::string_view());
  EXPECT_EQ(run_in_folder(command, words, {{"LD_PRELOAD", QKV_THREAD_COUNT}, {"QKV_COUNTED_THREADS", counted}}).code,
            0);
  return static_cast<int>(std::filesystem::file_size(counted));
}

}  // namespace qkv::tests
