#include "qkv/cost.h"

#include <gmock/gmock.h>

#include "qkv/error.h"

namespace qkv::cost_test {
namespace {

using testing::HasSubstr;

std::string value(const CostReport& report, std::string_view key) { return report.item(key).value.grouped(); }

CostConfig small() {
  CostConfig config;
  config.layers = 2;
  config.d_model = 8;
  config.heads = 2;
  config.tokens = 6;
  config.tile = 4;
  return config;
}

template <class Change>
std::string error_of(Change change) {
  CostConfig config = small();
  change(config);
  try {
    (void)cost(config);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

// The published checkpoints hold exactly these many parameters.
TEST(CostWeights, OfPresetsAreExact) {
  EXPECT_EQ(value(cost(cost_preset("gpt2")), "weights.total"), "124,439,808");
  EXPECT_EQ(value(cost(cost_preset("bert-base")), "weights.total"), "109,482,240");
  EXPECT_EQ(value(cost(cost_preset("gpt-1")), "weights.total"), "116,534,784");
  EXPECT_EQ(value(cost(cost_preset("llama-3-8b")), "weights.total"), "8,030,261,248");
  EXPECT_EQ(value(cost(cost_preset("gpt3")), "weights.total"), "174,604,259,328");
  EXPECT_EQ(value(cost(cost_preset("transformer-base")), "weights.total"), "63,045,632");
}

TEST(CostWeights, SayWhereThePositionTableEnds) {
  CostConfig config = cost_preset("gpt3");
  config.tokens = 4096;
  EXPECT_THAT(cost(config).groups.front().note, HasSubstr("ends at 2048 tokens"));
  config.tokens = 2048;
  EXPECT_THAT(cost(config).groups.front().note, testing::Not(HasSubstr("2048")));
}

TEST(CostScores, OfGpt3AtItsContext) {
  const CostReport report = cost(cost_preset("gpt3"));
  EXPECT_EQ(value(report, "scores.one_head"), "16,777,216");
  EXPECT_EQ(report.item("scores.all_heads").arithmetic, "96 heads × 2,048² × 4 B");
  EXPECT_EQ(amount_text(report.item("scores.all_heads").value, CostUnit::bytes), "1,610,612,736 B = 1.50 GiB");
  EXPECT_EQ(short_amount(report.item("scores.all_layers").value, CostUnit::bytes), "144 GiB");
}

// Every visited score of a small model, counted one by one.
TEST(CostFlops, TiledCountsTheTilesThatAreVisited) {
  for (const bool causal : {false, true}) {
    for (std::int64_t tokens = 1; tokens <= 13; ++tokens) {
      CostConfig config = small();
      config.causal = causal;
      config.tokens = tokens;
      std::uint64_t pairs = 0;
      std::uint64_t row_tiles = 0;
      for (std::int64_t row = 0; row < tokens; ++row) {
        for (std::int64_t begin = 0; begin < tokens; begin += config.tile) {
          const std::int64_t last_row = std::min(tokens, row / config.tile * config.tile + config.tile) - 1;
          if (causal && begin > last_row) continue;
          pairs += static_cast<std::uint64_t>(std::min(config.tile, tokens - begin));
          ++row_tiles;
        }
      }
      const std::uint64_t heads = 4;  // layers x heads
      const auto rows = static_cast<std::uint64_t>(tokens);
      const CostReport report = cost(config);
      EXPECT_EQ(report.item("flops.tiled.core.forward").value,
                Count(heads * (pairs * (2 * 4 + 2 * 4 + 5) + row_tiles * 4 + rows * 4)));
      EXPECT_EQ(report.item("flops.tiled.recomputed").value, Count(heads * pairs * (2 * 4 + 3)));
    }
  }
}

TEST(CostFlops, OfOneLayerByHand) {
  CostConfig config = small();
  config.kv_heads = 1;
  const CostReport report = cost(config);
  EXPECT_EQ(value(report, "flops.layer.q"), "768");        // 2 * 6 * 8 * 8
  EXPECT_EQ(value(report, "flops.layer.k"), "384");        // half the heads
  EXPECT_EQ(value(report, "flops.layer.scores"), "576");   // 2 * 2 * 36 * 4
  EXPECT_EQ(value(report, "flops.layer.softmax"), "432");  // 6 * 2 * 36
  EXPECT_EQ(value(report, "flops.layer.ffn"), "6,144");    // 2 * 6 * 8 * 32 * 2
  EXPECT_EQ(value(report, "flops.layer.total"), "10,032");
  EXPECT_EQ(report.item("flops.layer.q").arithmetic, "2 × 6 tokens × 8 × 2 heads × 4");
}

TEST(CostFlops, TrainingIsForwardAndBackward) {
  const CostReport report = cost(small());
  EXPECT_EQ(report.item("flops.training").value,
            report.item("flops.forward").value + report.item("flops.backward").value);
  // Products cost twice their forward, softmax 5 a score: 2 layers x 2 heads x 36 scores.
  const Count core = Count(2) * Count(std::uint64_t{4} * 576) + Count(std::uint64_t{4} * 36 * 5);
  EXPECT_EQ(report.item("flops.backward.core").value, core);
}

TEST(CostMemory, TiledKeepsLseInsteadOfWeights) {
  const CostReport report = cost(cost_preset("gpt2"));
  EXPECT_EQ(report.item("activations.standard").value + report.item("activations.lse").value,
            report.item("activations.tiled").value + report.item("activations.weights").value);
  EXPECT_EQ(value(report, "activations.lse"), "589,824");  // 12 * 12 * 1,024 * 4
  EXPECT_EQ(report.item("activations.weights").value, report.item("scores.all_layers").value);
}

TEST(CostMemory, KvCacheCountsKvHeads) {
  CostConfig config = cost_preset("llama-3-8b");
  config.dtype = DType::bf16;
  EXPECT_EQ(value(cost(config), "kv_cache.token"), "131,072");  // 32 * 8 * 256 * 2
  EXPECT_EQ(short_amount(cost(config).item("kv_cache.total").value, CostUnit::bytes), "1.00 GiB");
}

TEST(CostTraffic, OfOneAttentionByHand) {
  const CostReport report = cost(small());
  EXPECT_EQ(value(report, "traffic.standard.forward"), "1,920");  // 4 * 2 * 36 * 4 B + 6 * (8 + 16 + 8) * 4 B
  // k and v for 2 query tiles: 2 heads * 12 * 8 * 4 B; q and out: 6 * 16 * 4 B; lse: 2 * 6 * 4 B
  EXPECT_EQ(value(report, "traffic.tiled.forward"), "1,200");
}

TEST(CostCount, IsExactBeyond64Bits) {
  const Count big = Count(std::uint64_t{1} << 63U) * Count(6) + Count(1);
  EXPECT_EQ(big.to_string(), "55340232221128654849");
  EXPECT_EQ(big.grouped(), "55,340,232,221,128,654,849");
  EXPECT_DOUBLE_EQ(big.to_double(), 6 * 0x1p63);
  EXPECT_LT(Count(~std::uint64_t{0}), big);
}

TEST(CostCount, TheLargestConfigurationDoesNotWrap) {
  CostConfig config;
  config.layers = config.decoder_layers = 10'000;
  config.d_model = 10'000'000;
  config.heads = config.kv_heads.emplace(10'000);
  config.d_k = 100'000;
  config.d_ff = 100'000'000;
  config.gated_ffn = true;
  config.vocab = 1'000'000'000;
  config.output_head = OutputHead::untied;
  config.tokens = 1'000'000'000;
  config.batch = 100'000;
  config.dtype = DType::f64;
  config.causal = true;
  const CostReport report = cost(config);
  // Of 30,000 attentions with 10^5 * 10^4 * 10^18 scores each: 6 products of 2 * 10^5, and 11 for softmax both ways.
  const Count core = report.item("flops.model.core").value + report.item("flops.backward.core").value;
  EXPECT_NEAR(core.to_double() / (3e4 * 1e27 * (12e5 + 11)), 1.0, 1e-15);
  EXPECT_GT(report.item("flops.training").value, core);
  EXPECT_LT(report.item("flops.training").value.to_double(), 0x1p128);
}

TEST(CostErrors, NameTheOption) {
  EXPECT_THAT(error_of([](CostConfig& c) { c.layers = 0; }), HasSubstr("layers: expected 1 to 10,000, got 0"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.heads = 0; }), HasSubstr("heads: expected 1 to 10,000, got 0"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.d_model = -8; }), HasSubstr("d_model: expected 1 to 10,000,000, got -8"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.tokens = 2'000'000'000; }),
              HasSubstr("tokens: expected 1 to 1,000,000,000, got 2000000000"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.batch = 0; }), HasSubstr("batch: expected 1 to 100,000, got 0"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.tile = 0; }), HasSubstr("tile: expected 1 to 1,000,000, got 0"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.d_ff = -1; }), HasSubstr("d_ff: expected 1 to 100,000,000, got -1"));
}

TEST(CostErrors, HaveTheBoundsThatAreTold) {
  EXPECT_EQ(cost_bounds("d_k").most, 100'000);
  EXPECT_EQ(cost_bounds("vocab").least, 0);
  try {
    static_cast<void>(cost_bounds("zebra"));
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.argument(), "number");
    EXPECT_EQ(error.got(), "\"zebra\"");
  }
}

TEST(CostErrors, SayWhatDoesNotFit) {
  EXPECT_THAT(error_of([](CostConfig& c) { c.heads = 3; }),
              HasSubstr("heads: expected a divisor of `d_model`, 8, where `d_k` is not given, got 3"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.kv_heads = 4; }),
              HasSubstr("kv_heads: expected a divisor of `heads`, 2, got 4"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.dtype = DType::i64; }),
              HasSubstr("dtype: expected f64, f32, f16 or bf16, got i64"));
  EXPECT_THAT(error_of([](CostConfig& c) { c.output_head = OutputHead::tied; }),
              HasSubstr("vocab: expected at least 1 if there is an output head, got 0"));
}

TEST(CostErrors, AnUnknownPresetListsTheKnown) {
  try {
    (void)cost_preset("gpt5");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("preset: expected one of transformer-base, bert-base, gpt-1, gpt2, gpt3, "
                                        "llama-3-8b, got \"gpt5\""));
  }
}

TEST(CostErrors, AnUnknownFigureIsNamed) { EXPECT_THROW((void)cost(small()).item("weights.nothing"), InvalidArgument); }

}  // namespace
}  // namespace qkv::cost_test
