#include "qkv/nn/taps.h"

#include <gmock/gmock.h>

#include "nn/fixture.h"

namespace qkv::nn {
namespace {

using testing::ElementsAre;

const Tensor kOne(std::vector<double>{1}, {1});
const Tensor kTwo(std::vector<double>{2}, {1});

TEST(Taps, KeepInOrderUnderScopedNames) {
  Taps taps;
  const TapScope block = TapScope(&taps).inner("blocks").inner("0");
  block.put("ln1", kOne);
  block.inner("attn").put("q", kTwo);
  EXPECT_THAT(taps.names(), ElementsAre("blocks.0.ln1", "blocks.0.attn.q"));
  EXPECT_EQ(taps["blocks.0.attn.q"].at({0}), 2);
  EXPECT_TRUE(taps.contains("blocks.0.ln1"));
  EXPECT_FALSE(taps.contains("ln1"));
}

TEST(Taps, KeepSquareOnesOnlyWhereAsked) {
  Taps plain;
  TapScope(&plain).put("attn.weights", kOne, Taps::Extent::square);
  EXPECT_TRUE(plain.entries().empty());
  Taps asked({"*"});
  TapScope(&asked).put("attn.weights", kOne, Taps::Extent::square);
  EXPECT_THAT(asked.names(), ElementsAre("attn.weights"));
}

TEST(Taps, PatternsChoose) {
  const Taps taps({"blocks.*.attn.weights", "ln*"});
  EXPECT_TRUE(taps.wants("blocks.12.attn.weights", Taps::Extent::square));
  EXPECT_TRUE(taps.wants("ln_final"));
  EXPECT_TRUE(taps.wants("ln"));
  EXPECT_FALSE(taps.wants("blocks.0.ln1"));
  EXPECT_FALSE(taps.wants("blocks.0.attn.weights2", Taps::Extent::square));
  EXPECT_FALSE(Taps(std::vector<std::string>{}).wants("ln1"));
  EXPECT_TRUE(Taps({"a*b*c"}).wants("aXbYbZc"));
  EXPECT_FALSE(Taps({"a*b*c"}).wants("aXcYb"));
}

TEST(Taps, ASecondPassReplacesTheFirst) {
  Taps taps;
  taps.put("x", kOne);
  taps.put("y", kOne);
  taps.put("x", kTwo);
  EXPECT_THAT(taps.names(), ElementsAre("x", "y"));
  EXPECT_EQ(taps["x"].at({0}), 2);
}

TEST(Taps, AnUnwatchedScopeWantsNothing) {
  const TapScope scope;
  EXPECT_FALSE(scope.inner("attn").wants("q"));
  scope.inner("attn").put("q", kOne);
}

TEST(Taps, AMissingNameIsNamedBesideThoseThereAre) {
  Taps taps;
  EXPECT_EQ(message_of([&] { (void)taps["attn.q"]; }),
            "Taps: name: expected a name of what was kept (nothing), got \"attn.q\"");
  taps.put("ln1", kOne);
  taps.put("ln2", kOne);
  EXPECT_EQ(message_of([&] { (void)taps["attn.q"]; }), "Taps: name: expected one of ln1, ln2, got \"attn.q\"");
}

}  // namespace
}  // namespace qkv::nn
