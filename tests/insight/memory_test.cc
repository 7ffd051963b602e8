// What an analysis of a long text holds: never a whole T x T matrix of all heads, nor scores of a whole vocabulary.
#include <gmock/gmock.h>

#include "insight/counted_bytes.h"
#include "insight/removed_heads.h"
#include "insight/text_batch.h"
#include "insight/token_losses.h"
#include "qkv/autograd/softmax.h"
#include "qkv/insight/heads.h"

namespace qkv::memory_test {
namespace {

using testing::Gt;
using testing::Lt;
using testing_insight::most_bytes;

constexpr std::int64_t kTokens = 1024;
constexpr std::int64_t kHeads = 16;
constexpr std::int64_t kVocabulary = 20'000;
constexpr std::size_t kMiB = std::size_t{1} << 20;

const Model& model() {
  static Generator generator(3);
  static const Model kModel(
      Decoder({.vocabulary = kVocabulary, .d_model = 64, .heads = kHeads, .d_ff = 64}, generator));
  return kModel;
}

HeadText text() {
  HeadText text;
  for (std::int64_t n = 0; n < kTokens; ++n) text.ids.push_back((7 * n + n * n) % kVocabulary);
  return text;
}

TEST(LongText, IsAnalysedWithoutAWholeMatrixOfTheHeads) {
  const std::size_t matrices = sizeof(float) * kHeads * kTokens * kTokens;  // of a layer: 64 MiB
  const std::vector texts{text()};
  const std::size_t most =
      most_bytes([&] { static_cast<void>(analyze_heads(model(), texts, {.importance_texts = 0})); });
  EXPECT_THAT(most, Lt(matrices));  // cosines of the embeddings, and two times some rows
  EXPECT_THAT(most, Gt(sizeof(double) * kTokens * kTokens));
}

// Losses by some rows of the output map at a time are those of the whole scores.
TEST(LargeVocabulary, HasTheLossesOfItsWholeScores) {
  for (const bool is_tied : {true, false}) {
    Generator generator(4);
    const Model own(Decoder({.vocabulary = kVocabulary,
                             .d_model = 24,
                             .heads = 3,
                             .tied = is_tied,
                             .output_scale = is_tied ? std::nullopt : std::optional(3.0)},
                            generator));
    HeadText one{.ids = {5, 19'999, 7, 5, 1, 2}, .targets = {19'999, 7, 5, 1, 0, -100}};
    HeadText other{.ids = {3, 3, 9, 40, 2, 8}, .targets = {-100, 9, 40, 2, 8, 12'345}};
    const std::vector texts{one, other};
    const HeadAnalysis found = analyze_heads(own, texts, {.importance_texts = 2});
    const insight::TextBatch batch = insight::batches_of(texts, 1).front();
    const auto loss = [&](Trace* trace) {
      const NoGradient constant;
      return cross_entropy(own.forward(batch.input(), {.trace = trace}), batch.targets).item();
    };
    ASSERT_TRUE(insight::TokenLosses::of(own));
    EXPECT_NEAR(*found.loss, loss(nullptr), 2e-6);
    for (const HeadStatistics& head : found.sites.front().all) {
      Trace without = Trace(std::vector<std::string>{});
      without.edit("blocks." + std::to_string(head.layer) + ".attn.heads",
                   [&](const Variable& x) { return insight::without_heads(x, head.head); });
      EXPECT_NEAR(*head.removal, loss(&without) - loss(nullptr), 4e-6) << head.layer << '.' << head.head;
    }
  }
}

TEST(LargeVocabulary, IsReadWholeWhereScoresAreNoProductAlone) {
  const auto has = [](const DecoderOptions& options, DType dtype = DType::f32) {
    Generator generator(4);
    return insight::TokenLosses::of(Model(Decoder(options, generator)).to(dtype)).has_value();
  };
  EXPECT_TRUE(has({.vocabulary = kVocabulary, .d_model = 8, .heads = 1}));
  EXPECT_FALSE(has({.vocabulary = 1000, .d_model = 8, .heads = 1}));
  EXPECT_FALSE(has({.vocabulary = kVocabulary, .d_model = 8, .heads = 1}, DType::f64));
  EXPECT_FALSE(has({.vocabulary = kVocabulary, .d_model = 8, .heads = 1, .output_bias = true}));
  EXPECT_FALSE(has({.vocabulary = kVocabulary, .d_model = 8, .heads = 1, .logit_softcap = 5}));
  EXPECT_FALSE(has({.vocabulary = kVocabulary, .d_model = 8, .heads = 1, .order = NormOrder::post}));
}

TEST(LongText, HasNoScoresWhereTheTraceHasNone) {
  const HeadText one = text();
  const std::size_t scores = sizeof(float) * kTokens * kVocabulary;  // 78 MiB
  Trace attention({"blocks.1.attn.weights"}), logits({"logits"});
  EXPECT_THAT(most_bytes([&] { insight::run_text(model(), one, attention); }), Lt(16 * kMiB));
  EXPECT_THAT(most_bytes([&] { insight::run_text(model(), one, logits); }), Gt(scores));
  EXPECT_EQ(logits["logits"].shape(), Shape({1, kTokens, kVocabulary}));
  Trace edited = Trace(std::vector<std::string>{});
  bool met = false;
  edited.edit("logits", [&](const Variable& x) {
    met = true;
    return x;
  });
  insight::run_text(model(), one, edited);
  EXPECT_TRUE(met);
}

}  // namespace
}  // namespace qkv::memory_test
