// Runs that go on from a model: what they ask of a text, what they keep of it, and what they refuse.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "model/tower_folder.h"
#include "qkv/files.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/text/train_tokenizer.h"
#include "qkv/train/run.h"
#include "qkv/train/text_task.h"
#include "qkv/train/trained_model.h"

namespace qkv::starting_model_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::TemporaryDirectory;
using Json = nlohmann::json;

constexpr std::int32_t kFirst = 280;  // special tokens: [CLS], [SEP], [MASK]
constexpr std::int32_t kLast = 281;
constexpr std::int32_t kMask = 282;
constexpr std::int64_t kPieces = 283;

std::string some_text() {
  std::string text;
  for (int n = 0; n < 400; ++n) text += "the cat sat on mat " + std::to_string(n % 7) + ". ";
  return text;
}

std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& text) {
  Json json = Json::parse(train_tokenizer(text, {.size = kFirst}));
  const auto special = [](std::int32_t id, const char* piece) {
    return Json{{"id", id},        {"content", piece}, {"special", true},    {"single_word", false},
                {"lstrip", false}, {"rstrip", false},  {"normalized", false}};
  };
  json["added_tokens"] = {special(kFirst, "[CLS]"), special(kLast, "[SEP]"), special(kMask, "[MASK]")};
  json["post_processor"] = {{"type", "BertProcessing"}, {"cls", {"[CLS]", kFirst}}, {"sep", {"[SEP]", kLast}}};
  return parse_tokenizer_json(json.dump(), "tokenizer.json");
}

TEST(StartingModel, AMaskedTextAsksForWhatWasChanged) {
  const std::string text = some_text();
  const auto tokenizer = tokenizer_of(text);
  const auto task = make_text_task(
      text, "the text", {.seed = 3, .length = 22, .tokenizer = tokenizer, .objective = TextObjective::masked});
  EXPECT_EQ(task->info().kind, TaskKind::encoder);
  EXPECT_EQ(task->lengths().tokens, 22);
  int asked = 0;
  int masked = 0;
  int kept = 0;
  for (std::int64_t n = 0; n < 400; ++n) {
    const Example example = task->example(Split::train, n);
    ASSERT_EQ(example.tokens.size(), 22U);
    EXPECT_EQ(example.tokens.front(), kFirst);
    EXPECT_EQ(example.tokens.back(), kLast);
    std::vector<std::int32_t> whole = example.tokens;
    int here = 0;
    for (std::size_t p = 0; p < whole.size(); ++p) {
      if (!example.labels[p]) continue;
      ++here;
      masked += whole[p] == kMask ? 1 : 0;
      kept += whole[p] == *example.labels[p] ? 1 : 0;
      whole[p] = *example.labels[p];
    }
    EXPECT_GE(here, 1);
    asked += here;
    // With its labels in place it is a part of the text again.
    EXPECT_NE(text.find(tokenizer->decode(std::span(whole).subspan(1, 20))), std::string::npos);
  }
  // 8000 tokens, of which 0.15 and, where none was drawn, one: the bounds are five deviations.
  EXPECT_NEAR(asked / 8000.0, 0.15 + 0.85 * 0.0388 / 20, 5 * 0.004);
  EXPECT_NEAR(masked / static_cast<double>(asked), 0.8, 5 * 0.0115);
  EXPECT_NEAR(kept / static_cast<double>(asked), 0.1, 5 * 0.0088);
}

TEST(StartingModel, AContinuedTextAsksForItsSecondHalf) {
  const std::string text = some_text();
  const auto tokenizer = tokenizer_of(text);
  const auto task = make_text_task(
      text, "the text", {.length = 23, .tokenizer = tokenizer, .objective = TextObjective::continued, .start = kMask});
  EXPECT_EQ(task->info().kind, TaskKind::encoder_decoder);
  const Example example = task->example(Split::test, 2);
  ASSERT_EQ(example.source.size(), 12U);  // 10 of the text
  ASSERT_EQ(example.tokens.size(), 11U);
  EXPECT_EQ(task->lengths().source, 12);
  EXPECT_EQ(task->lengths().tokens, 11);
  EXPECT_EQ(example.tokens.front(), kMask);
  std::vector<std::int32_t> whole(example.source.begin() + 1, example.source.end() - 1);
  for (std::size_t p = 0; p < example.tokens.size(); ++p) {
    if (p > 0) {
      EXPECT_EQ(example.tokens[p], *example.labels[p - 1]);
    }
    whole.push_back(*example.labels[p]);
  }
  EXPECT_NE(text.find(tokenizer->decode(whole)), std::string::npos);
}

TEST(StartingModel, RefusesATokenizerWithoutAMaskAndNoRoom) {
  const std::string text = some_text();
  const auto message = [&](TextTaskOptions options) {
    options.objective = TextObjective::masked;
    return error_message([&] { static_cast<void>(make_text_task(text, "the text", options)); });
  };
  EXPECT_EQ(message({}), "make_text_task: tokenizer: expected one for this objective, got none");
  EXPECT_EQ(message({.tokenizer = parse_tokenizer_json(train_tokenizer(text, {.size = 270}), "tokenizer.json")}),
            "make_text_task: tokenizer: expected one with a token for a gap, [MASK] or <mask>, got none such");
  EXPECT_EQ(message({.length = 2, .tokenizer = tokenizer_of(text)}),
            "make_text_task: length: expected 3 or more, of which 2 are special tokens, got 2");
}

// A run of one step, whose model knows few letters.
TrainSettings recipe_for_letters() {
  TrainSettings settings = recipe_for("induction");
  settings.layers = 1;
  settings.d_model = 8;
  settings.heads = 1;
  settings.steps = 1;
  settings.batch = 1;
  return settings;
}

// A folder with the text, and a model of each kind.
class Runs : public testing::Test {
 protected:
  Runs() {
    const std::string text = some_text();
    write_file(directory_ / "text.txt", text);
    Generator generator(5);
    const ModelTokenizers tokenizers{.tokens = tokenizer_of(some_text()), .ends = {kLast}};
    const auto save = [&](Model::Network network, const std::string& name, DType dtype) {
      Model(std::move(network), tokenizers).to(dtype).save(directory_ / name);
    };
    save(Decoder({.vocabulary = kPieces, .length = 24, .d_model = 16, .heads = 2, .positions = Positions::learned},
                 generator),
         "decoder.safetensors", DType::bf16);
    save(Encoder({.vocabulary = kPieces, .d_model = 16, .heads = 2}, generator), "encoder.safetensors", DType::f32);
    save(Encoder({.vocabulary = kPieces, .d_model = 16, .heads = 2, .head = EncoderHead::none}, generator),
         "states.safetensors", DType::f32);
    save(EncoderDecoder({.source_vocabulary = kPieces,
                         .vocabulary = kPieces,
                         .d_model = 16,
                         .heads = 2,
                         .positions = Positions::t5,
                         .start = kFirst},
                        generator),
         "both.safetensors", DType::f32);
  }

  [[nodiscard]] TrainSettings settings(const std::string& model) const {
    TrainSettings settings;
    settings.task = "text";
    settings.data = directory_ / "text.txt";
    settings.from = directory_ / model;
    settings.steps = 30;
    settings.batch = 8;
    settings.learning_rate = 1e-2;
    return settings;
  }

  [[nodiscard]] TrainReport trained(const std::string& model, const std::string& out) const {
    const TrainSettings all = with_starting_model(settings(model));
    return run_training(all, {.examine_every = 30, .examples = 4}, {directory_ / out}, TrainStart::anew).value();
  }

  [[nodiscard]] std::string refused(const TrainSettings& settings) const {
    return error_message<Error>([&] {
      static_cast<void>(run_training(with_starting_model(settings), {}, {directory_ / "none"}, TrainStart::anew));
    });
  }

  TemporaryDirectory directory_;
};

TEST_F(Runs, BeginsWithTheParametersOfTheModel) {
  const TrainSettings all = with_starting_model(settings("decoder.safetensors"));
  EXPECT_EQ(all.model, "decoder");
  EXPECT_EQ(all.layers, 2);
  EXPECT_EQ(all.d_model, 16);
  EXPECT_EQ(all.positions, "learned");
  EXPECT_EQ(all.stored, "bf16");
  const auto task = task_of(all);
  EXPECT_EQ(task->lengths().tokens, 24) << "its positions";
  const Model begun = model_of(all, *task);
  const Model from = Model::open(directory_ / "decoder.safetensors");
  EXPECT_EQ(begun.parameters().front().value.dtype(), DType::f32);
  EXPECT_EQ(begun.parameters().front().value.value().to_vector(), from.parameters().front().value.value().to_vector());
}

TEST_F(Runs, EveryKindThatScoresTokensLearns) {
  for (const std::string model : {"decoder", "encoder", "both"}) {
    const TrainReport report = trained(model + ".safetensors", model);
    const auto log = read_log({directory_ / model});
    EXPECT_LT(log.back().loss, 0.8 * log.front().loss) << model;
    EXPECT_LT(report.accuracy.loss(), log.front().loss) << model;
    const TrainedModel after = TrainedModel::read((directory_ / model) + "/model.safetensors");
    EXPECT_EQ(after.task_name(), "text");
    EXPECT_EQ(after.model().tokenizers().ends, std::vector<std::int64_t>{kLast});
    const Example example = after.example_of("the cat [MASK] on mat");
    EXPECT_GT(after.probabilities(example).size(), 0);
    const std::vector<bool> asked = after.asked(example);
    EXPECT_EQ(std::ranges::count(asked, true), model == "encoder" ? 1 : 0);
  }
  EXPECT_EQ(Model::open((directory_ / "decoder") + "/model.safetensors").parameters().front().value.dtype(),
            DType::bf16);
}

TEST_F(Runs, ResumedItIsTheWholeRun) {
  const TrainSettings all = with_starting_model(settings("encoder.safetensors"));
  static_cast<void>(run_training(all, {.examples = 4}, {directory_ / "whole"}, TrainStart::anew));
  std::int64_t seen = 0;
  const TrainWatch until_ten{
      .stepped = [&](const LoggedStep& step) { seen = step.step; }, .doing = {}, .stopped = [&] { return seen == 10; }};
  const TrainPlace parts{directory_ / "parts"};
  EXPECT_EQ(run_training(all, {.examples = 4}, parts, TrainStart::anew, until_ten), std::nullopt);
  const SavedRun saved = read_saved_run(parts);
  EXPECT_EQ(saved.settings.from, all.from);
  static_cast<void>(run_training(saved.settings, saved.reporting, parts, TrainStart::resumed));
  EXPECT_EQ(read_file(parts.model()), read_file((directory_ / "whole") + "/model.safetensors"));
}

TEST_F(Runs, RefusesWhatItCannotGoOnFrom) {
  EXPECT_THAT(refused(settings("states.safetensors")),
              AllOf(HasSubstr("from: expected a model with a head for masked tokens, as a folder of BertForMaskedLM"),
                    HasSubstr("states.safetensors, which gives states alone: it was published without that head")));
  const tests::TowerFolder towers("clip");
  TrainSettings from_towers = settings("encoder.safetensors");
  from_towers.from = towers.path();
  EXPECT_THAT(refused(from_towers), HasSubstr("of kind two-tower: its towers give a vector for each picture and text"));
  EXPECT_THAT(refused(settings("missing.safetensors")), HasSubstr("missing.safetensors"));
  TrainSettings longer = settings("decoder.safetensors");
  longer.length = 25;
  EXPECT_THAT(refused(longer), HasSubstr("train: length: expected at most the 24 positions of "));
  static_cast<void>(run_training(recipe_for_letters(), {.examples = 2}, {directory_ / "letters"}, TrainStart::anew));
  TrainSettings strange = settings("letters/model.safetensors");
  EXPECT_THAT(refused(strange), HasSubstr("text: expected a piece of the vocabulary, got \"0\""));
  TrainSettings shapes = settings("encoder.safetensors");
  shapes.task = "shapes";
  EXPECT_THAT(refused(shapes), HasSubstr("train: from: expected none but for `train text`, got "));
  TrainSettings two = settings("encoder.safetensors");
  two.tokenizer = "tokenizer.json";
  EXPECT_THAT(refused(two), HasSubstr("train: from: expected no tokenizer beside it: the model has its own"));
}

}  // namespace
}  // namespace qkv::starting_model_test
