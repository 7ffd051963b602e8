#include "qkv/model/write_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/text/train_tokenizer.h"
#include "qkv/text/vocabulary.h"
#include "train/boxed.h"

namespace qkv::write_text_test {
namespace {

using testing::HasSubstr;
using tests::TemporaryDirectory;

using tests::boxed;

// A model of random parameters over the bytes of UTF-8.
TextModel of_bytes() {
  const auto tokenizer = parse_tokenizer_json(train_tokenizer("aaaa", {.size = 257}), "tokenizer.json");
  Generator generator(4);
  const Decoder decoder(
      {.vocabulary = tokenizer->size(), .length = 64, .layers = 1, .d_model = 16, .heads = 2, .tied = false},
      generator);
  return {Model(decoder, {.tokens = tokenizer}), "m.safetensors"};
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
  const std::vector<std::string> sum = {"1234+1234="};
  const WrittenText written = write_texts(boxed("addition"), sum, {}).front();
  EXPECT_EQ(written.tokens.size(), 5U);
  EXPECT_EQ(written.end, WriteEnd::length);
}

TEST(WriteTexts, SayWhatTheyGive) {
  const TextModel model = of_bytes();
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
      const std::string whole = model.tokenizer().decode(written[n].tokens);
      EXPECT_EQ(written[n].end, whole.find('e') == std::string::npos ? WriteEnd::length : WriteEnd::stop);
    }
  }
}

TEST(WriteTexts, HoldTheBeginningOfAStopBack) {
  const TextModel model = of_bytes();
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

// A special token is not shown, and ends a text all the same; so does one with what stands beside it.
TEST(WriteTexts, StopAtSpecialTokens) {
  const TextModel model = of_bytes();
  const Tokenizer& tokenizer = model.tokenizer();
  const std::vector<std::string> prompts = {"a"};
  const std::string mark = "<|endoftext|>";
  const std::int32_t special = tokenizer.id(mark);
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 300 && tried < 3; ++seed) {
    const GenerateOptions draw{.most = 40, .temperature = 20, .seed = seed};
    const std::vector<std::int32_t> tokens = write_texts(model, prompts, {.draw = draw}).front().tokens;
    const auto at = static_cast<std::size_t>(std::ranges::find(tokens, special) - tokens.begin());
    if (at < 2 || at + 2 >= tokens.size()) continue;
    const std::string before = tokenizer.decode(std::span(tokens).first(at));
    const std::string behind = tokenizer.decode(std::span(tokens).subspan(at + 1, 1));
    if (before.size() < 2 || before.back() < 0 || behind.size() != 1 || behind.front() < 0) continue;
    ++tried;
    const std::string cut = before.substr(0, before.size() - 1);
    for (const auto& [stop, text] :
         {std::pair(mark, before), std::pair(mark + behind, before), std::pair(before.back() + mark, cut)}) {
      std::string said;
      const auto say = [&](std::int64_t, std::string_view part) { said += part; };
      const WrittenText written = write_texts(model, prompts, {.draw = draw, .stops = {stop}, .said = say}).front();
      EXPECT_EQ(written.text, text) << stop;
      EXPECT_EQ(written.end, WriteEnd::stop) << stop;
      EXPECT_EQ(said, text) << stop;
    }
    const WrittenText on = write_texts(model, prompts, {.draw = draw, .stops = {mark.substr(2)}}).front();
    EXPECT_GT(on.text.size(), before.size()) << "letters of a special token are not part of the text";
  }
  EXPECT_EQ(tried, 3);
}

// A model of random parameters over a few words; `decoder` is a stage of tokenizer.json.
TextModel of_words(const nlohmann::json& decoder) {
  const nlohmann::json words = {{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}, {"<s>", 4}, {"?", 5}};
  const nlohmann::json mark = {{"id", 4},         {"content", "<s>"}, {"single_word", false}, {"lstrip", false},
                               {"rstrip", false}, {"special", true},  {"normalized", false}};
  const nlohmann::json all = {{"added_tokens", {mark}},
                              {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
                              {"decoder", decoder},
                              {"model", {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "?"}}}};
  const auto tokenizer = parse_tokenizer_json(all.dump(), "tokenizer.json");
  Generator generator(4);
  const Decoder network(
      {.vocabulary = tokenizer->size(), .length = 64, .layers = 1, .d_model = 16, .heads = 2, .tied = false},
      generator);
  return {Model(network, {.tokens = tokenizer}), "m.safetensors"};
}

// What a decoder puts between tokens is no part of a special one.
TEST(WriteTexts, StopAtSpecialTokensOfEveryDecoder) {
  using nlohmann::json;
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
  const std::vector<std::pair<json, std::string>> decoders = {
      {nullptr, " "},
      {{{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", false}}, " "},
      {byte_level, ""},
      {{{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}}, ""},
      {{{"type", "Fuse"}}, ""}};
  for (const auto& [decoder, between] : decoders) {
    const TextModel model = of_words(decoder);
    const std::vector<std::string> prompts = {"a"};
    int tried = 0;
    for (std::uint64_t seed = 0; seed < 300 && tried < 3; ++seed) {
      const auto written = [&](std::int64_t most, std::vector<std::string> stops) {
        const GenerateOptions draw{.most = most, .temperature = 20, .seed = seed};
        return write_texts(model, prompts, {.draw = draw, .stops = std::move(stops)}).front();
      };
      const std::vector<std::int32_t> tokens = written(12, {}).tokens;
      const std::int64_t at = std::ranges::find(tokens, 4) - tokens.begin();
      const bool is_plain = at >= 2 && at + 1 < std::ssize(tokens) && tokens[static_cast<std::size_t>(at) + 1] < 4;
      if (!is_plain || std::ranges::find(tokens, 5) != tokens.end()) continue;
      ++tried;
      const std::string before = written(at, {}).text;
      const std::string cut = before.substr(0, before.size() - 1);
      const std::string behind(1, static_cast<char>('a' + tokens[static_cast<std::size_t>(at) + 1]));
      for (const auto& [stop, text] : {std::pair<std::string, std::string>("<s>", before),
                                       {before.back() + between + "<s>", cut},
                                       {"<s>" + between + behind, before}}) {
        const WrittenText stopped = written(12, {stop});
        EXPECT_EQ(stopped.text, text) << decoder << " at " << stop;
        EXPECT_EQ(stopped.end, WriteEnd::stop) << decoder << " at " << stop;
      }
      const std::string other = between.empty() ? " " : "";
      EXPECT_EQ(written(12, {before.back() + other + "<s>"}).end, WriteEnd::length) << decoder;
    }
    EXPECT_EQ(tried, 3) << decoder;
  }
}

TEST(WriteTexts, GiveTheBestBeam) {
  const TextModel model = of_bytes();
  const std::vector<std::string> prompts = {"a"};
  const WrittenText written = write_texts(model, prompts, {.draw = {.most = 5, .beams = 3}}).front();
  EXPECT_EQ(written.tokens.size(), 5U);
  EXPECT_EQ(written.end, WriteEnd::length);
}

// 64 tokens are what its examples had; its positions are rotary, and go on.
TEST(WriteTexts, SayWhatTheirEndWasWrittenWithout) {
  const TextModel model = of_bytes();
  const std::vector<std::string> prompts = {std::string(60, 'a'), std::string(70, 'b')};
  for (const std::int64_t beams : {1, 3}) {
    const std::vector<WrittenText> written = write_texts(model, prompts, {.draw = {.most = 8, .beams = beams}});
    EXPECT_EQ(written[0].unread, 60 + 7 - 64);
    EXPECT_EQ(written[1].unread, 70 + 7 - 64);
    EXPECT_EQ(write_texts(model, prompts, {.draw = {.most = 4, .beams = beams}})[0].unread, 0);
  }
  const WrittenText whole = write_texts(model, prompts, {.draw = {.most = 8, .window = 128}})[1];
  EXPECT_EQ(whole.unread, 0);
}

TEST(WriteTexts, EndWhereTheirPositionsDo) {
  Generator generator(6);
  const auto tokenizer = parse_tokenizer_json(train_tokenizer("aaaa", {.size = 257}), "tokenizer.json");
  const EncoderDecoder both({.source_vocabulary = tokenizer->size(),
                             .vocabulary = tokenizer->size(),
                             .source_length = 8,
                             .length = 6,
                             .encoder_layers = 1,
                             .layers = 1,
                             .d_model = 16,
                             .heads = 2,
                             .positions = Positions::learned,
                             .start = 0},
                            generator);
  const TextModel model(Model(both, {.tokens = tokenizer}), "m.safetensors");
  const std::vector<std::string> prompts = {"abc"};
  for (const std::int64_t beams : {1, 2}) {
    const WrittenText written = write_texts(model, prompts, {.draw = {.most = 20, .beams = beams}}).front();
    EXPECT_EQ(written.tokens.size(), 6U);
    EXPECT_EQ(written.end, WriteEnd::positions);
    EXPECT_EQ(write_texts(model, prompts, {.draw = {.most = 6, .beams = beams}}).front().end, WriteEnd::length);
  }
  const std::vector<std::string> long_one = {"abcdefghi"};
  EXPECT_EQ(
      error_message([&] { static_cast<void>(write_texts(model, long_one, {})); }),
      "write_texts: prompts[0]: expected a text of at most 8 tokens, for which there are learned positions, got 9 "
      "tokens");
}

// A model of others ends where its config says, and nowhere else.
TEST(WriteTexts, EndNotAtAPieceThatNobodyCalledTheEnd) {
  const auto pieces = std::make_shared<const Vocabulary>(std::vector<std::string>{"a", "</s>"}, TextForm::characters);
  Generator generator(4);
  const Decoder decoder({.vocabulary = 2, .length = 8, .layers = 1, .d_model = 8, .heads = 2}, generator);
  const TemporaryDirectory directory;
  const auto ends_of = [&](std::vector<std::int64_t> ends) {
    Model(decoder, {.tokens = pieces, .ends = std::move(ends)}).save(directory / "m.safetensors");
    return TextModel(Model::open(directory / "m.safetensors"), "m.safetensors").writing({}).ends;
  };
  EXPECT_THAT(ends_of({}), testing::IsEmpty());
  EXPECT_THAT(ends_of({1}), testing::ElementsAre(1));
}

TEST(WriteTexts, RefuseWhatHasNoMeaning) {
  const auto message = [](const TextModel& model, const std::vector<std::string>& prompts,
                          const WriteOptions& options) {
    return error_message([&] { static_cast<void>(write_texts(model, prompts, options)); });
  };
  EXPECT_EQ(message(boxed("english"), {"the cat"}, {}),
            "write_texts: model: expected one that writes, got one of kind encoder");
  EXPECT_EQ(message(boxed("shapes"), {"a"}, {}),
            "write_texts: model: expected one that reads texts, got one that reads images");
  EXPECT_EQ(message(boxed("addition"), {"12345678+12345678="}, {}),
            "write_texts: prompts[0]: expected a text of at most 14 tokens, for which there are learned positions, got "
            "18 tokens");
  EXPECT_EQ(message(of_bytes(), {"a", ""}, {}), "write_texts: prompts[1]: expected a value, got \"\"");
  EXPECT_EQ(message(of_bytes(), {"a"}, {.draw = {.most = 2'000'000'000}}),
            "write_texts: most: expected from 0 to 1048576, got 2000000000");
  EXPECT_EQ(message(of_bytes(), {"a"}, {.draw = {.beams = 2000}}),
            "write_texts: beams: expected from 1 to 1024, got 2000");
  EXPECT_EQ(message(of_bytes(), {"a"}, {.stops = {""}}),
            "write_texts: stops: expected texts of a character or more, got an empty one");
  EXPECT_EQ(message(of_bytes(), {"a"}, {.draw = {.top_k = 2}}),
            "generate: top_k: expected 0 without a `temperature` above 0, got 2");
}

}  // namespace
}  // namespace qkv::write_text_test
