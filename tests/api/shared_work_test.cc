#include "api/studio/shared_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "core/watched.h"
#include "qkv/error.h"

namespace qkv::api_detail::shared_work_test {
namespace {

using Work = SharedWork<int, const int>;

Work work_of(KeptBounds bounds = {.count = 8, .bytes = 1000}) {
  return {bounds, [](const int& bytes) { return static_cast<std::size_t>(bytes); }};
}

Work::Made made(int value) { return std::make_shared<const int>(value); }

// A question whose client leaves when `leaves` is set.
StudioWatch until(const std::atomic<bool>& leaves) {
  return
      [&](std::string_view /*what*/, const ProbeProgress& /*at*/) { return leaves ? Proceed::stop : Proceed::go_on; };
}

TEST(SharedWork, MakesOnceForAllWhoAskAtOnce) {
  Work work = work_of();
  std::atomic<int> makings = 0;
  std::atomic<int> asking = 0;
  const auto make = [&] {
    ++makings;
    while (asking < 4) std::this_thread::yield();
    return made(7);
  };
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      ++asking;
      EXPECT_EQ(*work.get(1, make), 7);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(makings, 1);
}

TEST(SharedWork, OfAnotherKeyWaitsForNobody) {
  Work work = work_of();
  std::promise<void> go;
  std::thread slow([&] {
    EXPECT_EQ(*work.get(1,
                        [&] {
                          go.get_future().wait();
                          return made(1);
                        }),
              1);
  });
  EXPECT_EQ(*work.get(2, [] { return made(2); }), 2);
  go.set_value();
  slow.join();
}

TEST(SharedWork, StopsOnceNobodyWaits) {
  Work work = work_of();
  std::atomic<bool> leaves = false;
  const StudioWatch watch = until(leaves);
  const QuestionWatch question(watch, 0);
  int looks = 0;
  const auto endless = [&]() -> Work::Made {
    for (;; ++looks) {
      leaves = looks == 3;
      core::look();
    }
  };
  EXPECT_THROW(static_cast<void>(work.get(1, endless)), Cancelled);
  EXPECT_EQ(looks, 3);
  leaves = false;
  EXPECT_EQ(*work.get(1, [] { return made(5); }), 5) << "it is made anew for who comes later";
}

TEST(SharedWork, GoesOnForThoseWhoStillWait) {
  Work work = work_of();
  std::atomic<bool> first_leaves = false;
  std::atomic<bool> second_waits = false;
  std::atomic<int> makings = 0;
  std::thread second;
  const StudioWatch watch = until(first_leaves);
  {
    const QuestionWatch question(watch, 0);
    const auto make = [&] {
      ++makings;
      second = std::thread([&] {
        const std::atomic<bool> stays = false;
        const StudioWatch asks = [&](std::string_view /*what*/, const ProbeProgress& /*at*/) {
          second_waits = true;
          return stays ? Proceed::stop : Proceed::go_on;
        };
        const QuestionWatch other(asks, 0);
        EXPECT_EQ(*work.get(1,
                            [&] {
                              ++makings;
                              return made(8);
                            }),
                  9);
      });
      while (!second_waits) std::this_thread::yield();
      first_leaves = true;
      core::look();  // throws if the second does not count
      return made(9);
    };
    EXPECT_EQ(*work.get(1, make), 9);
  }
  second.join();
  EXPECT_EQ(makings, 1);
}

TEST(SharedWork, SaysWhatFailedToAllAndForgetsIt) {
  Work work = work_of();
  EXPECT_THROW(static_cast<void>(work.get(1, []() -> Work::Made { throw Error("no such thing"); })), Error);
  EXPECT_EQ(*work.get(1, [] { return made(1); }), 1);
}

TEST(SharedWork, KeepsTheNewestWithinItsBounds) {
  Work work = work_of({.count = 8, .bytes = 100});
  int makings = 0;
  const auto get = [&](int key, int bytes) {
    static_cast<void>(work.get(key, [&] {
      ++makings;
      return made(bytes);
    }));
  };
  get(1, 60);
  get(2, 30);
  get(1, 60);
  get(2, 30);
  EXPECT_EQ(makings, 2);
  get(3, 60);  // with 2 in it, 1 goes
  get(3, 60);
  get(2, 30);
  EXPECT_EQ(makings, 3);
  get(1, 60);
  EXPECT_EQ(makings, 4);
  get(4, 500);  // the newest in any case, alone
  get(4, 500);
  EXPECT_EQ(makings, 5);
}

TEST(QuestionWatch, EndsWhatTakesTooLong) {
  const StudioWatch nobody;
  const QuestionWatch question(nobody, 1e-9);
  EXPECT_THROW(core::look(), Error);
}

TEST(QuestionWatch, TellsWhatIsDone) {
  std::string said;
  std::int64_t done = 0;
  const StudioWatch watch = [&](std::string_view what, const ProbeProgress& at) {
    said = what;
    done = at.done;
    return Proceed::go_on;
  };
  const QuestionWatch question(watch, 0);
  QuestionWatch::doing("the text", {.done = 2, .total = 5});
  EXPECT_EQ(said, "the text");
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace qkv::api_detail::shared_work_test
