#include "qkv/train/trained_model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/text/train_tokenizer.h"
#include "qkv/train/task_model.h"
#include "qkv/train/text_task.h"

namespace qkv::trained_model_test {
namespace {

using testing::HasSubstr;
using tests::TemporaryDirectory;

void save_untrained(const std::string& path, const Task& task, ModelKind kind,
                    const std::map<std::string, std::string>& more = {}) {
  Generator generator(4);
  const auto model = make_task_model({.kind = kind, .layers = 1, .d_model = 16, .heads = 2}, task, generator);
  std::map<std::string, std::string> run = more;
  describe_task(task, run);
  std::map<std::string, std::string> words;
  for (const auto& [word, what] : run) words["run." + word] = what;
  model.save(path, words);
}

double sum_of_row(const Tensor& probabilities, std::int64_t row) {
  const std::vector<double> shares = probabilities.view().select(0, row).to_vector();
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

TEST(TrainedModel, ReadsATextAsItsTaskDoes) {
  const TemporaryDirectory directory;
  const auto task = make_task("translation", {.seed = 3});
  save_untrained(directory / "m.safetensors", *task, kind_of<EncoderDecoder>, {{"seed", "3"}});
  const TrainedModel trained = TrainedModel::read(directory / "m.safetensors");
  EXPECT_EQ(trained.kind(), kind_of<EncoderDecoder>);
  EXPECT_TRUE(trained.has_examples());
  const Example wanted = task->example(Split::test, 0);
  EXPECT_EQ(trained.task().example(Split::test, 0).source, wanted.source);
  Example example = trained.example_of(wanted.syntax->sentence);
  EXPECT_EQ(example.source, wanted.source);
  EXPECT_EQ(example.tokens, std::vector<std::int32_t>{task->vocabulary().id("<s>")});
  trained.answer(example, {.most = 4});
  EXPECT_LE(example.tokens.size(), 5U);
  const Tensor says = trained.probabilities(example);
  EXPECT_EQ(says.dim(0), static_cast<std::int64_t>(example.tokens.size()));
  EXPECT_NEAR(sum_of_row(says, says.dim(0) - 1), 1.0, 1e-9);
}

TEST(TrainedModel, SaysInAJoinedTextWhatItSaysAtTheTokens) {
  const TemporaryDirectory directory;
  const auto task = make_task("copy");
  save_untrained(directory / "m.safetensors", *task, kind_of<Decoder>);
  const TrainedModel trained = TrainedModel::read(directory / "m.safetensors");
  Example example = trained.example_of("abc");
  EXPECT_EQ(example.source.size(), 4U);
  EXPECT_EQ(trained.probabilities(example).dim(0), 1);
  const Batch batch = trained.batch_of(example);
  Trace trace;
  trained.model().run(input_of(batch), trace);
  EXPECT_EQ(trained.probabilities(example, trace["logits"]).to_vector(), trained.probabilities(example).to_vector());
}

TEST(TrainedModel, KnowsTheCharactersOfATextThatIsNotThere) {
  const TemporaryDirectory directory;
  std::string text;
  for (int n = 0; n < 300; ++n) text += "été: " + std::to_string(n) + "\n";
  const auto task = make_text_task(text, "the text", {.length = 16});
  save_untrained(directory / "m.safetensors", *task, kind_of<Decoder>);
  const TrainedModel trained = TrainedModel::read(directory / "m.safetensors");
  EXPECT_FALSE(trained.has_examples());
  EXPECT_EQ(trained.tokenizer().encode("été: 12\n").ids, task->vocabulary().encode("été: 12\n").ids);
  Example example = trained.example_of("été");
  trained.answer(example, {.most = 5});
  EXPECT_EQ(example.tokens.size(), 8U);
  Example one = trained.example_of("été");
  Example two = one;
  trained.answer(one, {.most = 40, .temperature = 1, .seed = 1});
  trained.answer(two, {.most = 40, .temperature = 1, .seed = 2});
  EXPECT_EQ(one.tokens.size(), 43U);
  EXPECT_NE(one.tokens, two.tokens);
  EXPECT_EQ(error_message([&] { trained.answer(one, {.temperature = -1}); }),
            "generate: temperature: expected a finite number, 0 or more, got -1");
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(trained.task()); }),
              HasSubstr("the examples of text are not in its model's file"));
}

TEST(TrainedModel, SaysNoTokenThatIsNoText) {
  const TemporaryDirectory directory;
  for (const auto& [name, kind] :
       {std::pair{"translation", kind_of<EncoderDecoder>}, std::pair{"shapes", kind_of<Captioner>}}) {
    const auto task = make_task(name);
    const std::string path = directory / (std::string(name) + ".safetensors");
    save_untrained(path, *task, kind);
    const TrainedModel trained = TrainedModel::read(path);
    std::size_t said = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Example example = task->example(Split::test, 0);
      example.tokens.resize(1);
      trained.answer(example, {.most = 40, .temperature = 50, .seed = seed});
      for (std::size_t n = 1; n < example.tokens.size(); ++n, ++said) {
        EXPECT_THAT(task->vocabulary().piece(example.tokens[n]), testing::Not(testing::AnyOf("<pad>", "<s>", "</s>")));
      }
    }
    EXPECT_GT(said, 100U);
  }
}

// A joined text has the source's tokens after those of the answers, and they have no text among the answers.
TEST(TrainedModel, SaysNoTokenOfTheSource) {
  const TemporaryDirectory directory;
  const auto task = make_task("translation");
  save_untrained(directory / "m.safetensors", *task, kind_of<Decoder>);
  const TrainedModel trained = TrainedModel::read(directory / "m.safetensors");
  std::size_t said = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Example example = task->example(Split::test, 0);
    example.tokens.resize(1);
    trained.answer(example, {.most = 20, .temperature = 50, .seed = seed});
    for (const std::int32_t token : example.tokens) EXPECT_LT(token, task->vocabulary().size());
    said += example.tokens.size();
  }
  EXPECT_GT(said, 50U);
}

TEST(TrainedModel, KnowsHowLongAnAnswerIs) {
  const TemporaryDirectory directory;
  const auto length_after = [&](const char* name, ModelKind kind, const char* token) {
    const auto task = make_task(name);
    const std::string path = directory / (std::string(name) + ".safetensors");
    save_untrained(path, *task, kind);
    return TrainedModel::read(path).answer_length(task->vocabulary().id(token));
  };
  EXPECT_EQ(length_after("addition", kind_of<Decoder>, "="), 5);  // of two numbers of four digits
  EXPECT_EQ(length_after("addition", kind_of<Decoder>, "+"), 0);
  EXPECT_EQ(length_after("induction", kind_of<Decoder>, "a"), 0);
  EXPECT_EQ(length_after("brackets", kind_of<Encoder>, "("), 0);
}

TEST(TrainedModel, SaysHowNearAnImageAndATextAre) {
  const TemporaryDirectory directory;
  const auto task = make_task("shapes");
  save_untrained(directory / "m.safetensors", *task, kind_of<TwoTower>);
  save_untrained(directory / "other.safetensors", *task, kind_of<Captioner>);
  const TrainedModel trained = TrainedModel::read(directory / "m.safetensors");
  const std::vector<Example> examples = {task->example(Split::test, 0), task->example(Split::test, 1)};
  const std::vector<double> together = trained.cosines(examples).to_vector();
  ASSERT_EQ(together.size(), 2U);
  EXPECT_NE(together[0], together[1]);
  EXPECT_LE(std::abs(together[0]), 1.0 + 1e-6);
  EXPECT_NEAR(trained.cosines(std::span(examples).subspan(1)).to_vector()[0], together[1], 1e-6);
  const TrainedModel captioner = TrainedModel::read(directory / "other.safetensors");
  EXPECT_EQ(error_message([&] { static_cast<void>(captioner.cosines(examples)); }),
            "batch_cosines: model: expected a two-tower model, got captioner");
}

TEST(TrainedModel, RefusesAFileOfAnotherKind) {
  const TemporaryDirectory directory;
  for (const char* content : {"# a text, not a model", "short", ""}) {
    write_file(directory / "notes.txt", std::string_view(content));
    EXPECT_EQ(error_message<Error>([&] { static_cast<void>(TrainedModel::read(directory / "notes.txt")); }),
              directory / "notes.txt" + ": expected a file of safetensors or GGUF, or a folder with config.json, got " +
                  (*content == 0 ? "an empty file" : "another file"));
  }
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(TrainedModel::read(directory / "none")); }),
              testing::Not(HasSubstr("safetensors")));
}

TEST(TrainedModel, RefusesWhatItDoesNotKnow) {
  const TemporaryDirectory directory;
  const auto task = make_task("copy");
  save_untrained(directory / "copy.safetensors", *task, kind_of<Decoder>);
  const TrainedModel trained = TrainedModel::read(directory / "copy.safetensors");
  EXPECT_THAT(error_message([&] { static_cast<void>(trained.example_of("ab9")); }), HasSubstr("got \"9\""));
  EXPECT_THAT(error_message([&] { static_cast<void>(trained.example_of("")); }),
              HasSubstr("text: expected a value, got \"\""));
  const std::string nameless = directory / "nameless.safetensors";
  Generator generator(1);
  const auto model = make_task_model({.layers = 1, .d_model = 16, .heads = 2}, *task, generator);
  model.save(nameless);
  EXPECT_EQ(Model::open(nameless).config(), model.config());
  EXPECT_FALSE(TrainedModel::read(nameless).has_task());
  Model(model.network()).save(directory / "mute.safetensors");
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(TrainedModel::read(directory / "mute.safetensors")); }),
              testing::EndsWith("mute.safetensors: expected a tokenizer with the model, got none"));
}

TEST(TrainedModel, OfNoTaskReadsAsItsTokenizerDoes) {
  const TemporaryDirectory directory;
  std::string text;
  for (int n = 0; n < 50; ++n) text += "the cat sat down. ";
  const auto tokenizer = parse_tokenizer_json(train_tokenizer(text, {.size = 270}), "tokenizer.json");
  Generator generator(2);
  const Decoder decoder({.vocabulary = tokenizer->size(), .length = 12, .layers = 1, .d_model = 16, .heads = 2},
                        generator);
  Model(decoder, {.tokens = tokenizer}).save(directory / "m.safetensors");
  const TrainedModel foreign = TrainedModel::read(directory / "m.safetensors");
  EXPECT_FALSE(foreign.has_task());
  EXPECT_FALSE(foreign.has_examples());
  EXPECT_EQ(foreign.lengths().tokens, 12);
  Example example = foreign.example_of("the cat");
  EXPECT_EQ(example.tokens, tokenizer->encode("the cat").ids);
  foreign.answer(example, {.most = 3});
  EXPECT_EQ(example.tokens.size(), tokenizer->encode("the cat").ids.size() + 3);
  EXPECT_THAT(foreign.asked(example), testing::IsEmpty());
}

TEST(TrainedModel, OfNoTaskIsOutsideOfTheLengthsThatAreKnown) {
  const TemporaryDirectory directory;
  const auto pieces = std::make_shared<const Vocabulary>(std::vector<std::string>{"<pad>", "a"}, TextForm::characters);
  const auto outside = [&](const auto& network, const std::string& text) {
    Model(network, {.tokens = pieces}).save(directory / "m.safetensors");
    const TrainedModel model = TrainedModel::read(directory / "m.safetensors");
    return model.outside(model.example_of(text));
  };
  Generator generator(2);
  const EncoderDecoder without_lengths(
      {.source_vocabulary = 2, .vocabulary = 2, .d_model = 16, .heads = 2, .positions = Positions::t5, .start = 0},
      generator);
  EXPECT_THAT(outside(without_lengths, "aaaa"), testing::IsEmpty());
  const Decoder decoder({.vocabulary = 2, .length = 3, .layers = 1, .d_model = 16, .heads = 2}, generator);
  EXPECT_THAT(outside(decoder, "aaa"), testing::IsEmpty());
  EXPECT_THAT(outside(decoder, "aaaa"),
              testing::ElementsAre("it learned from texts of at most 3 tokens; this one has 4"));
}

TEST(TrainedModel, OfMaskedTokensIsAskedAtTheMasks) {
  const TemporaryDirectory directory;
  const auto pieces =
      std::make_shared<const Vocabulary>(std::vector<std::string>{"<pad>", "<mask>", "the", "cat"}, TextForm::words);
  Generator generator(2);
  const Encoder encoder({.vocabulary = 4, .length = 8, .layers = 1, .d_model = 16, .heads = 2}, generator);
  Model(encoder, {.tokens = pieces}).save(directory / "m.safetensors");
  const TrainedModel foreign = TrainedModel::read(directory / "m.safetensors");
  EXPECT_EQ(foreign.asked(foreign.example_of("the <mask>")), (std::vector<bool>{false, true}));
  EXPECT_THAT(foreign.asked(foreign.example_of("the cat")), testing::IsEmpty());
}

TEST(TrainedModel, IsFoundByItsName) {
  const TemporaryDirectory directory;
  save_untrained(directory / "mine.safetensors", *make_task("copy"), kind_of<Decoder>);
  ::setenv("QKV_MODELS", directory.path().c_str(), 1);
  EXPECT_EQ(trained_model_path("mine"), directory / "mine.safetensors");
  EXPECT_EQ(trained_model_path("./a/b.safetensors"), "./a/b.safetensors");
  EXPECT_THAT(error_message<Error>([] { static_cast<void>(trained_model_path("yours")); }),
              testing::AllOf(HasSubstr("no model \"yours\" in the box, which has "), HasSubstr("mine")));
  ::unsetenv("QKV_MODELS");
}

}  // namespace
}  // namespace qkv::trained_model_test
