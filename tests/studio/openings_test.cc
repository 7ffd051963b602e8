// How often a page in one file opens its model's.
#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "qkv/files.h"
#include "qkv/model/box.h"
#include "qkv/model/convert.h"
#include "server/pages.h"

namespace qkv::openings_test {
namespace {

using testing::Contains;
using testing::Pair;
using tests::run_qkv;

// How often files of a folder were opened since, by their names (inotify(7)). Files are closed in between, for the same
// event twice in a row is told once.
class Openings {
 public:
  explicit Openings(const std::string& folder) : watch_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    if (watch_ < 0 || ::inotify_add_watch(watch_, folder.c_str(), IN_OPEN | IN_CLOSE) < 0) {
      throw std::runtime_error("cannot watch " + folder);
    }
  }
  Openings(const Openings&) = delete;
  Openings& operator=(const Openings&) = delete;
  ~Openings() { ::close(watch_); }

  [[nodiscard]] std::map<std::string, int> counted() const {
    std::map<std::string, int> counts;
    alignas(inotify_event) std::array<char, 65536> bytes{};
    for (ssize_t size = 0; (size = ::read(watch_, bytes.data(), bytes.size())) > 0;) {
      for (ssize_t at = 0; at < size;) {
        inotify_event event{};
        std::memcpy(&event, bytes.data() + at, sizeof event);
        const char* const name = bytes.data() + at + sizeof event;
        if ((event.mask & IN_OPEN) != 0 && (event.mask & IN_ISDIR) == 0) ++counts[name];
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
    return counts;
  }

 private:
  int watch_;
};

class PageOpenings : public testing::Test {
 protected:
  void SetUp() override {
    if (studio::built_pages().page.empty()) GTEST_SKIP() << "this build has no pages: " << studio::why_without_pages();
  }

  // Those in `folder`, while the command writes a page.
  [[nodiscard]] std::map<std::string, int> of_page(const std::string& folder, std::vector<std::string> words,
                                                   const std::vector<tests::Environment>& extra = {}) const {
    const Openings openings(folder);
    words.push_back(directory_ / "page.html");
    const tests::Outcome outcome = run_qkv(words, extra);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return openings.counted();
  }

  const tests::TemporaryDirectory directory_;
};

TEST(Openings, AreCountedEachTime) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "a.txt", std::string_view("a"));
  const Openings openings(directory.path());
  for (int n = 0; n < 3; ++n) static_cast<void>(read_file(directory / "a.txt"));
  EXPECT_THAT(openings.counted(), testing::ElementsAre(Pair("a.txt", 3)));
  EXPECT_THAT(openings.counted(), testing::IsEmpty());
}

// Whether by its path or as one of the box, which a page carries along, too.
TEST_F(PageOpenings, OfAFileAreOne) {
  std::filesystem::create_directory(directory_ / "box");
  const std::string gpt = directory_ / "box/gpt.safetensors", towers = directory_ / "box/towers.safetensors";
  std::filesystem::copy_file(trained_model_path("gpt"), gpt);
  std::filesystem::copy_file(trained_model_path("towers"), towers);
  const std::vector<tests::Environment> own_box = {{.name = "QKV_MODELS", .value = directory_ / "box"}};
  const std::string text = "The cat sat", picture = QKV_SOURCE_DIR "/tests/fuzz/corpus/png/rgba.png";
  const std::vector<std::vector<std::string>> commands = {
      {"explain", text, "--model", gpt, "--html"},
      {"explain", text, "--model", "gpt", "--html"},
      {"explain", text, "--model", "gpt", "--why=all", "--html"},
      {"view", gpt, "--text", text, "--export"},
      {"view", "gpt", "--text", text, "--export"},
  };
  for (const auto& words : commands) {
    EXPECT_THAT(of_page(directory_ / "box", words, own_box), Contains(Pair("gpt.safetensors", 1)))
        << testing::PrintToString(words);
  }
  EXPECT_THAT(of_page(directory_ / "box", {"match", picture, "a green circle", "--html"}, own_box),
              Contains(Pair("towers.safetensors", 1)));
}

// Of the small files beside them, a tokenizer reads some that the model reads, too.
TEST_F(PageOpenings, OfAFolderAndOfGgufAreOne) {
  const std::string folder = directory_ / "llama";
  std::string tokenizer = tests::chat_tokenizer();
  tests::put_chat_model(folder);
  constexpr std::string_view kPlain = "\"use_regex\": false";  // which GGUF has no word for
  tokenizer.replace(tokenizer.find(kPlain), kPlain.size(), "\"use_regex\": true");
  write_file(folder + "/tokenizer.json", tokenizer);
  static_cast<void>(convert_model(folder, directory_ / "llama.gguf"));
  std::filesystem::create_directory(directory_ / "one");
  const std::string file = directory_ / "one/llama.gguf";
  std::filesystem::rename(directory_ / "llama.gguf", file);
  const auto once = testing::AllOf(Contains(Pair("model.safetensors", 1)), Contains(Pair("tokenizer.json", 1)));
  EXPECT_THAT(of_page(folder, {"explain", "abcabc", "--model", folder, "--html"}), once);
  EXPECT_THAT(of_page(folder, {"view", folder, "--text", "abcabc", "--export"}), once);
  EXPECT_THAT(of_page(directory_ / "one", {"explain", "abcabc", "--model", file, "--html"}),
              testing::ElementsAre(Pair("llama.gguf", 1)));
  EXPECT_THAT(of_page(directory_ / "one", {"view", file, "--text", "abcabc", "--export"}),
              testing::ElementsAre(Pair("llama.gguf", 1)));
}

}  // namespace
}  // namespace qkv::openings_test
