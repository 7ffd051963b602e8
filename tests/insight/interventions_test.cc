// Each intervention against the same change made another way.
#include "qkv/insight/interventions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/insight/texts.h"
#include "train/boxed.h"

namespace qkv::interventions_test {
namespace {

using testing::HasSubstr;

using tests::boxed;

HeadText text_for(const TrainedModel& trained, const std::string& text) {
  return head_texts(trained, std::span(&text, 1)).texts.front();
}

std::vector<Intervention> parsed(const std::vector<std::string>& texts) {
  std::vector<Intervention> all;
  for (const std::string& text : texts) all.push_back(parse_intervention(text));
  return all;
}

void run(const Model& model, const HeadText& text, Trace& trace) {
  const auto T = static_cast<std::int64_t>(text.ids.size());
  const Tensor ids(text.ids, {1, T});
  model.run({.ids = ids}, trace);
}

// The value `name` of a pass with these interventions.
Tensor value_with(const Model& model, const HeadText& text, const std::vector<std::string>& interventions,
                  const std::string& name = "logits", const HeadText* other = nullptr) {
  Trace trace({name});
  Intervener(model, text, other).add(parsed(interventions), trace);
  run(model, text, trace);
  return trace[name];
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector();
  const std::vector<double> y = b.to_vector();
  EXPECT_EQ(x.size(), y.size());
  double largest = 0;
  for (std::size_t n = 0; n < x.size(); ++n) largest = std::max(largest, std::abs(x[n] - y[n]));
  return largest;
}

TEST(Intervention, IsTheTextThatItIsReadFrom) {
  for (const std::string text :
       {"remove 1.0", "remove cross:1.*", "remove *.*", "pattern 2.3=uniform", "pattern source:2.3=previous",
        "pattern 2.*=self", "pattern 2.3=0", "pattern 2.3=text", "cut 7:3", "cut 1.0=7:3", "cut cross:*.0=7:3",
        "patch blocks.1", "patch blocks.1@5", "patch decoder.blocks.1.attn.heads.3@0", "set 1.0=k:2,5:0.7",
        "set cross:1.0=out:0,0:-3", "freeze norms"}) {
    EXPECT_EQ(to_string(parse_intervention(text)), text);
  }
  const auto patch = std::get<PatchedValue>(parse_intervention("patch blocks.1.attn.heads.3@5"));
  EXPECT_EQ(patch.name, "blocks.1.attn.heads");
  EXPECT_EQ(patch.head, 3);
  EXPECT_EQ(patch.place, 5);
  EXPECT_FALSE(std::get<PatchedValue>(parse_intervention("patch blocks.12")).head);
}

TEST(Intervention, RefusesTextsWithoutMeaning) {
  const auto message = [](const std::string& text) {
    return error_message([&] { static_cast<void>(parse_intervention(text)); });
  };
  EXPECT_THAT(message("remove 1"), HasSubstr("remove: expected LAYER.HEAD such as 1.0"));
  EXPECT_THAT(message("remove left:1.0"), HasSubstr("remove: expected LAYER.HEAD"));
  EXPECT_THAT(message("remove -1.0"), HasSubstr("got \"-1.0\""));
  EXPECT_THAT(message("pattern 1.0"), HasSubstr("pattern: expected LAYER.HEAD=uniform"));
  EXPECT_THAT(message("pattern 1.0=even"), HasSubstr("got \"1.0=even\""));
  EXPECT_THAT(message("cut 7"), HasSubstr("cut: expected QUERY:KEY"));
  EXPECT_THAT(message("cut 7:-1"), HasSubstr("cut: expected QUERY:KEY"));
  EXPECT_THAT(message("patch @3"), HasSubstr("patch: expected NAME"));
  EXPECT_THAT(message("patch blocks.1@x"), HasSubstr("patch: expected NAME"));
  EXPECT_THAT(message("set 1.0=k:2,5"), HasSubstr("set: expected LAYER.HEAD=q, k, v or out:PLACE,COLUMN:NUMBER"));
  EXPECT_THAT(message("set 1.*=k:2,5:1"), HasSubstr("got \"1.*=k:2,5:1\""));
  EXPECT_THAT(message("set 1.0=w:2,5:1"), HasSubstr("set: expected"));
  EXPECT_THAT(message("set 1.0=k:2,5:nan"), HasSubstr("set: expected"));
  EXPECT_THAT(message("freeze layers"), HasSubstr("freeze: expected norms"));
  EXPECT_THAT(message("shuffle 1.0"), HasSubstr("intervention: expected remove, pattern, cut, patch"));
}

TEST(Intervener, ChangesNoBitByAPatchFromTheSameText) {
  const TrainedModel& trained = boxed("brackets");
  const HeadText text = text_for(trained, "([]{})(");
  const Tensor logits = value_with(trained.model(), text, {});
  for (const std::string patch : {"patch blocks.0", "patch blocks.1@3", "patch blocks.1.attn.heads",
                                  "patch blocks.1.attn.heads.2", "patch blocks.1.attn.k.3@6", "patch embedding@0"}) {
    EXPECT_EQ(largest_difference(logits, value_with(trained.model(), text, {patch}, "logits", &text)), 0) << patch;
  }
}

TEST(Intervener, PatchesWhatIsNamedAndNothingElse) {
  const TrainedModel& trained = boxed("brackets");
  const HeadText text = text_for(trained, "([]{})(");
  const HeadText other = text_for(trained, "{{}}[](");
  const std::string name = "blocks.1.attn.heads";
  const Tensor own = value_with(trained.model(), text, {}, name);
  const Tensor others = value_with(trained.model(), other, {}, name);
  const Tensor patched = value_with(trained.model(), text, {"patch blocks.1.attn.heads.2@4"}, name, &other);
  for (std::int64_t h = 0; h < own.dim(1); ++h) {
    for (std::int64_t t = 0; t < own.dim(2); ++t) {
      const Tensor& expected = h == 2 && t == 4 ? others : own;
      EXPECT_EQ(patched.at({0, h, t, 5}), expected.at({0, h, t, 5})) << h << " " << t;
    }
  }
}

// A state that holds all that reaches the last place makes the logits there those of the other text.
TEST(Intervener, GivesTheOthersLogitsWhereTheLastStateIsTheOthers) {
  const TrainedModel& trained = boxed("induction");
  const HeadText text = text_for(trained, "abcxyzab");
  const HeadText other = text_for(trained, "abcxyzax");
  const Tensor patched = value_with(trained.model(), text, {"patch blocks.1@7"}, "logits", &other);
  const Tensor own = value_with(trained.model(), text, {});
  const Tensor others = value_with(trained.model(), other, {});
  EXPECT_EQ(largest_difference(Tensor(patched.select(1, 7)), Tensor(others.select(1, 7))), 0);
  EXPECT_EQ(largest_difference(Tensor(patched.select(1, 6)), Tensor(own.select(1, 6))), 0);
}

TEST(Intervener, RemovesHeadsAsAnEditByHandDoes) {
  const TrainedModel& trained = boxed("brackets");
  const HeadText text = text_for(trained, "([]{})(");
  Trace all({"logits"});
  all.edit("*.heads", [](const Variable& heads) { return heads * 0.0; });
  run(trained.model(), text, all);
  EXPECT_EQ(largest_difference(all["logits"], value_with(trained.model(), text, {"remove *.*"})), 0);
  Trace one({"logits"});
  one.edit_heads("blocks.1.attn.weights", {3}, [](const Variable& weights) { return weights * 0.0; });
  run(trained.model(), text, one);
  EXPECT_LT(largest_difference(one["logits"], value_with(trained.model(), text, {"remove 1.3"})), 1e-4);
  EXPECT_EQ(
      largest_difference(value_with(trained.model(), text, {"remove 1.0", "remove 1.1", "remove 1.2", "remove 1.3"}),
                         value_with(trained.model(), text, {"remove 1.*"})),
      0);
}

TEST(Intervener, SetsANumberAndNothingElse) {
  const TrainedModel& trained = boxed("gpt");  // rotates queries and keys or not: the key is set as it ran
  const HeadText text = text_for(trained, "He gave it to his");
  Trace plain({"blocks.1.attn", "logits"});
  run(trained.model(), text, plain);
  for (const auto& [word, whole] : {std::pair("q", &Trace::Attention::q), std::pair("k", &Trace::Attention::k),
                                    std::pair("v", &Trace::Attention::v), std::pair("out", &Trace::Attention::out)}) {
    const std::string set = std::string("set 1.2=") + word + ":3,1:0.5";
    Trace trace({"blocks.1.attn", "logits"});
    Intervener(trained.model(), text).add(parsed({set}), trace);
    run(trained.model(), text, trace);
    const TensorView before = (plain.attention("blocks.1.attn").*whole).value();
    Tensor expected(before, before.dtype());
    expected.set({0, 2, 3, 1}, 0.5);
    const Tensor after =
        std::string_view(word) == "out" ? expected : Tensor((trace.attention("blocks.1.attn").*whole).value());
    EXPECT_EQ(largest_difference(after, expected), 0) << set;
    EXPECT_GT(largest_difference(trace["logits"], plain["logits"]), 0) << set;
    // What a number already is changes nothing.
    auto number = std::get<SetNumber>(parse_intervention(set));
    number.to = before.at({0, 2, 3, 1});
    EXPECT_LT(largest_difference(value_with(trained.model(), text, {to_string(number)}), plain["logits"]), 1e-5);
  }
}

TEST(Intervener, MakesAUniformHeadTheMeanOfTheValuesThatItSees) {
  const Model model = boxed("brackets").model().to(DType::f64);
  const HeadText text = text_for(boxed("brackets"), "([]{})(");
  const Tensor v = value_with(model, text, {}, "blocks.1.attn.v");
  const Tensor heads = value_with(model, text, {"pattern 1.2=uniform"}, "blocks.1.attn.heads");
  for (std::int64_t i = 0; i < v.dim(2); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j <= i; ++j) sum += v.at({0, 2, j, 7});
    EXPECT_NEAR(heads.at({0, 2, i, 7}), sum / static_cast<double>(i + 1), 1e-12);
  }
  const Tensor own = value_with(model, text, {}, "blocks.1.attn.heads");
  EXPECT_EQ(heads.at({0, 1, 5, 7}), own.at({0, 1, 5, 7}));
}

TEST(Intervener, GivesEachPatternItsValue) {
  const Model model = boxed("brackets").model().to(DType::f64);
  const HeadText text = text_for(boxed("brackets"), "([]{})(");
  const Tensor v = value_with(model, text, {}, "blocks.0.attn.v");
  const auto head_with = [&](const std::string& pattern) {
    return value_with(model, text, {"pattern 0.1=" + pattern}, "blocks.0.attn.heads");
  };
  const Tensor own = value_with(model, text, {}, "blocks.0.attn.heads");
  EXPECT_NEAR(head_with("previous").at({0, 1, 4, 3}), v.at({0, 1, 3, 3}), 1e-12);
  EXPECT_NEAR(head_with("previous").at({0, 1, 0, 3}), v.at({0, 1, 0, 3}), 1e-12);  // it sees no other
  EXPECT_NEAR(head_with("self").at({0, 1, 4, 3}), v.at({0, 1, 4, 3}), 1e-12);
  EXPECT_NEAR(head_with("2").at({0, 1, 4, 3}), v.at({0, 1, 2, 3}), 1e-12);
  EXPECT_NEAR(head_with("2").at({0, 1, 1, 3}), own.at({0, 1, 1, 3}), 1e-12);  // it does not see key 2
}

TEST(Intervener, TakesThePatternOfTheOtherText) {
  const TrainedModel& trained = boxed("brackets");
  const Model model = trained.model().to(DType::f64);
  const HeadText text = text_for(trained, "([]{})(");
  const HeadText other = text_for(trained, "{{}}[](");
  const std::string name = "blocks.1.attn.weights";
  const Tensor patched = value_with(model, text, {"pattern 1.2=text"}, name, &other);
  const Tensor others = value_with(model, other, {}, name);
  EXPECT_LT(largest_difference(Tensor(patched.select(1, 2)), Tensor(others.select(1, 2))), 1e-15);
  EXPECT_GT(largest_difference(Tensor(patched.select(1, 1)), Tensor(others.select(1, 1))), 1e-3);
}

// softmax over the scores that are left, of the call that ran.
TEST(Intervener, CutsAnEdgeAsAMaskWithoutIt) {
  const Model model = boxed("brackets").model().to(DType::f64);
  const HeadText text = text_for(boxed("brackets"), "([]{})(");
  Trace trace({"blocks.1.attn", "blocks.1.attn.heads"});
  run(model, text, trace);
  const Tensor scores = trace["blocks.1.attn.biased"];
  const Tensor v(trace.attention("blocks.1.attn").v.value());
  const Tensor cut = value_with(model, text, {"cut 1.2=5:3"}, "blocks.1.attn.heads");
  double sum = 0;
  double out = 0;
  for (std::int64_t j = 0; j <= 5; ++j) {
    if (j == 3) continue;
    const double weight = std::exp(scores.at({0, 2, 5, j}));
    sum += weight;
    out += weight * v.at({0, 2, j, 7});
  }
  EXPECT_NEAR(cut.at({0, 2, 5, 7}), out / sum, 1e-12);
  EXPECT_NEAR(cut.at({0, 2, 4, 7}), trace["blocks.1.attn.heads"].at({0, 2, 4, 7}), 1e-12);
  EXPECT_EQ(cut.at({0, 1, 5, 7}), trace["blocks.1.attn.heads"].at({0, 1, 5, 7}));
}

TEST(Intervener, CutsEveryHeadOfEveryLayerWhereNoneIsNamed) {
  const TrainedModel& trained = boxed("brackets");
  const HeadText text = text_for(trained, "([]{})(");
  for (const std::string layer : {"0", "1", "2"}) {
    const Tensor weights = value_with(trained.model(), text, {"cut 5:3"}, "blocks." + layer + ".attn.weights");
    for (std::int64_t h = 0; h < weights.dim(1); ++h) {
      EXPECT_EQ(weights.at({0, h, 5, 3}), 0);
      EXPECT_GT(weights.at({0, h, 6, 3}), 0);
    }
  }
}

TEST(Intervener, LeavesWhatIsCutOutOfAPattern) {
  const TrainedModel& trained = boxed("brackets");
  const HeadText text = text_for(trained, "([]{})(");
  const Tensor weights =
      value_with(trained.model(), text, {"pattern 1.0=uniform", "cut 1.0=2:1"}, "blocks.1.attn.weights");
  EXPECT_EQ(weights.at({0, 0, 2, 0}), 0.5);
  EXPECT_EQ(weights.at({0, 0, 2, 1}), 0);
  EXPECT_EQ(weights.at({0, 0, 2, 2}), 0.5);
}

// (x - mean) * weight / divisor + bias, with the divisor of the unchanged run.
TEST(Intervener, HoldsWhatNormsDivideBy) {
  const Model model = boxed("brackets").model().to(DType::f64);
  const HeadText text = text_for(boxed("brackets"), "([]{})(");
  const auto state_with = [&](const std::vector<std::string>& interventions, const std::string& name) {
    return Tensor(value_with(model, text, interventions, name).select(1, 6).select(0, 0));
  };
  const std::vector<double> x = state_with({}, "blocks.2").to_vector();
  const std::vector<std::string> changed = {"remove 2.1", "freeze norms"};
  const std::vector<double> after = state_with(changed, "blocks.2").to_vector();
  const Tensor norm = state_with(changed, "ln_final");
  double mean = 0;
  double mean_after = 0;
  const auto width = static_cast<double>(x.size());
  for (std::size_t n = 0; n < x.size(); ++n) {
    mean += x[n] / width;
    mean_after += after[n] / width;
  }
  double variance = 0;
  for (const double value : x) variance += (value - mean) * (value - mean) / width;
  std::vector<double> weight;
  std::vector<double> bias;
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.name == "ln_final.weight") weight = parameter.value.value().to_vector();
    if (parameter.name == "ln_final.bias") bias = parameter.value.value().to_vector();
  }
  ASSERT_EQ(weight.size(), x.size());
  ASSERT_GT(largest_difference(state_with({}, "blocks.2"), state_with(changed, "blocks.2")), 1e-3);
  for (std::int64_t n = 0; n < 8; ++n) {
    const auto at = static_cast<std::size_t>(n);
    EXPECT_NEAR(norm.at({n}), (after[at] - mean_after) / std::sqrt(variance + 1e-5) * weight[at] + bias[at], 1e-9);
  }
}

TEST(Intervener, ChangesNothingByHoldingNormsAlone) {
  const Model model = boxed("english").model().to(DType::f64);
  const HeadText text = text_for(boxed("english"), "the cat sleeps");
  EXPECT_LT(largest_difference(value_with(model, text, {}), value_with(model, text, {"freeze norms"})), 1e-9);
}

TEST(Intervener, RefusesWhatThereIsNot) {
  const TrainedModel& trained = boxed("brackets");
  const HeadText text = text_for(trained, "([]{})(");
  const HeadText other = text_for(trained, "{{}}[](");
  const HeadText shorter = text_for(trained, "{{}}");
  const auto message = [&](const std::vector<std::string>& interventions, const HeadText* from = nullptr) {
    return error_message([&] { static_cast<void>(value_with(trained.model(), text, interventions, "logits", from)); });
  };
  EXPECT_THAT(message({"remove 3.0"}), HasSubstr("remove: expected a layer from 0 to 2, got 3"));
  EXPECT_THAT(message({"remove 1.4"}), HasSubstr("remove: expected a head from 0 to 3, got 4"));
  EXPECT_THAT(message({"remove cross:1.0"}),
              HasSubstr("remove: expected a site that the model has: tokens, got cross"));
  EXPECT_THAT(message({"pattern 1.4=self"}), HasSubstr("pattern: expected a head from 0 to 3, got 4"));
  EXPECT_THAT(message({"pattern 1.0=7"}), HasSubstr("pattern: expected a key from 0 to 6, got 7"));
  EXPECT_THAT(message({"pattern 1.0=self", "pattern 1.*=0"}),
              HasSubstr("pattern: expected one pattern for head 1.0, got two"));
  EXPECT_THAT(message({"pattern 1.0=text"}),
              HasSubstr("from_text: expected another text for \"pattern 1.0=text\", got none"));
  const HeadText single = text_for(trained, "(");
  EXPECT_THAT(error_message([&] {
                static_cast<void>(value_with(trained.model(), single, {"pattern 1.0=1"}, "logits", nullptr));
              }),
              HasSubstr("pattern: expected key 0, the only one, got 1"));
  EXPECT_THAT(message({"cut 7:0"}), HasSubstr("cut: expected a query from 0 to 6, got 7"));
  EXPECT_THAT(message({"cut 6:7"}), HasSubstr("cut: expected a key from 0 to 6, got 7"));
  EXPECT_THAT(message({"cut 1.4=6:0"}), HasSubstr("cut: expected a head from 0 to 3, got 4"));
  EXPECT_THAT(message({"cut 2:5"}), HasSubstr("cut: expected a key that query 2 sees: 0 to 2, got 5"));
  EXPECT_THAT(message({"cut 0:0"}),
              HasSubstr("cut: expected a key to be left for query 0, got 0, the last that it sees"));
  EXPECT_THAT(message({"set 1.4=q:0,0:1"}), HasSubstr("set: expected a head from 0 to 3, got 4"));
  EXPECT_THAT(message({"set 1.0=v:7,0:1"}), HasSubstr("set: expected a place from 0 to 6, got 7"));
  EXPECT_THAT(message({"set 1.0=out:0,999:1"}), HasSubstr("set: expected a column from 0 to "));
  EXPECT_THAT(message({"patch blocks.1"}, &shorter),
              HasSubstr("from_text: expected a text of 7 tokens, as the one that is changed, got 4 tokens"));
  EXPECT_THAT(
      message({"patch blocks.3"}, &other),
      HasSubstr("patch: expected a value of the pass (docs/trace.md), got \"blocks.3\"; did you mean blocks.0?"));
  EXPECT_THAT(message({"patch blocks.1.attn.weights.0"}, &other), HasSubstr("patch: expected a value of the pass"));
  EXPECT_THAT(message({"patch blocks.1@7"}, &other),
              HasSubstr("patch: expected a place of blocks.1 from 0 to 6, got 7"));
  EXPECT_THAT(message({"patch blocks.1.ffn.3"}, &other),
              HasSubstr("patch: expected a value that has heads, such as blocks.0.attn.heads"));
  EXPECT_THAT(message({"patch blocks.1.attn.heads.4"}, &other),
              HasSubstr("patch: expected a head of blocks.1.attn.heads from 0 to 3, got 4"));
}

TEST(Intervener, RefusesAKeyOfItsOwnAcross) {
  const TrainedModel& trained = boxed("reverse");
  const HeadTexts texts = head_texts(trained, 1);
  const auto message = [&](const std::string& pattern) {
    Trace trace(std::vector<std::string>{});
    const std::vector<Intervention> all = parsed({"pattern " + pattern});
    return error_message([&] { Intervener(trained.model(), texts.texts.front()).add(all, trace); });
  };
  EXPECT_THAT(message("cross:0.0=previous"),
              HasSubstr("pattern: expected uniform, text or the number of a key across"));
  EXPECT_EQ(message("cross:0.0=uniform"), "nothing was thrown");
}

}  // namespace
}  // namespace qkv::interventions_test
