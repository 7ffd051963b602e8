// What questions about a model's inside show it beside a text: conversations, sounds and pictures, also as data.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "api/ask.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "model/image_folder.h"
#include "nn/passes.h"
#include "qkv/files.h"
#include "qkv/model/model.h"
#include "qkv/model/shown.h"
#include "qkv/png.h"
#include "qkv/random.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/wav.h"
#include "text/base64.h"

namespace qkv::api_shown_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using tests::TemporaryDirectory;

std::string data_url(const char* media, const std::vector<std::byte>& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::string("data:") + media + ";base64," + text::to_base64(text);
}

std::string refusal_of(Studio& studio, const std::string& question, const Json& request) {
  try {
    static_cast<void>(studio.ask(question, request.dump()));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(const std::string& question, const Json& request) {
  Studio studio;
  return refusal_of(studio, question, request);
}

class ShownConversation : public testing::Test {
 protected:
  ShownConversation() { tests::put_chat_model(model_); }

  [[nodiscard]] Json reply(const std::string& question, Json request) const {
    request["model"] = model_;
    return ask(question, request.dump()).json;
  }

  TemporaryDirectory directory_;
  std::string model_ = directory_ / "talk";
};

// The template puts "be" where there is no system.
TEST_F(ShownConversation, IsReadAlikeByEveryQuestion) {
  const Json chat = {{"chat", true}, {"text", "ab"}, {"system", "c"}};
  const auto with = [&](const Json& more) {
    Json request = chat;
    request.update(more);
    return request;
  };
  const Json explained = reply("explain", with({{"numbers", false}}));
  const Json sources = explained["sources"];
  EXPECT_EQ(std::count(sources.begin(), sources.end(), "user"), 2);
  EXPECT_EQ(std::count(sources.begin(), sources.end(), "system"), 1);
  EXPECT_EQ(reply("lens", chat)["sources"], sources);
  EXPECT_EQ(reply("lens", chat)["tokens"], explained["tokens"]);
  EXPECT_EQ(reply("probe", with({{"stats", true}}))["sources"], sources);
  EXPECT_EQ(reply("heads", chat)["sources"], sources);
  EXPECT_EQ(reply("change", with({{"remove", {"1.0"}}}))["tokens"], explained["tokens"]);
  Json request = chat;
  request["tokenizer"] = model_;
  const Json tokens = ask("tokens", request.dump()).json;
  EXPECT_EQ(tokens["sources"], sources);
  EXPECT_THAT(tokens["rendered"], HasSubstr("<|im_start|>system\nc<|im_end|>"));
  EXPECT_EQ(reply("lens", {{"text", "ab"}})["sources"], nullptr);
}

TEST_F(ShownConversation, HasTheMessagesThatAreGiven) {
  const Json said = {{"chat", true}, {"user", "ab"}};
  EXPECT_EQ(reply("lens", said)["tokens"], reply("lens", {{"chat", true}, {"text", "ab"}})["tokens"]);
  Json before = {{"chat", true},
                 {"text", "ab"},
                 {"messages", R"([{"role": "user", "content": "x"}, {"role": "assistant", "content": "yz"}])"}};
  const Json sources = reply("heads", before)["sources"];
  EXPECT_EQ(std::count(sources.begin(), sources.end(), "assistant"), 2);
  EXPECT_EQ(std::count(sources.begin(), sources.end(), "user"), 3);
  before["tokenizer"] = model_;
  EXPECT_EQ(ask("tokens", before.dump()).json["sources"], sources);
}

TEST_F(ShownConversation, IsEachOfManyTexts) {
  const Json plain = {{"texts", {"abc", "abab"}}, {"importance", 0}};
  Json chat = plain;
  chat["chat"] = true;
  EXPECT_GT(reply("analyze", chat)["tokens"], reply("analyze", plain)["tokens"]);
}

// A patch comes from another message in the same template.
TEST_F(ShownConversation, IsPatchedFromAnother) {
  const Json request = {{"chat", true}, {"text", "ab"}, {"from_text", "cd"}, {"patch", {"blocks.0"}}};
  const Json change = reply("change", request);
  EXPECT_EQ(change["tokens"].size(), change["from_tokens"].size());
  EXPECT_NE(change["tokens"], change["from_tokens"]);
  // In place of the last message, wherever that is given.
  const Json said = {{{"role", "user"}, {"content", "ab"}}};
  Json last = {{"chat", true}, {"messages", said.dump()}, {"from_text", "cd"}, {"patch", {"blocks.0"}}};
  EXPECT_EQ(reply("change", last)["from_tokens"], change["from_tokens"]);
  const auto weights = [&](Json head) {
    head.update({{"model", model_}, {"chat", true}, {"changes", "patch blocks.0"}, {"from_text", "cd"}, {"layer", 1}});
    const Answer answer = ask("head", head.dump());
    return answer.numbers<float>(answer.json["weights"]);
  };
  EXPECT_EQ(weights({{"messages", said.dump()}}), weights({{"text", "ab"}}));
  last["from_example"] = 0;
  last["model"] = model_;
  EXPECT_THAT(refusal_of("change", last), HasSubstr("from_text: expected no `from_example` beside it, got both"));
}

TEST_F(ShownConversation, RefusesWhatHasNoMeaning) {
  const auto said = [&](Json request) {
    request["model"] = model_;
    return refusal_of("lens", request);
  };
  EXPECT_THAT(said({{"chat", true}}),
              HasSubstr("model: expected `text`, `example`, `picture`, `sound`, `user` or `messages` beside it"));
  EXPECT_THAT(said({{"text", "ab"}, {"system", "c"}}), HasSubstr("system: expected `chat` beside it"));
  EXPECT_THAT(said({{"chat", true}, {"text", "ab"}, {"user", "c"}}), HasSubstr("user: expected it without `text`"));
  EXPECT_THAT(refusal_of("lens", {{"model", "gpt"}, {"chat", true}, {"text", "ab"}}),
              HasSubstr("model: expected one with a chat template"));
  EXPECT_THAT(refusal_of("tokens", {{"tokenizer", model_ + "/tokenizer.json"}, {"chat", true}, {"text", "ab"}}),
              HasSubstr("chat: expected a model, whose chat template lies beside its tokenizer"));
}

// A transcriber that learnt nothing, of a second of sound.
class ShownSound : public testing::Test {
 protected:
  ShownSound() {
    std::ofstream(directory_ / "tokenizer.json") << tests::chat_tokenizer();
    const auto tokens = read_tokenizer(directory_ / "tokenizer.json");
    Generator generator(1);
    const TranscriberOptions options{
        .bins = 8, .frames = 100, .vocabulary = tokens->size(), .length = 32, .d_model = 16, .heads = 2, .start = 4};
    Model(Transcriber(options, generator), {.tokens = tokens}).save(model_);
    write_file(wav_, encode_wav(sound_));
  }

  [[nodiscard]] Json reply(const std::string& question, Json request) const {
    request["model"] = model_;
    return ask(question, request.dump()).json;
  }

  TemporaryDirectory directory_;
  std::string model_ = directory_ / "speech.safetensors";
  std::string wav_ = directory_ / "speech.wav";
  Sound sound_{.rate = 16000, .samples = Generator(2).rand({16000})};
};

TEST_F(ShownSound, IsLookedAtByEveryQuestion) {
  const Json lens = reply("lens", {{"sound", wav_}});
  EXPECT_EQ(lens["layers"].size(), 3U);
  EXPECT_EQ(lens["parts"]["cross_key_tokens"].size(), 50U);
  EXPECT_NEAR(lens["parts"]["sum"].get<double>(), lens["parts"]["logit"].get<double>(), 1e-4);
  const Json change = reply("change", {{"sound", wav_}, {"remove", {"cross:*.*"}}});
  EXPECT_NE(change["answer"]["before"]["logit"], change["answer"]["after"]["logit"]);
  EXPECT_EQ(reply("change", {{"sound", wav_}, {"sweep", "heads"}})["maps"].size(), 3U);
  const Json roles = reply("analyze", {{"sounds", {wav_, wav_}}, {"importance", 2}});
  EXPECT_EQ(roles["sites"].size(), 3U);
  EXPECT_TRUE(roles["loss"].is_number());
  const Json heads = reply("heads", {{"sound", wav_}});
  ASSERT_EQ(heads["sites"].size(), 3U);
  const auto source = std::ranges::find(heads["sites"], "source", [](const Json& site) { return site["site"]; });
  EXPECT_EQ((*source)["keys"][1], "0.02 s");
  EXPECT_EQ(reply("head", {{"sound", wav_}, {"site", "cross"}})["keys"].size(), 50U);
}

// Encoder and decoder, each once.
TEST_F(ShownSound, IsReadOnce) {
  for (const char* const question : {"probe", "lens", "heads"}) {
    Json request = {{"model", model_}, {"sound", wav_}};
    if (question == std::string("probe")) request["stats"] = true;
    const std::int64_t before = passes_of_thread();
    static_cast<void>(ask(question, request.dump()));
    EXPECT_EQ(passes_of_thread() - before, 2) << question;
  }
}

TEST_F(ShownSound, MayComeAsDataOrAsNumbers) {
  const Json read = reply("lens", {{"sound", wav_}});
  EXPECT_EQ(reply("lens", {{"sound", data_url("audio/wav", encode_wav(sound_))}})["layers"], read["layers"]);
  const Sound as_read = decode_wav(encode_wav(sound_));
  EXPECT_EQ(reply("lens", {{"sound", as_read.samples.to_vector()}})["layers"], read["layers"]);
}

TEST_F(ShownSound, RefusesOtherData) {
  const auto said = [&](const Json& sound) { return refusal_of("lens", {{"model", model_}, {"sound", sound}}); };
  EXPECT_THAT(said("data:audio/mp3;base64,AAAA"), HasSubstr("sound: expected a file, or \"data:audio/wav;base64,…\""));
  EXPECT_THAT(said("data:audio/wav;base64,a?b"), HasSubstr("sound: expected base64"));
  EXPECT_THAT(said("data:audio/wav;base64,AAAA"), HasSubstr("expected a WAV file"));
  EXPECT_THAT(said(Json::parse("[[1, 2]]")), HasSubstr("sound: expected samples [N]"));
  EXPECT_THAT(refusal_of("lens", {{"model", "gpt"}, {"sound", wav_}}), HasSubstr("this model reads no sound"));
  EXPECT_THAT(refusal_of("analyze", {{"model", "gpt"}, {"sounds", {wav_}}}),
              HasSubstr("sounds: expected a model that reads sound beside it, got one of kind decoder"));
}

TEST_F(ShownSound, StandsBesideNothingElse) {
  const TextModel model(Model::open(model_), model_);
  const auto said = [&](const Shown& shown) -> std::string {
    try {
      static_cast<void>(read_shown(model, shown, "f"));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said({.sound = sound_}), "");
  EXPECT_EQ(said({.text = "ab", .sound = sound_}), "f: sound: expected none beside a text, got a sound");
  EXPECT_EQ(said({.picture = Tensor(DType::u8, {1, 1, 3}), .sound = sound_}),
            "f: sound: expected none beside a picture, got a sound");
}

TEST_F(ShownSound, IsBoundedForReaders) {
  Studio small({.text = {}, .limits = {.media_bytes = 1000}});
  const Json file = {{"model", model_}, {"sound", wav_}};
  EXPECT_THAT(refusal_of(small, "lens", file), HasSubstr("speech.wav: expected at most 1000 bytes, got more"));
  const Json data = {{"model", model_}, {"sound", data_url("audio/wav", encode_wav(sound_))}};
  EXPECT_THAT(refusal_of(small, "lens", data), HasSubstr("sound: expected a file of at most 1000 bytes here"));
  Studio brief({.text = {}, .limits = {.sound_seconds = 0.5}});
  EXPECT_THAT(refusal_of(brief, "generate", file), HasSubstr("sound: expected a sound of at most 0 s here"));
  // A file of a few samples at a rate of 1 a second is long.
  const Json slow = {{"model", model_},
                     {"sound", data_url("audio/wav", encode_wav({.rate = 1, .samples = Tensor(DType::f32, {1000})}))}};
  EXPECT_THAT(refusal_of("generate", slow), HasSubstr("sound: expected a sound of at most 600 s here, got 1000.0"));
}

// Outside of the studio's folder nothing is told of a file, not even whether it is there.
TEST_F(ShownSound, IsReadBelowTheRootAlone) {
  std::filesystem::create_directory(directory_ / "in");
  std::filesystem::copy_file(model_, directory_ / "in/speech.safetensors");
  std::filesystem::copy_file(wav_, directory_ / "in/speech.wav");
  std::ofstream(directory_ / "secret") << "a word that nobody may read";
  Studio studio({.text = {}, .root = directory_ / "in"});
  const auto said = [&](const char* field, const std::string& path) {
    return refusal_of(studio, "lens", {{"model", directory_ / "in/speech.safetensors"}, {field, path}});
  };
  EXPECT_EQ(said("sound", directory_ / "in/speech.wav"), "");
  for (const char* const field : {"sound", "picture"}) {
    for (const std::string name : {"secret", "nothing"}) {
      const std::string message = said(field, directory_ / name);
      EXPECT_THAT(message, HasSubstr("it lies outside of"));
      EXPECT_THAT(message, AllOf(Not(HasSubstr("nobody")), Not(HasSubstr("No such file")))) << name;
      EXPECT_EQ(message.size(), said(field, directory_ / std::string(name.size(), 'x')).size());
    }
  }
}

TEST(ShownPicture, IsLookedAtByEveryQuestion) {
  const tests::ImageFolder folder("vit");
  const TemporaryDirectory directory;
  const std::string png = directory / "p.png";
  Tensor picture(DType::u8, {8, 8, 3});
  picture.values<std::uint8_t>()[7] = 200;
  write_file(png, encode_png(picture));
  const auto reply = [&](const std::string& question, Json request) {
    request["model"] = folder.path();
    return ask(question, request.dump()).json;
  };
  const Json lens = reply("lens", {{"picture", png}});
  ASSERT_EQ(lens["layers"].size(), 3U);
  EXPECT_THAT(lens["answer"], testing::AnyOf("cat", "dog"));
  const Json change = reply("change", {{"picture", png}, {"remove", {"source:*.*"}}});
  EXPECT_NEAR(change["answer"]["before"]["logit"].get<double>(), lens["layers"][2]["logit"].get<double>(), 1e-6);
  EXPECT_NE(change["answer"]["before"]["logit"], change["answer"]["after"]["logit"]);
  const Json sweep = reply("change", {{"picture", png}, {"sweep", "heads"}});
  const Json roles = reply("analyze", {{"pictures", {png}}, {"importance", 1}});
  EXPECT_NEAR(roles["loss"].get<double>(), -sweep["before"].get<double>(), 1e-5);
  const Answer found = ask("change", Json{{"model", folder.path()}, {"picture", png}, {"sweep", "heads"}}.dump());
  for (const Json& head : roles["heads"]) {
    const Json& values = found.json["maps"][0]["changes"];
    EXPECT_NEAR(head["removal"].get<double>(),
                -values[head["layer"].get<std::size_t>()][head["head"].get<std::size_t>()].get<double>(), 1e-5);
  }
  const Json heads = reply("heads", {{"picture", data_url("image/png", encode_png(picture))}});
  EXPECT_EQ(heads["patches"], 2);
  EXPECT_EQ(heads["sites"][0]["keys"].size(), 5U);
}

TEST(ShownPicture, MayComeAsNumbersAndIsBounded) {
  const tests::ImageFolder folder("vit");
  Tensor picture(DType::u8, {4, 2, 3});
  picture.values<std::uint8_t>()[7] = 200;
  Json rows = Json::array();
  for (int y = 0; y < 4; ++y) {
    rows.push_back(Json::array());
    for (int x = 0; x < 2; ++x) {
      rows.back().push_back({picture.at({y, x, 0}), picture.at({y, x, 1}), picture.at({y, x, 2})});
    }
  }
  const std::string url = data_url("image/png", encode_png(picture));
  const auto layers = [&](const Json& shown) {
    return ask("lens", Json{{"model", folder.path()}, {"picture", shown}}.dump()).json["layers"];
  };
  EXPECT_EQ(layers(rows), layers(url));
  rows[0][0][0] = 256;
  EXPECT_THAT(refusal_of("lens", {{"model", folder.path()}, {"picture", rows}}),
              HasSubstr("picture: expected whole numbers from 0 to 255, got 256"));
  Studio few({.text = {}, .limits = {.picture_pixels = 7}});
  EXPECT_THAT(refusal_of(few, "lens", {{"model", folder.path()}, {"picture", url}}),
              HasSubstr("picture: expected a picture of at most 7 pixels here, got 8"));
}

TEST(ShownPicture, OfStatesAloneIsChangedAndHasNoLens) {
  const tests::ImageFolder folder("dinov2", R"("architectures": ["Dinov2Model"])");
  const Json picture = Json::array({Json::array({{255, 0, 0}, {0, 0, 9}}), Json::array({{1, 2, 3}, {4, 5, 6}})});
  const Json request = {{"model", folder.path()}, {"picture", picture}};
  EXPECT_THAT(refusal_of("lens", request), HasSubstr("model: expected one that says tokens or classes"));
  Json change = request;
  change["remove"] = {"source:0.*"};
  const Json reply = ask("change", change.dump()).json;
  EXPECT_EQ(reply["state_cosines"].size(), 5U);
  EXPECT_LT(reply["vector_cosine"].get<double>(), 1);
}

}  // namespace
}  // namespace qkv::api_shown_test
