// A watch may stop a call, and changes nothing about one that it lets go on.
#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "attention/fused_call.h"
#include "qkv/backward.h"
#include "qkv/watched.h"

namespace qkv::testing_attention::watch_test {
namespace {

std::vector<std::string> targets() {
  std::vector<std::string> all = fused_targets();
  all.emplace_back("reference");
  return all;
}

Qkv long_inputs() { return inputs_of({.B = 2, .H = 4, .Tq = 200, .Tk = 200}, {.Hk = 2, .D = 8, .Dv = 8}, DType::f32); }

// Stops at its n-th question.
struct Stopper {
  int left;
  int asked = 0;
  std::thread::id asker = std::this_thread::get_id();

  CallWatch watch() {
    return [this] {
      EXPECT_EQ(std::this_thread::get_id(), asker);
      ++asked;
      return --left > 0 ? Proceed::go_on : Proceed::stop;
    };
  }
};

TEST(Watch, StopsTheForwardPassOfEveryTarget) {
  const Qkv inputs = long_inputs();
  for (const std::string& target : targets()) {
    for (const int threads : {1, 3}) {
      Stopper stopper{.left = 1};
      const AttentionOptions options = {.threads = threads, .target = target, .watch = stopper.watch()};
      EXPECT_THROW(static_cast<void>(attention(inputs.q, inputs.k, inputs.v, options)), Cancelled) << target;
      EXPECT_EQ(stopper.asked, 1) << target;
    }
  }
}

TEST(Watch, StopsTheBackwardPassOfEveryTarget) {
  const Qkv inputs = long_inputs();
  for (const std::string& target : targets()) {
    AttentionOptions options = {.threads = 1, .target = target};
    const AttentionResult result = attention(inputs.q, inputs.k, inputs.v, options);
    Stopper stopper{.left = 3};
    options.watch = stopper.watch();
    EXPECT_THROW(static_cast<void>(
                     attention_backward(result.out, inputs.q, inputs.k, inputs.v, result.out, result.lse, options)),
                 Cancelled)
        << target;
    EXPECT_EQ(stopper.asked, 3) << target;
  }
}

TEST(Watch, StopsStages) {
  const Qkv inputs = long_inputs();
  Stopper stopper{.left = 5};
  const AttentionOptions options = {.watch = stopper.watch()};
  EXPECT_THROW(static_cast<void>(attention_stage(inputs.q, inputs.k, options, Stage::weights)), Cancelled);
}

TEST(Watch, MayThrowAnErrorOfItsOwn) {
  const Qkv inputs = long_inputs();
  for (const int threads : {1, 3}) {
    const AttentionOptions options = {.threads = threads,
                                      .watch = []() -> Proceed { throw std::domain_error("enough"); }};
    EXPECT_THROW(static_cast<void>(attention(inputs.q, inputs.k, inputs.v, options)), std::domain_error);
  }
}

TEST(Watch, ChangesNothingThatItLetsGoOn) {
  const Qkv inputs = long_inputs();
  const Tensor plain = attention(inputs.q, inputs.k, inputs.v).out;
  Stopper stopper{.left = 1'000'000};
  const Tensor watched = attention(inputs.q, inputs.k, inputs.v, {.watch = stopper.watch()}).out;
  EXPECT_EQ(watched.to_vector(), plain.to_vector());
  EXPECT_GE(stopper.asked, 1);
}

TEST(Watch, IsForgottenAfterItsCall) {
  const Qkv inputs = long_inputs();
  Stopper stopper{.left = 1};
  const AttentionOptions options = {.watch = stopper.watch()};
  EXPECT_THROW(static_cast<void>(attention(inputs.q, inputs.k, inputs.v, options)), Cancelled);
  EXPECT_NO_THROW(static_cast<void>(attention(inputs.q, inputs.k, inputs.v)));
}

TEST(WatchedThread, StopsCallsWithoutAWatchOfTheirOwn) {
  const Qkv inputs = long_inputs();
  for (const std::string& target : targets()) {
    Stopper stopper{.left = 2};
    const WatchedThread watched(stopper.watch());
    const AttentionOptions options = {.threads = 1, .target = target};
    EXPECT_THROW(static_cast<void>(attention(inputs.q, inputs.k, inputs.v, options)), Cancelled) << target;
    EXPECT_EQ(stopper.asked, 2) << target;
  }
}

TEST(WatchedThread, IsNotAskedWhereACallHasAWatch) {
  const Qkv inputs = long_inputs();
  Stopper outer{.left = 1'000'000};
  Stopper own{.left = 1'000'000};
  const WatchedThread watched(outer.watch());
  static_cast<void>(attention(inputs.q, inputs.k, inputs.v, {.watch = own.watch()}));
  EXPECT_EQ(outer.asked, 0);
  EXPECT_GE(own.asked, 1);
}

TEST(WatchedThread, GivesWayToAnInnerOneAndEnds) {
  const Qkv inputs = long_inputs();
  Stopper outer{.left = 2};
  {
    const WatchedThread watched(outer.watch());
    {
      Stopper inner{.left = 1};
      const WatchedThread narrower(inner.watch());
      EXPECT_THROW(static_cast<void>(attention(inputs.q, inputs.k, inputs.v)), Cancelled);
    }
    EXPECT_EQ(outer.asked, 0);
    EXPECT_THROW(static_cast<void>(attention(inputs.q, inputs.k, inputs.v, {.threads = 1})), Cancelled);
  }
  EXPECT_NO_THROW(static_cast<void>(attention(inputs.q, inputs.k, inputs.v)));
}

}  // namespace
}  // namespace qkv::testing_attention::watch_test
