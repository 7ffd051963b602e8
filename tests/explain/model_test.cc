#include "qkv/explain/model.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "model/tower_folder.h"
#include "nn/passes.h"
#include "qkv/autograd/variable.h"
#include "qkv/nn/trace.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/text/train_tokenizer.h"
#include "train/boxed.h"

namespace qkv::model_test {
namespace {

using testing::HasSubstr;

using tests::boxed;

const Section& step(const Explanation& explanation, const std::string& id) {
  const auto found = std::ranges::find(explanation.steps, id, &Section::id);
  if (found == explanation.steps.end()) throw Error("no step " + id);
  return *found;
}

// A model of others: one that names no task.
TrainedModel foreign(const Model::Network& network, std::shared_ptr<const Tokenizer> tokens) {
  const tests::TemporaryDirectory directory;
  Model(network, {.tokens = std::move(tokens)}).save(directory / "m.safetensors");
  return TrainedModel::read(directory / "m.safetensors");
}

std::shared_ptr<const Tokenizer> small_tokenizer() {
  std::string text;
  for (int n = 0; n < 50; ++n) text += "the cat sat down. ";
  return parse_tokenizer_json(train_tokenizer(text, {.size = 270}), "tokenizer.json");
}

TEST(ExplainModel, ShowsADecoderThatLearntNoTask) {
  const auto tokens = small_tokenizer();
  Generator generator(2);
  const Decoder decoder({.vocabulary = tokens->size(), .length = 12, .layers = 2, .d_model = 16, .heads = 2},
                        generator);
  const Explanation explanation =
      explain_model(foreign(decoder, tokens), {.title = "mine", .text = "the cat sat", .query = "cat"});
  EXPECT_EQ(explanation.title, "mine");
  EXPECT_THAT(explanation.tokens, testing::Contains("␣cat"));
  EXPECT_THAT(explanation.notes, testing::Contains(testing::StartsWith("says next: ")));
  EXPECT_EQ(step(explanation, "removal").heatmaps.size(), 1U);
  EXPECT_THAT(step(explanation, "answer").title, HasSubstr("␣cat"));
}

TEST(ExplainModel, WritesOutWhereNormsStandAndWhatEachSublayerReads) {
  const auto tokens = small_tokenizer();
  Generator generator(2);
  const std::vector<std::pair<NormOrder, std::vector<std::string>>> forms = {
      {NormOrder::pre, {"X′ = X + Attention(LN(X))", "Y = X′ + FFN(LN(X′))"}},
      {NormOrder::both, {"X′ = X + LN(Attention(LN(X)))", "Y = X′ + LN(FFN(LN(X′)))"}},
      {NormOrder::after, {"X′ = X + LN(Attention(X))", "Y = X′ + LN(FFN(X′))"}},
      {NormOrder::parallel_one, {"X′ = X + Attention(LN(X))", "Y = X′ + FFN(LN(X))"}},
      {NormOrder::post, {"X′ = LN(X + Attention(X))", "Y = LN(X′ + FFN(X′))"}}};
  for (const auto& [order, formulas] : forms) {
    const Decoder decoder(
        {.vocabulary = tokens->size(), .length = 12, .layers = 2, .d_model = 16, .heads = 2, .order = order},
        generator);
    const Explanation explanation = explain_model(foreign(decoder, tokens), {.title = "mine", .text = "the cat sat"});
    std::vector<std::string> shown;
    for (const Formula& formula : step(explanation, "blocks-1").formulas) shown.push_back(formula.text);
    EXPECT_EQ(shown, formulas) << name_of(order);
  }
}

TEST(ExplainModel, ShowsWhichExpertsATokenGoesTo) {
  const auto tokens = small_tokenizer();
  Generator generator(2);
  DecoderOptions options{.vocabulary = tokens->size(), .length = 12, .layers = 2, .d_model = 16, .heads = 2};
  options.choices.experts = {.count = 5, .per_token = 2};
  const auto explained = [&](const std::vector<std::int64_t>& without) {
    options.choices.without_experts = without;
    return explain_model(foreign(Decoder(options, generator), tokens), {.title = "mine", .text = "the cat sat"});
  };
  EXPECT_EQ(step(explained({0, 1}), "blocks-1").tables.size(), 1U);
  const Explanation explanation = explained({1, 0});
  ASSERT_EQ(step(explanation, "blocks-1").tables.size(), 2U);
  const Table& table = step(explanation, "blocks-1").tables[1];
  EXPECT_THAT(table.columns, testing::ElementsAre("token", "experts"));
  ASSERT_EQ(table.rows.size(), explanation.tokens.size());
  for (const auto& row : table.rows) {
    // Two of them, the larger share first.
    EXPECT_THAT(row[1].text, testing::MatchesRegex("[0-4] \\(0\\.[5-9][0-9]\\), [0-4] \\(0\\.[0-5][0-9]\\)"));
  }
}

// What stands in a table of block 1, of a decoder with random biases.
Table lengths_of(const DecoderOptions& options, const std::shared_ptr<const Tokenizer>& tokens) {
  Generator generator(2);
  const Explanation explanation =
      explain_model(foreign(Decoder(options, generator), tokens), {.title = "mine", .text = "the cat sat"});
  return step(explanation, "blocks-1").tables.at(0);
}

TEST(ExplainModel, MeasuresWhatEachSublayerAdds) {
  const auto tokens = small_tokenizer();
  DecoderOptions options{
      .vocabulary = tokens->size(), .length = 12, .layers = 2, .d_model = 16, .heads = 2, .order = NormOrder::both};
  EXPECT_THAT(lengths_of(options, tokens).columns, testing::ElementsAre("token", "resid_pre", "attn", "attn_norm",
                                                                        "resid_mid", "ffn", "ffn_norm", "resid_post"));
  options.order = NormOrder::pre;
  EXPECT_THAT(lengths_of(options, tokens).title, HasSubstr("what each sublayer adds beside"));
  options.choices.residual_scale = 0.22;
  EXPECT_THAT(lengths_of(options, tokens).title, HasSubstr("what each sublayer gives, of which 0.22 times is added"));
}

TEST(ExplainModel, WritesOutHowScoresAreMade) {
  const auto tokens = small_tokenizer();
  const auto scores = [&](const Model::Network& network) {
    const Explanation explanation = explain_model(foreign(network, tokens), {.title = "mine", .text = "the cat sat"});
    return step(explanation, "answer").formulas.at(0).text;
  };
  Generator generator(2);
  DecoderOptions options{.vocabulary = tokens->size(), .length = 12, .layers = 2, .d_model = 16, .heads = 2};
  EXPECT_EQ(scores(Decoder(options, generator)), "z = E · LN(y)");
  options.order = NormOrder::post;
  EXPECT_EQ(scores(Decoder(options, generator)), "z = E · y");
  options.tied = false;
  options.output_bias = true;
  EXPECT_EQ(scores(Decoder(options, generator)), "z = W · y + b");
  options.output_scale = 0.25;
  options.logit_softcap = 30.0;
  EXPECT_EQ(scores(Decoder(options, generator)), "z = 30 · tanh((0.25 · W · y + b) / 30)");
  EXPECT_EQ(scores(Encoder({.vocabulary = tokens->size(),
                            .length = 12,
                            .layers = 2,
                            .d_model = 16,
                            .heads = 2,
                            .order = NormOrder::post,
                            .head = EncoderHead::transform},
                           generator)),
            "z = E · LN(gelu(Linear(y))) + b");
}

// Of a long source and a short answer, whose learned vectors make it a model that takes long.
TEST(ExplainModel, LeavesOutTheRemovalThatASourceMakesLong) {
  const auto tokens = small_tokenizer();
  Generator generator(2);
  const EncoderDecoder both({.source_vocabulary = tokens->size(),
                             .vocabulary = tokens->size(),
                             .source_length = 1 << 18,
                             .length = 1 << 18,
                             .d_model = 16,
                             .heads = 8,
                             .positions = Positions::learned,
                             .start = 0},
                            generator);
  const Model model(both, {.tokens = tokens, .source = tokens});
  const TextModel trained(model, "mine");
  std::string text;
  for (int n = 0; n < 200; ++n) text += "the cat ";
  const Explanation explanation = explain_model(trained, {.title = "mine", .text = text, .answer = 1});
  EXPECT_TRUE(std::ranges::none_of(explanation.steps, [](const Section& s) { return s.id == "removal"; }));
  EXPECT_THAT(explanation.notes,
              testing::Contains("left out: what each head's removal does, which takes 48 passes; ask for the step "
                                "\"removal\", or sweep the heads"));
}

TEST(ExplainModel, ShowsTheStatesOfAnEncoderThatSaysNothing) {
  const auto tokens = small_tokenizer();
  Generator generator(2);
  const Encoder encoder({.vocabulary = tokens->size(),
                         .length = 12,
                         .layers = 2,
                         .d_model = 16,
                         .heads = 2,
                         .tied = false,
                         .head = EncoderHead::none},
                        generator);
  const Explanation explanation = explain_model(foreign(encoder, tokens), {.title = "mine", .text = "the cat sat"});
  EXPECT_THAT(explanation.notes, testing::Contains("a model of states alone: it says no tokens"));
  EXPECT_FALSE(step(explanation, "head").heatmaps.empty());
  EXPECT_TRUE(std::ranges::none_of(explanation.steps, [](const Section& s) { return s.id == "says"; }));
}

class EachModel : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Box, EachModel, testing::Values("english", "translation", "addition", "shapes", "brackets"));

TEST_P(EachModel, AddsItsPartsUpToTheLogit) {
  const Explanation explanation = explain_model(boxed(GetParam()), {.example = 1});
  const Section& parts = step(explanation, "parts");
  double magnitude = 0;
  double layers = 0;
  for (const std::vector<Cell>& row : parts.tables.at(0).rows) {
    for (std::size_t n = 1; n < row.size(); ++n) {
      magnitude += std::abs(*row[n].number);
      layers += *row[n].number;
    }
  }
  const std::vector<std::vector<Cell>>& rest = parts.tables.at(1).rows;
  magnitude += std::abs(*rest.at(0)[1].number) + std::abs(*rest.at(2)[1].number);
  EXPECT_NEAR(*rest.at(1)[1].number, layers, 1e-9 * magnitude);
  // The pass rounds each number to f32, after sums of up to 256 terms.
  EXPECT_NEAR(*rest.at(3)[1].number, *rest.at(4)[1].number, 256 * std::ldexp(magnitude, -24));
}

TEST_P(EachModel, ShowsTheBlocksThatRan) {
  const TrainedModel& model = boxed(GetParam());
  // From a second pass on, the weights are laid out, whose products may be rounded otherwise.
  static_cast<void>(explain_model(model, {.example = 1, .blocks = true}));
  const Explanation explanation = explain_model(model, {.example = 1, .blocks = true});
  Trace trace;
  const Batch batch = model.batch_of(model.task().example(Split::test, 1));
  model.model().run(input_of(batch), trace);
  std::size_t blocks = 0;
  for (const std::string& name : trace.names()) {
    if (!name.ends_with(".resid_post")) continue;
    ++blocks;
    const std::string block = name.substr(0, name.rfind('.'));
    const auto ran = [&](const std::string& leaf) { return trace[block + leaf].view().select(0, 0).to_vector(); };
    std::string id = block;
    std::ranges::replace(id, '.', '-');
    std::vector<double> sum = ran(".resid_pre");
    const bool has_cross = trace.contains(block + ".cross");
    for (const std::string leaf : {".attn", has_cross ? ".cross" : "", ".ffn"}) {
      if (leaf.empty()) continue;
      const std::vector<double> added = ran(leaf);
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] = static_cast<float>(sum[n] + added[n]);
    }
    const Section& section = step(explanation, id);
    const auto last = std::ranges::find(section.heatmaps, id + "-resid_post", &NamedHeatmap::id);
    EXPECT_EQ(last->heatmap.values.to_vector(), sum) << name;
  }
  EXPECT_GE(blocks, 2U);
}

TEST(ExplainedModel, RemovesAHeadAsZeroColumnsOfItsMapWould) {
  const TrainedModel& model = boxed("english");
  const Example example = model.task().example(Split::test, 1);
  const Explanation explanation = explain_model(model, {.example = 1});
  const Tensor changes = step(explanation, "removal").heatmaps.at(0).heatmap.values;
  ASSERT_EQ(changes.shape(), (Shape{2, 8}));
  EXPECT_EQ(step(explanation, "answer").title, "The answer at 6 “they”");
  const auto share = [&] { return model.probabilities(example).at({6, model.task().vocabulary().id("kings")}); };
  const double before = share();
  const std::string name = "blocks.0.attn.out.weight";
  const Parameters parameters = model.model().parameters();
  const auto map = std::ranges::find(parameters, name, &Parameter::name);
  Tensor weight(map->value.value());
  for (std::int64_t out = 0; out < 64; ++out) {
    for (std::int64_t in = 3 * 8; in < 4 * 8; ++in) weight.values<float>()[static_cast<std::size_t>(out * 64 + in)] = 0;
  }
  assign(parameters, name, weight);
  EXPECT_NEAR(share() - before, changes.at({0, 3}), 1e-12);  // zeros either way: the same f32 numbers
  EXPECT_LT(changes.at({0, 3}), -0.1);                       // it is this head that finds the noun
}

TEST(ExplainedModel, ShowsTheImageInItsColoursUnderTheWeights) {
  const TrainedModel& model = boxed("shapes");
  const Explanation explanation = explain_model(model, {.example = 0});
  const Tensor image = model.task().example(Split::test, 0).image;
  EXPECT_EQ(step(explanation, "picture").images.at(0).pixels.to_vector(), image.to_vector());
  const Section& words = step(explanation, "image");
  EXPECT_EQ(words.images.size(), explanation.tokens.size());
  EXPECT_EQ(words.images[0].weights.shape(), (Shape{6, 6}));
  const auto is_marked = [](const Image& each) { return !each.marked.empty(); };
  EXPECT_GT(std::ranges::count_if(words.images, is_marked), 0);
  const Explanation part = in_short(explanation);
  EXPECT_TRUE(std::ranges::all_of(step(part, "image").images, is_marked));
}

TEST(ExplainedModel, LaysOverTheImageWhatEachTokenRestsOn) {
  const TrainedModel& model = boxed("shapes");
  const Explanation explanation = explain_model(model, {.example = 0});
  for (const char* id : {"covered", "relevance"}) {
    const Section& maps = step(explanation, id);
    ASSERT_EQ(maps.images.size(), explanation.tokens.size()) << id;
    EXPECT_THAT(maps.images[4].title, testing::StartsWith("4 purple → triangle"));
    EXPECT_EQ(maps.images[4].weights.shape(), (Shape{6, 6}));
    const Tensor& marked = step(explanation, "image").images[4].marked;
    EXPECT_EQ(maps.images[4].marked.to_vector(), marked.to_vector());
  }
  // The triangle is what its name rests on: of all patches, one of its own counts most.
  const Image& triangle = step(explanation, "covered").images[4];
  const std::vector<double> weights = triangle.weights.view().to_vector();
  EXPECT_NE(triangle.marked.view().to_vector().at(
                static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin())),
            0);
}

TEST(ExplainedModel, LaysOverTheImageWhatACosineRestsOn) {
  const TrainedModel& model = boxed("towers");
  const Explanation explanation = explain_model(model, {.example = 0, .captions = {"top left a red circle"}});
  const Section& maps = step(explanation, "rests-on");
  ASSERT_EQ(maps.images.size(), 4U);
  EXPECT_EQ(maps.images[0].title, "1 attention");
  EXPECT_EQ(maps.images[3].title, "2 covered");
  EXPECT_EQ(maps.heatmaps.at(1).heatmap.column_labels.back(), "circle");
  const Section& words = step(explanation, "words");
  ASSERT_EQ(words.images.size(), explanation.tokens.size() - 1);  // without "<s>"
  EXPECT_THAT(words.images[3].title, testing::MatchesRegex("4 purple \\(0\\.[0-9]+\\)"));
  EXPECT_FALSE(words.images[3].marked.empty());
  double sum = 0;
  for (const double share : maps.heatmaps[1].heatmap.values.to_vector()) sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);
}

// Of folders as others publish them: with a class token before the patches, or without.
class Towers : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Explanation explained(const ModelQuestion& question) const { return explain_model(model_, question); }

  tests::TowerFolder folder_{GetParam()};
  TrainedModel model_ = TrainedModel::read(folder_.path());
  Tensor picture_{DType::u8, {8, 8, 3}};
};

TEST_P(Towers, ShowTheHeadsOfBoth) {
  const Explanation explanation = explained({.picture = picture_, .captions = {"a red circle", "a blue square"}});
  const std::vector<Table>& tables = step(explanation, "overview").tables;
  ASSERT_EQ(tables.size(), 2U);
  for (const Table& table : tables) EXPECT_EQ(table.rows.size(), 6U) << table.title;  // 2 layers of 3 heads
  const Heatmap& head = step(explanation, "heads-source").heatmaps.front().heatmap;
  EXPECT_EQ(head.column_labels.front(), GetParam() == "clip" ? "[class]" : "0,0");
  EXPECT_EQ(head.column_labels.back(), "1,1");
  EXPECT_EQ(step(explanation, "captions").tables.front().rows.size(), 2U);
  EXPECT_THAT(explanation.notes.front(), HasSubstr("nearest: a "));
  const Explanation image = explained({.picture = picture_, .captions = {"a red circle"}, .site = "source"});
  EXPECT_EQ(step(image, "image").images.front().weights.shape(), (Shape{2, 2}));
}

TEST_P(Towers, ShowOneAloneThatReadsATextOrAPicture) {
  const Explanation text = explained({.text = "a red circle"});
  EXPECT_EQ(step(text, "overview").tables.size(), 1U);
  EXPECT_THAT(text.notes.front(), HasSubstr("the tower of texts alone"));
  EXPECT_THAT(text.tokens, testing::Contains("circle"));
  const Explanation picture = explained({.picture = picture_});
  EXPECT_EQ(step(picture, "overview").tables.size(), 1U);
  EXPECT_THAT(picture.notes.front(), HasSubstr("the tower of images alone"));
  EXPECT_EQ(error_message([&] { static_cast<void>(explained({.text = "a", .captions = {"a red circle"}})); }),
            "explain_model: captions: expected a picture beside them, got a text");
}

INSTANTIATE_TEST_SUITE_P(Folders, Towers, testing::Values("clip", "siglip"));

TEST(ExplainedModel, NamesThePatternOfEachHead) {
  const Explanation explanation = explain_model(boxed("english"), {.example = 1});
  const Section& overview = explanation.steps.at(1);
  ASSERT_EQ(overview.id, "overview");
  ASSERT_EQ(overview.thumbnails.size(), 16U);
  EXPECT_EQ(overview.thumbnails[3].title, "Tokens 0.3");
  EXPECT_EQ(overview.thumbnails[3].label, "pronoun-antecedent 0.99");
  const std::vector<Cell>& row = overview.tables.at(0).rows.at(3);
  EXPECT_EQ(row[0].text, "0.3");
  EXPECT_EQ(row[1].text, "pronoun-antecedent");
  const Explanation known = with_known_heads(explanation);
  const auto has_label = [](const Thumbnail& head) { return !head.label.empty(); };
  EXPECT_EQ(static_cast<std::ptrdiff_t>(step(known, "heads-tokens").heatmaps.size()) + 1,  // the one shown already
            std::ranges::count_if(overview.thumbnails, has_label));
  EXPECT_TRUE(std::ranges::none_of(known.steps, [](const Section& each) { return each.id == "softmax"; }));
}

TEST(ExplainedModel, SeesPatternsThatAnyTextMayHave) {
  const auto patterns = [](const char* text) {
    const Explanation explanation = explain_model(boxed("induction"), {.text = text});
    const std::vector<std::vector<Cell>>& rows = step(explanation, "overview").tables.at(0).rows;
    return std::pair(rows.at(0)[1].text, rows.at(1)[1].text);
  };
  EXPECT_EQ(patterns("abxacxadx"), std::pair(std::string("previous"), std::string("induction")));
  EXPECT_EQ(patterns("abacadae").second, "induction");
}

TEST(ExplainedModel, TakesATextOfOnesOwnAsItTakesAnExample) {
  for (const char* name : {"previous", "brackets", "reverse", "addition", "english"}) {
    const TrainedModel model = TrainedModel::read(trained_model_path(name));  // weights not laid out by other passes
    const Example example = model.task().example(Split::test, 1);
    std::vector<std::int32_t> prompt = example.source.empty() ? example.tokens : example.source;
    if (!example.source.empty()) prompt.pop_back();
    if (name == std::string("addition")) prompt.resize(10);
    const Explanation shown = explain_model(model, {.example = 1});
    const Explanation own = explain_model(model, {.text = model.task().vocabulary().decode(prompt)});
    EXPECT_EQ(step(own, "head").title, step(shown, "head").title) << name;
    EXPECT_EQ(step(own, "answer").title, step(shown, "answer").title) << name;
    EXPECT_EQ(step(own, "says").tables.at(0).faint_rows, step(shown, "says").tables.at(0).faint_rows) << name;
    EXPECT_THAT(own.notes, testing::Each(testing::Not(HasSubstr("careful: ")))) << name;
  }
}

TEST(ExplainedModel, SaysTheLabelsThatItsTaskAsksFor) {
  const auto first_note = [](const char* name, const char* text) {
    return explain_model(boxed(name), {.text = text}).notes.at(0);
  };
  EXPECT_EQ(first_note("previous", "abcdefghijkl"), "says: abcdefghijk");
  EXPECT_EQ(first_note("brackets", "([{???[?{?"), "says: }])]}");
  EXPECT_EQ(first_note("brackets", "(["), "says nothing: the task asks at none of these tokens");
  EXPECT_EQ(first_note("english", "the cat <be> heavy"), "says: is");
  EXPECT_EQ(step(explain_model(boxed("english"), {.text = "the cat <be> heavy"}), "answer").title,
            "The answer at 2 “<be>”");
  EXPECT_EQ(first_note("induction", "abcxyza"), "says next: b");
  EXPECT_THAT(first_note("induction", "abcxyzd"), testing::EndsWith(", where the task asks for nothing"));
  EXPECT_EQ(error_message([] { static_cast<void>(explain_model(boxed("previous"), {.text = "ab", .answer = 1})); }),
            "explain_model: answer: expected a model that writes, got one that labels tokens");
}

TEST(ExplainedModel, PutsInParenthesesWhatWasNeverTrained) {
  const Explanation explanation = explain_model(boxed("induction"), {.text = "abcxyzab"});
  const Table& says = step(explanation, "says").tables.at(0);
  EXPECT_EQ(says.faint_rows, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_THAT(says.rows.at(0)[2].text, testing::MatchesRegex("\\(.\\)"));
  EXPECT_EQ(says.rows.at(6)[2].text, "b");
}

TEST(ExplainedModel, CountsTheTokensOfTheTextAlone) {
  const auto refused = [](const char* name, const char* text) {
    return error_message([&] { static_cast<void>(explain_model(boxed(name), {.text = text})); });
  };
  EXPECT_EQ(refused("addition", "12345678+1234567="),
            "TextModel: text: expected a text of at most 14 tokens, for which there are learned positions, got 17 "
            "tokens");
  EXPECT_EQ(refused("addition", "123456+12345="),
            "explain_model: text: expected a text of at most 10 tokens, for which there are learned positions beside "
            "the 4 of its answer, got 13 tokens");
  EXPECT_EQ(refused("copy", "abcdefghijklmnopqrstuvwxyz"),
            "TextModel: text: expected a text of at most 12 tokens, for which there are learned positions, got 26 "
            "tokens");
}

TEST(ExplainedModel, WarnsOfPicturesThatItNeverSaw) {
  Tensor picture(DType::u8, {40, 60, 3});
  const Explanation explanation = explain_model(boxed("shapes"), {.picture = picture});
  EXPECT_THAT(
      explanation.notes,
      testing::Contains("careful: it learned from pictures of 48 × 48 pixels; this one, of 60 × 40, was resized"));
  EXPECT_THAT(explanation.notes, testing::Contains(HasSubstr("100 % of the pixels of this one have others")));
}

TEST(ExplainedModel, ShowsAQueryAlone) {
  const Explanation explanation = explain_model(boxed("induction"), {.text = "abcxyzab", .query = "6"});
  EXPECT_FALSE(explanation.steps.empty());
  EXPECT_TRUE(in_short(explanation).steps.empty());
  EXPECT_TRUE(in_short(explanation).query.has_value());
}

TEST(ExplainedModel, NamesALearnedBiasAndDoesNotPrintIt) {
  const Explanation explanation = explain_model(boxed("brackets"), {.example = 0});
  const auto bias = std::ranges::find(explanation.settings, "bias", &Setting::name);
  ASSERT_NE(bias, explanation.settings.end());
  EXPECT_EQ(bias->value, "T5, learned");
}

TEST(ExplainedModel, AnswersWhyFromItsOwnScores) {
  const Explanation explanation = explain_model(boxed("induction"), {.text = "abcxyzab", .whys = true});
  std::vector<std::string> ids;
  for (const Section& why : explanation.whys) ids.push_back(why.id);
  EXPECT_THAT(ids,
              testing::ElementsAre("variance", "no-scale", "order", "mask-after-softmax", "minus-1e9", "softmax-axis"));
  const std::vector<Cell>& head = explanation.whys[0].tables.at(0).rows.at(0);
  EXPECT_NEAR(*head[2].number / 64, *head[3].number, 1e-5 * *head[3].number);  // d_k = 64, in f32
}

TEST(ExplainedModel, RefusesWhatHasNoMeaning) {
  const TrainedModel& model = boxed("induction");
  const auto refused = [&](const ModelQuestion& question) {
    return error_message([&] { static_cast<void>(explain_model(model, question)); });
  };
  EXPECT_EQ(refused({}), "explain_model: text: expected a text, or an example, got none");
  EXPECT_EQ(refused({.text = "ab", .example = 1}),
            "explain_model: example: expected none beside a text, got an example");
  EXPECT_EQ(refused({.text = "ab", .head = 0}), "explain_model: head: expected a layer beside it, got none");
  EXPECT_EQ(refused({.picture = Tensor(DType::u8, {1, 1, 3})}),
            "explain_model: picture: expected a text: this model reads no images, got a picture");
  EXPECT_EQ(error_message([] { static_cast<void>(explain_model(boxed("shapes"), {.text = "a"})); }),
            "explain_model: text: expected a picture, or an example, got a text");
}

// A layer's heads are removed side by side in one pass, as the text is short (insight/removed_heads.h).
TEST(ExplainModel, RunsOnePassAndOneForEachLayerOfRemovedHeads) {
  const TrainedModel& trained = boxed("gpt");
  const std::int64_t before = passes_of_thread();
  const Explanation explanation = explain_model(trained, {.title = "gpt", .text = "The cat sat"});
  const Tensor removed = step(explanation, "removal").heatmaps.at(0).heatmap.values;
  EXPECT_EQ(passes_of_thread() - before, 1 + removed.dim(0));
}

TEST(ExplainModel, MarksTheTokensOfATemplate) {
  const tests::TemporaryDirectory directory;
  const std::string folder = directory / "talk";
  tests::put_chat_model(folder);
  const TrainedModel trained = TrainedModel::read(folder);
  const Explanation explanation =
      explain_model(trained, {.title = "talk", .messages = {{.role = "user", .content = "ab"}}});
  ASSERT_EQ(explanation.sources.size(), explanation.tokens.size());
  EXPECT_EQ(std::ranges::count(explanation.sources, "user"), 2);
  EXPECT_EQ(std::ranges::count(explanation.sources, "template"), std::ssize(explanation.tokens) - 2);
  const auto first = std::ranges::find(explanation.sources, "user") - explanation.sources.begin();
  EXPECT_EQ(explanation.tokens[static_cast<std::size_t>(first)], "a");
  EXPECT_EQ(explanation.steps.front().id, "template");
  EXPECT_EQ(explanation.steps.front().tables.at(0).rows.size(), 3U);
  EXPECT_TRUE(explain_model(trained, {.title = "talk", .text = "ab"}).sources.empty());
  EXPECT_EQ(error_message([&] {
              static_cast<void>(explain_model(trained, {.text = "ab", .messages = {{.role = "user", .content = "a"}}}));
            }),
            "explain_model: messages: expected none beside a text, got a conversation");
}

}  // namespace
}  // namespace qkv::model_test
