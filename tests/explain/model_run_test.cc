#include "explain/trained/model_run.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/error_message.h"
#include "qkv/explain/model.h"
#include "qkv/random.h"

namespace qkv::explain_detail::model_run_test {
namespace {

using testing::HasSubstr;

LayerCall call_of(Generator& generator, std::int64_t heads, std::int64_t keys) {
  LayerCall call{.q = generator.randn({1, heads, 3, 4}),
                 .k = generator.randn({1, heads, keys, 4}),
                 .v = generator.randn({1, heads, keys, 4}),
                 .out = {}};
  call.options.mask = keys == 3 ? causal() : Mask();
  call.out = attention(call.q, call.k, call.v, call.options).out;
  return call;
}

Tensor upper_triangle() {
  Tensor hidden(DType::b8, {3, 3});
  for (const std::size_t cell : {1U, 2U, 5U}) hidden.values<bool>()[cell] = true;
  return hidden;
}

ModelRun small_run() {
  Generator generator(2);
  ModelRun model_run;
  model_run.title = "a small model";
  model_run.tokens = {"a", "b", "a"};
  model_run.vocabulary = {"<pad>", "a", "b"};
  model_run.probabilities = Tensor(std::vector<double>{0.1, 0.2, 0.7, 0.0, 0.9, 0.1, 0.3, 0.3, 0.4}, {3, 3});
  model_run.expected = {"", "a", "a"};
  const Tensor third(std::vector<double>{1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1}, {2, 3, 3});
  model_run.sites = {
      {.name = "tokens",
       .queries = model_run.tokens,
       .keys = model_run.tokens,
       .weights = {third, third},
       .hidden = upper_triangle(),
       .relations = {{.name = "previous", .description = "one back", .layers = {{0.4, 0.0}, {0.9, 0.1}}}}}};
  model_run.layer = 1;
  model_run.call = call_of(generator, 2, 3);
  return model_run;
}

TEST(ModelRun, PutsTheModelBeforeTheStepsOfItsHeads) {
  const Explanation explanation = explain(small_run());
  EXPECT_EQ(explanation.title, "a small model");
  EXPECT_EQ(explanation.tokens, (std::vector<std::string>{"a", "b", "a"}));
  std::vector<std::string> ids;
  for (const Section& step : explanation.steps) {
    EXPECT_EQ(step.number, static_cast<int>(ids.size()) + 1);
    ids.push_back(step.id);
  }
  ASSERT_GE(ids.size(), 6U);
  EXPECT_EQ(ids[0], "says");
  EXPECT_EQ(ids[1], "overview");
  EXPECT_EQ(ids[2], "head");
  EXPECT_EQ(ids[3], "patterns");
  EXPECT_EQ(ids[4], "heads-tokens");
  ASSERT_EQ(in_short(explanation).steps.size(), 3U);
  EXPECT_EQ(in_short(explanation).steps.back().id, "patterns");
  EXPECT_THAT(ids, testing::Contains("softmax"));
  EXPECT_EQ(explanation.steps[2].heatmaps.at(0).heatmap.title, "Tokens, layer 1, head 0");
  EXPECT_EQ(explanation.steps[4].heatmaps.size(), 4U);
  EXPECT_EQ(explanation.steps[4].heatmaps[1].heatmap.title, "Tokens, layer 0, head 1");
  EXPECT_EQ(explanation.steps[4].heatmaps[0].heatmap.hidden.to_vector(),
            (std::vector<double>{0, 1, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_THAT(explanation.steps[4].shape, testing::StartsWith("2 layers of "));
  EXPECT_THAT(explanation.steps[5].title, HasSubstr("Layer 1, tokens: "));
}

TEST(ModelRun, SaysThatTheTensorsAreTheModels) {
  const auto text_of = [](const ModelRun& model_run) {
    const Explanation explanation = explain(model_run);
    const auto step = std::ranges::find(explanation.steps, "tensors", &Section::id);
    return step->title + ". " + step->text;
  };
  ModelRun model_run = small_run();
  EXPECT_EQ(text_of(model_run),
            "Layer 1, tokens: Q, K and V. These are the model's own: what the trained projections of layer 1 (tokens) "
            "make of the vectors that reach it. What follows is computed from them in the model's own f32.");
  model_run.call.is_rotated = true;
  EXPECT_THAT(text_of(model_run), HasSubstr("reach it, Q and K after the rotary turn by their position."));
}

TEST(ModelRun, SaysItsNotesFirstAndCountsALayer) {
  ModelRun model_run = small_run();
  model_run.notes = {"says: ba"};
  model_run.sites[0].name = "whole text";
  model_run.sites[0].weights.pop_back();
  model_run.sites[0].relations.clear();
  model_run.layer = 0;
  const Explanation explanation = explain(model_run);
  EXPECT_THAT(explanation.notes, testing::ElementsAre("says: ba"));
  EXPECT_THAT(explanation.steps.at(3).shape, testing::StartsWith("1 layer of "));
  EXPECT_EQ(explanation.steps[3].id, "heads-whole-text");
}

TEST(ModelRun, HoldsCaptionsAgainstTheImageTheNearestFirst) {
  ModelRun model_run = small_run();
  model_run.probabilities = {};
  model_run.captions = {{"a red circle", 0.25}, {"a blue square", 0.75}};
  const Explanation explanation = explain(model_run);
  EXPECT_EQ(explanation.steps.at(0).id, "captions");
  EXPECT_EQ(explanation.steps[0].tables.at(0).rows.at(0).at(0).text, "a blue square");
  EXPECT_EQ(explanation.steps[0].tables[0].rows[0][1].number, 0.75);
}

TEST(ModelRun, SaysWhetherTheModelIsRight) {
  const Explanation explanation = explain(small_run());
  const Table& table = explanation.steps[0].tables.at(0);
  EXPECT_EQ(table.rows[0][2].text, "b");
  EXPECT_EQ(table.rows[0].back().text, "");
  EXPECT_EQ(table.rows[1].back().text, "a ✓");
  EXPECT_EQ(table.rows[2].back().text, "a ✗");
  EXPECT_EQ(explanation.steps[3].tables.at(0).rows[1][1].number, 0.9);
}

TEST(ModelRun, MarksWhatWasNeverTrained) {
  ModelRun model_run = small_run();
  model_run.trained = {false, true, true};
  const Explanation explanation = explain(model_run);
  const Section& says = explanation.steps[0];
  EXPECT_THAT(says.text, HasSubstr("in parentheses what was never trained"));
  EXPECT_EQ(says.tables.at(0).rows[0][2].text, "(b)");
  EXPECT_EQ(says.tables[0].rows[1][2].text, "a");
  EXPECT_THAT(says.tables[0].faint_rows, testing::ElementsAre(0U));
}

TEST(ModelRun, LaysWeightsOutAsTheImageLies) {
  ModelRun model_run = small_run();
  SiteWeights& site = model_run.sites.front();
  site.keys = {"0,0", "0,1", "1,0", "1,1"};
  site.key_columns = 2;
  site.weights.back() = Tensor(std::vector<double>{0, 0, 0, 1, 0, 0, 1, 0, 0.5, 0.5, 0, 0}, {1, 3, 4});
  site.weights.front() = site.weights.back();
  site.relations = {{.name = "object",
                     .description = "its patches",
                     .layers = {{0.5}, {0.5}},
                     .rows = {{.query = 2, .keys = {1, 2}}}}};
  site.hidden = {};
  model_run.image = Tensor(DType::f32, {3, 2, 2});
  model_run.image.values<float>()[5] = 0.75F;
  Generator generator(3);
  model_run.call = call_of(generator, 1, 4);
  const Explanation explanation = explain(model_run);
  EXPECT_EQ(explanation.steps.at(4).id, "picture");
  EXPECT_EQ(explanation.steps[4].images.at(0).pixels.at({1, 0, 1}), 0.75);
  const Section& image = explanation.steps.at(5);
  EXPECT_EQ(image.id, "image");
  ASSERT_EQ(image.images.size(), 3U);
  EXPECT_EQ(image.images[2].title, "2 a → a");
  EXPECT_EQ(image.images[2].marked.to_vector(), (std::vector<double>{0, 1, 1, 0}));
  EXPECT_EQ(image.images[2].weights.to_vector(), (std::vector<double>{0.5, 0.5, 0, 0}));
  ASSERT_EQ(image.tables.at(0).rows.size(), 1U);
  EXPECT_EQ(image.tables[0].rows[0].back().number, 0.5);
  EXPECT_EQ(in_short(explanation).steps.back().images.size(), 1U);
  model_run.head = 1;
  EXPECT_EQ(error_message([&] { static_cast<void>(explain(model_run)); }),
            "explain_model: head: expected fewer than 1, got 1");
}

TEST(ModelRun, DrawsFaintWeightsOnAScaleOfTheirOwn) {
  ModelRun model_run = small_run();
  const Tensor faint(std::vector<double>(18, 0.125), {2, 3, 3});
  model_run.sites[0].weights[1] = faint;
  const Explanation explanation = explain(model_run);
  const std::vector<NamedHeatmap>& maps = explanation.steps.at(4).heatmaps;
  EXPECT_EQ(maps.at(0).heatmap.high, 1);
  EXPECT_EQ(maps.at(2).heatmap.high, 0.125);
}

TEST(ModelRun, RefusesALayerThatIsNotThere) {
  ModelRun model_run = small_run();
  model_run.layer = 2;
  EXPECT_EQ(error_message([&] { static_cast<void>(explain(model_run)); }),
            "explain_model: layer: expected fewer than 2, got 2");
  model_run = small_run();
  model_run.vocabulary.pop_back();
  EXPECT_EQ(error_message([&] { static_cast<void>(explain(model_run)); }),
            "explain_model: probabilities: expected [3, 2], got [3, 3]");
}

}  // namespace
}  // namespace qkv::explain_detail::model_run_test
