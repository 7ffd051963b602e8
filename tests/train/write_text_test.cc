#include "qkv/train/write_text.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/text/train_tokenizer.h"

namespace qkv::write_text_test {
namespace {

using testing::HasSubstr;
using tests::TemporaryDirectory;

TrainedModel boxed(const std::string& name) { return TrainedModel::read(trained_model_path(name)); }

// A model of random parameters over the bytes of UTF-8.
TrainedModel of_bytes() {
  const auto tokenizer = parse_tokenizer_json(train_tokenizer("aaaa", {.size = 257}), "tokenizer.json");
  Generator generator(4);
  const Decoder decoder(
      {.vocabulary = tokenizer->size(), .length = 64, .layers = 1, .d_model = 16, .heads = 2, .tied = false},
      generator);
  const TemporaryDirectory directory;
  Model(decoder, {.tokens = tokenizer}).save(directory / "m.safetensors");
  return TrainedModel::read(directory / "m.safetensors");
}

TEST(WriteTexts, AnswerAsTheTaskAsks) {
  const std::vector<std::string> words = {"abxkcdef", "qwertyui", "qwertyuiop", "abcdxyz"};
  const std::vector<WrittenText> all = write_texts(boxed("reverse"), words, {});
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t n = 0; n < words.size(); ++n) {
    EXPECT_EQ(all[n].text, std::string(words[n].rbegin(), words[n].rend()));
    EXPECT_EQ(all[n].text, write_texts(boxed("reverse"), std::span(&words[n], 1), {}).front().text);
    EXPECT_EQ(all[n].end, WriteEnd::token);
  }
  const std::vector<std::string> sum = {"12345678+12345678="};
  const WrittenText written = write_texts(boxed("addition"), sum, {}).front();
  EXPECT_EQ(written.tokens.size(), 5U);
  EXPECT_EQ(written.end, WriteEnd::length);
}

TEST(WriteTexts, SayWhatTheyGive) {
  const TrainedModel model = of_bytes();
  const std::vector<std::string> prompts = {"ab", "c", "de"};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::vector<std::string> said(3);
    const std::vector<WrittenText> written = write_texts(
        model, prompts,
        {.draw = {.most = 60, .temperature = 20, .seed = seed},
         .stops = {"e", "xyz"},
         .said = [&](std::int64_t n, std::string_view part) { said.at(static_cast<std::size_t>(n)) += part; }});
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_EQ(said[n], written[n].text);
      EXPECT_THAT(written[n].text, testing::Not(HasSubstr("e")));
      const std::string whole = model.task().vocabulary().decode(written[n].tokens);
      EXPECT_EQ(written[n].end, whole.find('e') == std::string::npos ? WriteEnd::length : WriteEnd::stop);
    }
  }
}

TEST(WriteTexts, HoldTheBeginningOfAStopBack) {
  const TrainedModel model = of_bytes();
  const std::vector<std::string> prompts = {"a"};
  const std::string free = write_texts(model, prompts, {.draw = {.most = 12}}).front().text;
  ASSERT_GT(free.size(), 8U);
  const std::string stop = free.substr(3, 4);
  std::string said;
  const WrittenText written =
      write_texts(
          model, prompts,
          {.draw = {.most = 12}, .stops = {stop}, .said = [&](std::int64_t, std::string_view part) { said += part; }})
          .front();
  EXPECT_EQ(written.text, free.substr(0, free.find(stop)));
  EXPECT_EQ(said, written.text);
  EXPECT_EQ(written.end, WriteEnd::stop);
}

TEST(WriteTexts, GiveTheBestBeam) {
  const TrainedModel model = of_bytes();
  const std::vector<std::string> prompts = {"a"};
  const WrittenText written = write_texts(model, prompts, {.draw = {.most = 5, .beams = 3}}).front();
  EXPECT_EQ(written.tokens.size(), 5U);
  EXPECT_EQ(written.end, WriteEnd::length);
}

TEST(WriteTexts, RefuseWhatHasNoMeaning) {
  const auto message = [](const TrainedModel& model, const std::vector<std::string>& prompts,
                          const WriteOptions& options) {
    return error_message([&] { static_cast<void>(write_texts(model, prompts, options)); });
  };
  EXPECT_EQ(message(boxed("english"), {"the cat"}, {}),
            "write_texts: model: expected one that writes, got one of kind encoder");
  EXPECT_EQ(message(boxed("shapes"), {"a"}, {}),
            "write_texts: model: expected one that reads texts, got one that reads images");
  EXPECT_EQ(message(of_bytes(), {"a", ""}, {}), "write_texts: prompts[1]: expected a token or more, got none");
  EXPECT_EQ(message(of_bytes(), {"a"}, {.stops = {""}}),
            "write_texts: stops: expected texts of a character or more, got an empty one");
  EXPECT_EQ(message(of_bytes(), {"a"}, {.draw = {.top_k = 2}}),
            "generate: temperature: expected more than 0 beside top_k, top_p and min_p, got 0");
}

}  // namespace
}  // namespace qkv::write_text_test
