#include "qkv/mask_plans.h"

#include <gmock/gmock.h>

#include <optional>
#include <vector>

#include "core/error_message.h"

namespace qkv::mask_plans_test {
namespace {

constexpr MaskShape kShape = {.B = 2, .H = 3, .Tq = 100, .Tk = 100};

TEST(MaskPlans, KeepThePlanOfAMaskOverAShape) {
  MaskPlans plans;
  const Mask mask = documents({40, 60});
  const TilePlan& plan = plans.of(mask, kShape);
  EXPECT_EQ(plan.counts().pairs_kept, TilePlan(mask, kShape).counts().pairs_kept);
  const Mask copy = mask;
  EXPECT_EQ(&plans.of(copy, kShape), &plan);
  EXPECT_EQ(plans.made(), 1);
}

TEST(MaskPlans, TellMasksAndShapesApart) {
  MaskPlans plans;
  EXPECT_EQ(plans.of(causal(), kShape).counts().pairs_kept, 6 * 100 * 101 / 2);
  EXPECT_EQ(plans.of(all(), kShape).counts().pairs_kept, 6 * 100 * 100);
  EXPECT_EQ(plans.of(causal(), {.B = 2, .H = 3, .Tq = 100, .Tk = 101}).counts().pairs_kept, 6 * 100 * 103 / 2);
  EXPECT_EQ(plans.of(causal(), {.B = 1, .H = 3, .Tq = 100, .Tk = 100}).counts().pairs_kept, 3 * 100 * 101 / 2);
  EXPECT_EQ(plans.of(causal(), {.B = 2, .H = 1, .Tq = 100, .Tk = 100}).counts().pairs_kept, 2 * 100 * 101 / 2);
  EXPECT_EQ(plans.made(), 5);
}

TEST(MaskPlans, KnowAMaskThatWasMadeAgain) {
  MaskPlans plans;
  const Mask shared = dense(Tensor(std::vector<std::uint8_t>(10000, 1), {100, 100}));
  const auto of = [&](const Mask& mask) { return &plans.of(mask, kShape); };
  EXPECT_EQ(of(causal() & window(8)), of(causal() & window(8)));
  EXPECT_NE(of(causal() & window(8)), of(causal() & window(9)));
  EXPECT_NE(of(causal() & window(8)), of(causal() | window(8)));
  EXPECT_EQ(of(shared & window(8)), of(shared & window(8)));
  EXPECT_EQ(of(window(8) | shared), of(window(8) | shared));
  EXPECT_NE(of(window(8, Align::top_left)), of(window(8)));
  EXPECT_NE(of(window(8, std::nullopt)), of(window(std::nullopt, 8)));
}

TEST(MaskPlans, DoNotTakeOneOwnRuleForAnother) {
  MaskPlans plans;
  const auto rule = [](std::int64_t first) {
    return predicate("from", [first](const Place& place, const MaskShape&) { return place.j >= first; });
  };
  EXPECT_EQ(plans.of(rule(10), kShape).counts().pairs_kept, 6 * 100 * 90);
  EXPECT_EQ(plans.of(rule(20), kShape).counts().pairs_kept, 6 * 100 * 80);
}

TEST(MaskPlans, ShareAPlanAmongEntriesThatDoNotDiffer) {
  MaskPlans plans;
  const MaskShape entry = {.B = 2, .H = 3, .Tq = 50, .Tk = 40};
  EXPECT_EQ(&plans.of_entry(causal(), 0, entry), &plans.of_entry(causal(), 1, entry));
  EXPECT_EQ(plans.of_entry(causal(), 0, entry).shape().B, 1);
  const Mask lengths = key_lengths({10, 30});
  const TilePlan& second = plans.of_entry(lengths, 1, entry);
  EXPECT_EQ(plans.of_entry(lengths, 0, entry).counts().pairs_kept, 3 * 50 * 10);
  EXPECT_EQ(second.counts().pairs_kept, 3 * 50 * 30);
  EXPECT_EQ(&plans.of_entry(lengths, 1, entry), &second);
  EXPECT_EQ(plans.made(), 3);
}

TEST(MaskPlans, RefuseWhatAPlanRefuses) {
  MaskPlans plans;
  EXPECT_EQ(error_message([&] { static_cast<void>(plans.of(key_lengths({1, 2, 3}), kShape)); }),
            "key_lengths: lengths: expected one length, or one for each of 2 batch entries, got 3");
  EXPECT_EQ(plans.made(), 0);
}

}  // namespace
}  // namespace qkv::mask_plans_test
