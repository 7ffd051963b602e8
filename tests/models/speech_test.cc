// A sound as the authors' program reads it, and what that writes of it.
#include "qkv/model/speech.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "models/expected.h"
#include "models/models_folder.h"
#include "qkv/files.h"

namespace qkv::speech_test {
namespace {

class Speech : public testing::Test {
 protected:
  void SetUp() override {
    const std::string file = folder() + "/expected-speech.safetensors";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no whisper-words: make test-models makes it";
    wanted_ = Safetensors::read(file);
    model_.emplace(Model::open(folder()), folder());
  }
  static std::string folder() { return tests::models_folder() / "whisper-words"; }
  [[nodiscard]] Sound sound() const { return {.rate = 16000, .samples = wanted_->load("samples")}; }

  void expect_written(const std::string& question, const SpeechOptions& options) const {
    const WrittenText written = transcribe(*model_, sound(), options, {.draw = {.most = 20}});
    EXPECT_EQ(std::vector<double>(written.tokens.begin(), written.tokens.end()), wanted_->load(question).to_vector());
    EXPECT_EQ(written.text, wanted_->metadata().at(question));
  }

  std::optional<Safetensors> wanted_;
  std::optional<TextModel> model_;
};

TEST_F(Speech, IsReadAlike) {
  const Tensor features = wanted_->load("features");
  EXPECT_LT(tests::largest_difference(model_->sound_of(sound()), features.view().select(0, 0)), 1e-4);
}

TEST_F(Speech, IsWrittenInTheLanguageThatIsHeard) { expect_written("heard", {}); }

TEST_F(Speech, IsWrittenInTheLanguageThatIsSaid) { expect_written("german", {.language = "de"}); }

TEST_F(Speech, IsTranslated) { expect_written("english", {.language = "<|fr|>", .translate = true}); }

TEST_F(Speech, IsAskedForByTheModelsOwnTokens) {
  const Example example = example_of_sound(*model_, sound(), {.language = "de"});
  std::vector<std::string> pieces;
  for (const std::int32_t token : example.tokens) pieces.push_back(model_->tokenizer().piece(token));
  EXPECT_THAT(pieces, testing::ElementsAre("<|startoftranscript|>", "<|de|>", "<|transcribe|>", "<|notimestamps|>"));
}

TEST_F(Speech, IsAskedForAsOlderFoldersSay) {
  const tests::TemporaryDirectory directory;
  std::filesystem::copy(folder(), directory.path(), std::filesystem::copy_options::recursive);
  const auto asked = [&](const std::string& forced, const SpeechOptions& options) {
    const auto id = [&](const char* piece) { return std::to_string(model_->tokenizer().id(piece)); };
    std::string text = R"({"decoder_start_token_id": )" + id("<|startoftranscript|>") +
                       R"(, "lang_to_id": {"<|fr|>": )" + id("<|fr|>") + R"(}, "task_to_id": {"transcribe": )" +
                       id("<|transcribe|>") + R"(}, "no_timestamps_token_id": )" + id("<|notimestamps|>") +
                       R"(, "forced_decoder_ids": )" + forced + "}";
    for (const char* piece : {"<|de|>", "<|translate|>"}) {
      const std::size_t at = text.find(piece);
      if (at != std::string::npos) text.replace(at, std::string(piece).size(), id(piece));
    }
    write_file(directory / "generation_config.json", text);
    const TextModel model(Model::open(directory.path()), directory.path());
    std::string pieces;
    for (const std::int32_t token : example_of_sound(model, sound(), options).tokens) {
      pieces += model.tokenizer().piece(token);
    }
    return pieces;
  };
  EXPECT_EQ(asked("[[1, <|de|>], [2, <|translate|>]]", {}), "<|startoftranscript|><|de|><|translate|><|notimestamps|>");
  EXPECT_EQ(asked("[[1, null], [2, <|translate|>]]", {}), "<|startoftranscript|><|fr|><|translate|><|notimestamps|>");
  EXPECT_EQ(asked("[[1, <|de|>], [2, <|translate|>]]", {.language = "fr"}),
            "<|startoftranscript|><|fr|><|transcribe|><|notimestamps|>");
  EXPECT_EQ(asked("null", {}), "<|startoftranscript|><|fr|><|notimestamps|>");
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(asked("[[2, 3]]", {})); }),
              testing::HasSubstr("forced_decoder_ids: expected pairs of a place, from 1 on, and a token, got [[2,3]]"));
  EXPECT_EQ(error_message<InvalidArgument>([&] { static_cast<void>(asked("null", {.translate = true})); }),
            "transcribe: translate: expected a model that translates, got another");
}

TEST_F(Speech, OfGreaterLengthIsReadInPieces) {
  const Sound one = sound();
  Sound two{.rate = 16000, .samples = Tensor(DType::f32, {32000 + one.samples.size()})};
  std::ranges::copy(one.samples.values<float>(), two.samples.values<float>().begin());
  std::ranges::copy(one.samples.values<float>(), two.samples.values<float>().begin() + 32000);
  const auto written = [&](const Sound& sound, std::int64_t most) {
    return transcribe(*model_, sound, {.language = "de"}, {.draw = {.most = most}});
  };
  const WrittenText alone = written(one, kMostNewTokens);
  const WrittenText both = written(two, kMostNewTokens);
  EXPECT_EQ(both.text, alone.text + alone.text);
  EXPECT_EQ(both.tokens.size(), 2 * alone.tokens.size());
  EXPECT_EQ(written(two, std::ssize(alone.tokens) + 1).tokens.size(), alone.tokens.size() + 1);
}

TEST_F(Speech, SaysWhatItCannotDo) {
  EXPECT_EQ(error_message<InvalidArgument>(
                [&] { static_cast<void>(example_of_sound(*model_, sound(), {.language = "it"})); }),
            "transcribe: language: expected one of de, en, fr, got \"it\"");
  const Sound longer{.rate = 16000, .samples = Tensor(DType::f32, {32001})};
  EXPECT_EQ(error_message<InvalidArgument>([&] { static_cast<void>(example_of_sound(*model_, longer)); }),
            "TextModel: sound: expected at most 2 s, got 2.0000625 s");
  EXPECT_EQ(error_message<InvalidArgument>([&] { static_cast<void>(model_->example_of("a text")); }),
            "TextModel: text: expected a sound: this model reads no text, got one");
}

}  // namespace
}  // namespace qkv::speech_test
