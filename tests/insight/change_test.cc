// What models of the box say when something inside them is changed.
#include "qkv/insight/change.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "insight/removed_heads.h"
#include "insight/text_batch.h"
#include "nn/passes.h"
#include "qkv/insight/texts.h"
#include "train/boxed.h"

namespace qkv::change_test {
namespace {

using testing::HasSubstr;

using tests::boxed;

ChangeQuestion asked(const std::string& text, const std::vector<std::string>& interventions) {
  ChangeQuestion question{.of = {.text = text}};
  for (const std::string& each : interventions) question.interventions.push_back(parse_intervention(each));
  return question;
}

LossChange over_examples(const TrainedModel& trained, const std::vector<std::string>& interventions) {
  return change_texts(trained, head_texts(trained, 16).texts, asked("", interventions));
}

TEST(ChangeText, SaysNothingNewWhereNothingIsChanged) {
  const TextChange change = change_text(boxed("induction"), asked("abcxyzb", {}));
  EXPECT_EQ(change.tokens, (std::vector<std::string>{"a", "b", "c", "x", "y", "z", "b"}));
  EXPECT_EQ(change.place, 6);
  EXPECT_EQ(change.answer->shown, "c");
  EXPECT_TRUE(change.is_expected);
  EXPECT_EQ(change.answer->before.logit, change.answer->after.logit);
  EXPECT_EQ(change.answer->before.rank, 1);
  EXPECT_GT(change.answer->before.probability, 0.99);
  EXPECT_EQ(change.divergence, std::vector<double>(7, 0));
}

// One head finds the pair; without it the answer is lost, and so it is without the edge to the answer alone. An edge
// that carries nothing can go.
TEST(ChangeText, BreaksInductionByItsHeadAndByItsEdge) {
  const TrainedModel& trained = boxed("induction");
  const TextChange removed = change_text(trained, asked("abcxyzb", {"remove 1.0"}));
  EXPECT_LT(removed.answer->after.probability, 0.1);
  EXPECT_GT(removed.answer->after.rank, 1);
  EXPECT_GT(removed.divergence.back(), 1);
  EXPECT_EQ(removed.fallen.front().shown, "c");
  const TextChange cut = change_text(trained, asked("abcxyzb", {"cut 1.0=6:2"}));
  EXPECT_LT(cut.answer->after.probability, 0.1);
  const TextChange other = change_text(trained, asked("abcxyzb", {"cut 1.0=6:4"}));
  EXPECT_GT(other.answer->after.probability, 0.99);
}

TEST(ChangeText, HoldsTheAnswerAgainstWhatTheOtherTextMakesOfIt) {
  const TrainedModel& trained = boxed("induction");
  ChangeQuestion question = asked("abcxyzb", {"patch blocks.1"});
  question.from_text = "abcxyzx";
  const TextChange change = change_text(trained, question);
  ASSERT_TRUE(change.against);
  EXPECT_EQ(change.against->shown, "y");
  EXPECT_EQ(change.against->after.rank, 1);
  question.of.against = "k";
  EXPECT_EQ(change_text(trained, question).against->shown, "k");
}

TEST(ChangeText, LooksWhereItIsAsked) {
  const TrainedModel& trained = boxed("brackets");
  ChangeQuestion question = asked("([]{})(", {});
  question.of.query = "]";
  question.of.token = "{";
  const TextChange change = change_text(trained, question);
  EXPECT_EQ(change.place, 2);
  EXPECT_EQ(change.answer->shown, "{");
}

TEST(ChangeText, ChangesEachSiteOfAModelThatReadsASource) {
  const TrainedModel& trained = boxed("reverse");
  for (const std::string site : {"", "source:", "cross:"}) {
    const TextChange change = change_text(trained, asked("hello", {"remove " + site + "0.0"}));
    EXPECT_EQ(change.tokens.front(), "<s>");
    EXPECT_GT(*std::ranges::max_element(change.divergence), 1e-3) << site;
  }
}

TEST(ChangeText, ReadsAnExampleOfAModelThatReadsImages) {
  const TrainedModel& trained = boxed("shapes");
  ChangeQuestion question{.of = {.example = 0}, .interventions = {parse_intervention("remove cross:1.*")}};
  EXPECT_GT(change_text(trained, question).answer->before.probability, 0.5);
  question.of = {.text = "a red square"};
  EXPECT_THAT(error_message([&] { static_cast<void>(change_text(trained, question)); }),
              HasSubstr("text: expected a picture, or an example, got a text"));
}

TEST(ChangeText, GivesTheCosineOfTwoTowers) {
  const TrainedModel& trained = boxed("towers");
  ChangeQuestion question{.of = {.example = 0}};
  const TextChange same = change_text(trained, question);
  EXPECT_FALSE(same.answer);
  EXPECT_EQ(same.pair->before, same.pair->after);
  EXPECT_NEAR(same.pair->before, trained.cosines(std::vector{trained.task().example(Split::test, 0)}).at({0}), 1e-5);
  for (const std::string site : {"", "source:"}) {
    question.interventions = {parse_intervention("remove " + site + "*.*")};
    const TextChange change = change_text(trained, question);
    EXPECT_LT(change.pair->after, change.pair->before - 1e-3) << site;
  }
  const LossChange over = change_texts(trained, head_texts(trained, 8).texts, question);
  EXPECT_LT(over.pair->after, over.pair->before);
  question.interventions.clear();
  EXPECT_EQ(sweep_heads(trained, question).maps.size(), 2U);
  question.of = {.text = "a red square"};
  EXPECT_THAT(error_message([&] { static_cast<void>(change_text(trained, question)); }),
              HasSubstr("text: expected an example: two towers are asked of a picture and a text"));
}

// The picture of another example: what is said before anything is read of it stays, the rest is the other's.
TEST(ChangeText, TakesFromAnotherExample) {
  const TrainedModel& trained = boxed("shapes");
  ChangeQuestion question{
      .of = {.example = 0, .query = "0"}, .from_example = 0, .interventions = {parse_intervention("patch encoder")}};
  const TextChange same = change_text(trained, question);
  EXPECT_EQ(same.answer->before.logit, same.answer->after.logit);
  for (std::int64_t n = 1; n < 64; ++n) {
    question.from_example = n;
    const Example other = trained.task().example(Split::test, n);
    if (other.tokens.size() != same.tokens.size() || other.labels[0] == same.answer->token) continue;
    const TextChange change = change_text(trained, question);
    EXPECT_LT(change.answer->after.probability, 0.5 * change.answer->before.probability);
    ASSERT_TRUE(change.against);
    EXPECT_EQ(change.against->after.rank, 1);
    return;
  }
  FAIL() << "no example as long with another first word";
}

TEST(ChangeText, GivesCosinesOfAModelWithoutScores) {
  const std::string path = testing::TempDir() + "states.safetensors";
  Generator generator(3);
  EncoderOptions options{.vocabulary = 27, .layers = 2, .d_model = 16, .heads = 2};
  options.head = EncoderHead::none;
  std::vector<std::string> letters;
  for (char letter = 'a'; letter <= '{'; ++letter) letters.emplace_back(1, letter);
  const Model model(Encoder(options, generator), {.tokens = std::make_shared<Vocabulary>(letters, TextForm::letters)});
  model.save(path);
  const TrainedModel trained = TrainedModel::read(path);
  const TextChange same = change_text(trained, asked("abc", {}));
  EXPECT_FALSE(same.answer);
  EXPECT_EQ(same.state_cosines, std::vector<double>(3, 1));
  const TextChange change = change_text(trained, asked("abc", {"remove 1.*"}));
  EXPECT_LT(*change.vector_cosine, 0.99999);
  EXPECT_GT(*change.vector_cosine, -1);
  const Sweep sweep = sweep_heads(trained, asked("abc", {}));
  EXPECT_EQ(sweep.before, 1);
  EXPECT_LT(sweep.maps.front().changes.at({1, 0}), -1e-6);
  const LossChange over = change_texts(trained, head_texts(trained, std::vector<std::string>{"abc", "de"}).texts,
                                       asked("", {"remove 1.*"}));
  EXPECT_LT(*over.vector_cosine, 0.99999);
}

TEST(ChangeText, RefusesWhatHasNoMeaning) {
  const TrainedModel& trained = boxed("induction");
  const auto message = [&](const ChangeQuestion& question) {
    return error_message([&] { static_cast<void>(change_text(trained, question)); });
  };
  EXPECT_THAT(message({}), HasSubstr("text: expected a text, or an example, got none"));
  EXPECT_THAT(message({.of = {.text = "abc", .example = 1}}),
              HasSubstr("example: expected none beside a text, got an example"));
  EXPECT_THAT(message({.of = {.text = "abc", .query = "q"}}), HasSubstr("query: expected one of the tokens"));
  EXPECT_THAT(message({.of = {.text = "abc", .token = "xy"}}),
              HasSubstr("token: expected one token of the model, got \"xy\", which is 2: x, y"));
  EXPECT_THAT(message({.of = {.text = "abc", .against = "é"}}), HasSubstr("against: expected"));
  EXPECT_THAT(message({.of = {.text = "aéc"}}), HasSubstr("text: expected"));
  EXPECT_THAT(message({.of = {.text = "abc"}, .from_text = "abd", .from_example = 1}),
              HasSubstr("from_text: expected no `from_example` beside it, got both"));
  EXPECT_THAT(message({.of = {.text = "abc"}, .from_text = "aéc"}), HasSubstr("from_text: expected"));
  EXPECT_THAT(error_message([&] { static_cast<void>(change_texts(trained, {}, {})); }),
              HasSubstr("texts: expected one or more, got none"));
}

TEST(ChangeTexts, BreaksATaskByOneHeadAndNotByAnother) {
  const LossChange induction = over_examples(boxed("induction"), {"remove 1.0"});
  EXPECT_EQ(induction.texts, 16);
  EXPECT_GT(induction.accuracy_before, 0.98);
  EXPECT_LT(induction.accuracy_after, 0.3);
  EXPECT_GT(induction.loss_after - induction.loss_before, 1);
  EXPECT_EQ(induction.worse, 16);
  const TrainedModel& brackets = boxed("brackets");
  EXPECT_LT(over_examples(brackets, {"remove 0.1"}).accuracy_after, 0.9);
  EXPECT_GT(over_examples(brackets, {"remove 2.3"}).accuracy_after, 0.98);
}

// A head that gives the token before, one that finds the pair, and one to spare.
TEST(ChangeTexts, BreaksInductionByItsHeadsAndNotByTheOneToSpare) {
  const TrainedModel& trained = boxed("induction3");
  const LossChange found = over_examples(trained, {"remove 1.0"});
  EXPECT_GT(found.accuracy_before, 0.99);
  EXPECT_LT(found.accuracy_after, 0.3);
  EXPECT_LT(over_examples(trained, {"remove 0.0"}).accuracy_after, 0.3);
  const LossChange spare = over_examples(trained, {"remove 2.0"});
  EXPECT_GT(spare.accuracy_after, 0.99);
  EXPECT_LT(spare.loss_after - spare.loss_before, 0.05);
}

AttentionSite site_named(std::string_view name) {
  if (name == "tokens") return AttentionSite::tokens;
  return name == "cross" ? AttentionSite::cross : AttentionSite::source;
}

double moved_by(const TextChange& change) {
  if (change.pair) return change.pair->after - change.pair->before;
  return std::log(change.answer->after.probability / change.answer->before.probability);
}

// A sweep goes on from the layer whose head is removed; one change of its own runs the whole model.
TEST(Sweep, FindsWhatAWholePassWithoutTheHeadFinds) {
  for (const char* const name : {"induction3", "reverse", "shapes", "towers", "translation"}) {
    const TrainedModel& trained = boxed(name);
    ChangeQuestion question{.of = {.example = 0}};
    const Sweep sweep = sweep_heads(trained, question);
    for (const SweepMap& map : sweep.maps) {
      for (std::int64_t layer = 0; layer < map.changes.dim(0); ++layer) {
        for (std::int64_t head = 0; head < map.changes.dim(1); ++head) {
          question.interventions = {RemovedHead{{.site = site_named(map.name), .layer = layer, .head = head}}};
          EXPECT_NEAR(map.changes.at({layer, head}), moved_by(change_text(trained, question)), 1e-4)
              << name << " " << map.name << " " << layer << "." << head;
        }
      }
    }
  }
}

TEST(Sweep, RunsOnePassAndOneForEachLayer) {
  const TrainedModel& trained = boxed("induction3");
  const std::int64_t before = passes_of_thread();
  static_cast<void>(sweep_heads(trained, {.of = {.example = 0}}));
  EXPECT_EQ(passes_of_thread() - before, 1 + 3);
}

// What lies below a removed head, and a source that does not see it, is not run again.
TEST(WithoutEachHead, RunsWhatTheHeadReaches) {
  const TrainedModel& trained = boxed("translation");
  const Model& model = trained.model();
  const std::vector<HeadText> texts = head_texts(trained, 1).texts;
  const std::vector<insight::TextBatch> batches = insight::batches_of(texts, 1);
  Trace whole(insight::names_of_streams(model));
  model.run(batches.front().input(), whole);
  const auto runs = [&](AttentionSite site, const std::string& name) {
    std::int64_t told = 0;
    const std::string message = error_message([&] {
      insight::without_each_head(model, batches.front().input(), whole,
                                 {.scope = *model.scope_of(site), .layer = 1, .heads = 1}, {name},
                                 [&](std::int64_t, std::span<const Tensor>, std::int64_t) { ++told; });
    });
    EXPECT_THAT(message, HasSubstr(told == 0 ? "got \"" + name + "\"" : ""));
    return told == 1;
  };
  EXPECT_TRUE(runs(AttentionSite::tokens, "decoder.blocks.1"));
  EXPECT_FALSE(runs(AttentionSite::tokens, "decoder.blocks.0"));
  EXPECT_FALSE(runs(AttentionSite::tokens, "encoder.blocks.1"));
  EXPECT_TRUE(runs(AttentionSite::source, "encoder.blocks.1"));
  EXPECT_FALSE(runs(AttentionSite::source, "encoder.blocks.0"));
  EXPECT_TRUE(runs(AttentionSite::source, "decoder.blocks.0"));
}

TEST(Sweep, RemovesEachHeadInTurn) {
  const TrainedModel& trained = boxed("brackets");
  const ChangeQuestion question = asked("([]{", {});
  const Sweep sweep = sweep_heads(trained, question);
  ASSERT_EQ(sweep.maps.size(), 1U);
  EXPECT_EQ(sweep.maps.front().changes.shape(), (Shape{3, 4}));
  const TextChange one = change_text(trained, asked("([]{", {"remove 0.1"}));
  EXPECT_NEAR(sweep.maps.front().changes.at({0, 1}),
              std::log(one.answer->after.probability / one.answer->before.probability), 1e-5);
  const Panel panel = sweep_panel(sweep, "title");
  EXPECT_EQ(panel.heatmaps.front().low, -*panel.heatmaps.front().high);
}

// All that differs between two texts is at one place until attention carries it on: patched there, the input gives what
// the other text gives, and at the last layer only the place that is looked at counts.
TEST(Sweep, FollowsWhatDiffersFromPlaceToPlace) {
  const TrainedModel& trained = boxed("induction");
  ChangeQuestion question = asked("abcxyzb", {});
  question.from_text = "abkxyzb";
  const Sweep sweep = sweep_places(trained, question);
  const Tensor& changes = sweep.maps.front().changes;
  EXPECT_EQ(changes.shape(), (Shape{3, 7}));
  EXPECT_EQ(sweep.measure, "logit of “c” less that of “k”");
  const double all = *sweep.other - sweep.before;
  EXPECT_NEAR(changes.at({0, 2}), all, 1e-4);
  EXPECT_NEAR(changes.at({2, 6}), all, 1e-4);
  EXPECT_EQ(changes.at({0, 4}), 0);
  EXPECT_EQ(changes.at({2, 2}), 0);
  EXPECT_LT(changes.at({1, 2}), 0.5 * all);  // all is below 0: the first layer leaves it where it is
  EXPECT_THAT(error_message([&] { static_cast<void>(sweep_places(trained, asked("abc", {}))); }),
              HasSubstr("from_text: expected the text to patch from, got none"));
}

TEST(ChangeReport, HasTables) {
  const TrainedModel& trained = boxed("induction");
  const ChangeQuestion question = asked("abcxyzb", {"remove 1.0", "freeze norms"});
  const std::string table = change_table(change_text(trained, question), question, "induction");
  EXPECT_THAT(table, HasSubstr("induction: remove 1.0, freeze norms\n"));
  EXPECT_THAT(table, HasSubstr("What is said at 6 “b”"));
  const LossChange over = over_examples(trained, {"remove 1.0"});
  EXPECT_THAT(change_table(over, question, "induction"), HasSubstr("\nmean loss "));
}

}  // namespace
}  // namespace qkv::change_test
