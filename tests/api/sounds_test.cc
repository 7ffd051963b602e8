// What is said in a sound, by a small transcriber that learnt nothing.
#include <gmock/gmock.h>

#include "api/ask.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/model/model.h"
#include "qkv/model/transcriber.h"
#include "qkv/random.h"
#include "qkv/text/vocabulary.h"
#include "qkv/wav.h"

namespace qkv::sounds_test {
namespace {

constexpr std::int64_t kPositions = 12;

class Sounds : public testing::Test {
 protected:
  void SetUp() override {
    const auto tokens =
        std::make_shared<const Vocabulary>(std::vector<std::string>{"a", "b", "c", "d"}, TextForm::letters);
    Generator generator(1);
    const TranscriberOptions options{.bins = 8,
                                     .frames = 100,
                                     .vocabulary = tokens->size(),
                                     .length = kPositions,
                                     .d_model = 16,
                                     .heads = 2,
                                     .start = 3};
    Model(Transcriber(options, generator), {.tokens = tokens}).save(directory_ / "speech.safetensors");
    // It reads one second at once.
    const Sound sound{.rate = 8000, .samples = Generator(2).rand({3 * 8000})};
    write_file(directory_ / "speech.wav", encode_wav(sound));
  }

  [[nodiscard]] Json request(Json fields = Json::object()) const {
    fields["model"] = directory_ / "speech.safetensors";
    return fields;
  }
  [[nodiscard]] Json written(Json fields = Json::object()) const {
    fields["sound"] = directory_ / "speech.wav";
    return ask("generate", request(fields).dump()).json.at(0);
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(Sounds, HaveNoMoreTokensThanAreAskedFor) {
  for (const std::size_t tokens : {std::size_t{5}, kPositions + std::size_t{2}}) {
    const Json few = written({{"tokens", tokens}});
    EXPECT_EQ(few["tokens"].size(), tokens);
    EXPECT_EQ(few["end"], tokens < kPositions ? "length" : "positions");
  }
}

TEST_F(Sounds, AreWrittenWholeUnlessFewerTokensAreAskedFor) {
  const Json all = written();
  EXPECT_EQ(all["tokens"].size(), std::size_t{3 * kPositions});
  EXPECT_EQ(all["end"], "positions");
  EXPECT_EQ(all["cautions"],
            Json({"it has positions for 12 tokens, which one piece of the sound took: its end may be missing"}));
}

TEST_F(Sounds, AreWhatWhoeverAsksIsToldToGive) {
  const std::string asked = request({{"text", "abc"}}).dump();
  Studio readers({.text = {}, .asker = Asker::reader});
  for (const std::string& question : std::vector<std::string>{"explain", "probe"}) {
    const auto refusal = [&](Studio& studio) {
      try {
        static_cast<void>(studio.ask(question, asked));
      } catch (const InvalidArgument& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    Studio owner({.text = {}, .asker = Asker::owner});
    EXPECT_THAT(refusal(owner), testing::HasSubstr(": expected a sound"));
    EXPECT_EQ(refusal(readers), refusal(owner)) << question;
  }
}

}  // namespace
}  // namespace qkv::sounds_test
