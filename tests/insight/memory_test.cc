// What an analysis of a long text holds: never a whole T x T matrix of all heads, nor scores of a whole vocabulary.
#include <gmock/gmock.h>

#include "insight/counted_bytes.h"
#include "insight/text_batch.h"
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
