// Messages between ranks, and what becomes of the others when a rank is lost.
#include "qkv/cluster/transport.h"

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "cluster/ranks.h"
#include "core/error_message.h"

namespace qkv::testing_cluster::transport_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

std::vector<std::byte> bytes_of(int size, int seed) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  for (std::size_t n = 0; n < bytes.size(); ++n)
    bytes[n] = static_cast<std::byte>(n * 7 + static_cast<std::size_t>(seed));
  return bytes;
}

// Each rank sends `size` bytes to the next one, and returns whether it got those of the one before.
bool passes_on(Transport& transport, int size) {
  const int next = (transport.rank() + 1) % transport.size();
  const int last = (transport.rank() + transport.size() - 1) % transport.size();
  std::vector<std::byte> got(static_cast<std::size_t>(size));
  const std::vector<std::byte> given = bytes_of(size, transport.rank());
  const auto receive = transport.irecv(last, 5, got);
  const auto send = transport.isend(next, 5, given);
  transport.wait(*receive);
  transport.wait(*send);
  return got == bytes_of(size, last);
}

TEST(Transport, BringsTheBytesOfAMessage) {
  for (const std::size_t queue : {std::size_t{0}, std::size_t{64}, std::size_t{1} << 20}) {
    for (const int size : {0, 1, 64, 100'000}) {
      std::atomic<int> right = 0;
      run_ranks(3, [&](Transport& transport) { right += passes_on(transport, size) ? 1 : 0; }, {.queue_bytes = queue});
      EXPECT_EQ(right, 3) << size << " bytes, " << queue << " queued";
    }
  }
}

TEST(Transport, KeepsTheOrderOfATag) {
  std::vector<std::vector<std::byte>> got(4, std::vector<std::byte>(8));
  run_ranks(2, [&](Transport& transport) {
    std::vector<std::vector<std::byte>> given;
    std::vector<std::unique_ptr<Transfer>> transfers;
    for (int n = 0; n < 4; ++n) given.push_back(bytes_of(8, n));
    for (int n = 0; n < 4; ++n) {
      const auto place = static_cast<std::size_t>(n);
      // Tags in the opposite order on the other side.
      transfers.push_back(transport.rank() == 0 ? transport.isend(1, n % 2, given[place])
                                                : transport.irecv(0, 1 - n % 2, got[place]));
    }
    for (const auto& transfer : transfers) transport.wait(*transfer);
  });
  EXPECT_THAT(got, ElementsAre(bytes_of(8, 1), bytes_of(8, 0), bytes_of(8, 3), bytes_of(8, 2)));
}

TEST(Transport, TestsWithoutWaiting) {
  run_ranks(2, [](Transport& transport) {
    std::vector<std::byte> bytes(4);
    if (transport.rank() == 1) {
      transport.barrier();
      transport.wait(*transport.isend(0, 0, bytes));
      return;
    }
    const auto receive = transport.irecv(1, 0, bytes);
    EXPECT_FALSE(transport.test(*receive));
    transport.barrier();
    while (!transport.test(*receive)) std::this_thread::yield();
  });
}

TEST(Transport, WithdrawsAMessageThatNobodyTook) {
  run_ranks(2,
            [&](Transport& transport) {
              std::vector<std::byte> bytes = bytes_of(100, transport.rank());
              if (transport.rank() == 0) {
                {
                  const auto withdrawn = transport.isend(1, 0, bytes);
                }
                const std::vector<std::byte> other = bytes_of(100, 9);
                transport.barrier();
                transport.wait(*transport.isend(1, 0, other));
              } else {
                transport.barrier();
                transport.wait(*transport.irecv(0, 0, bytes));
                EXPECT_EQ(bytes, bytes_of(100, 9));
              }
            },
            {.queue_bytes = 16});
}

TEST(Transport, GathersAndBroadcastsFromAnyRoot) {
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    for (int root = 0; root < ranks; ++root) {
      std::atomic<int> right = 0;
      run_ranks(ranks, [&](Transport& transport) {
        const auto all = transport.gather(root, bytes_of(transport.rank() * 3, transport.rank()));
        bool good = all.size() == (transport.rank() == root ? static_cast<std::size_t>(ranks) : 0);
        for (std::size_t n = 0; n < all.size(); ++n) {
          good = good && all[n] == bytes_of(static_cast<int>(n) * 3, static_cast<int>(n));
        }
        std::vector<std::byte> said = transport.rank() == root ? bytes_of(33, root) : std::vector<std::byte>();
        transport.broadcast(root, said);
        transport.barrier();
        right += good && said == bytes_of(33, root) ? 1 : 0;
      });
      EXPECT_EQ(right, ranks) << "root " << root;
    }
  }
}

TEST(Transport, HoldsRanksAtABarrier) {
  std::atomic<int> came = 0;
  std::atomic<int> early = 0;
  run_ranks(5, [&](Transport& transport) {
    ++came;
    transport.barrier();
    if (came < 5) ++early;
  });
  EXPECT_EQ(early, 0);
}

TEST(Transport, CountsWhatItSent) {
  run_ranks(2, [](Transport& transport) {
    const std::vector<std::byte> bytes(100);
    std::vector<std::byte> got(100);
    const auto receive = transport.irecv(1 - transport.rank(), 0, got);
    transport.wait(*transport.isend(1 - transport.rank(), 0, bytes));
    transport.wait(*receive);
    EXPECT_EQ(transport.sent().messages, 1);
    EXPECT_EQ(transport.sent().bytes, 100);
  });
}

TEST(Transport, NamesWhatACallerMistook) {
  run_ranks(2, [](Transport& transport) {
    if (transport.rank() == 1) return;
    const auto message = [&](int to, int tag) {
      return error_message([&] { static_cast<void>(transport.isend(to, tag, {})); });
    };
    EXPECT_EQ(message(2, 0), "Transport::isend: to: expected a rank from 0 to 1, got 2");
    EXPECT_EQ(message(0, 0), "Transport::isend: to: expected another rank, got 0, its own");
    EXPECT_EQ(message(1, -1), "Transport::isend: tag: expected 0 to 1048576, got -1");
    EXPECT_EQ(error_message([&] { static_cast<void>(transport.host(7)); }),
              "Transport::host: rank: expected a rank from 0 to 1, got 7");
  });
  EXPECT_EQ(error_message([] { run_local(0, [](Transport&) {}); }), "run_local: ranks: expected 1 or more, got 0");
  EXPECT_EQ(error_message([] { run_local(2, [](Transport&) {}, {.hosts = {"a"}}); }),
            "run_local: hosts: expected a name for each of 2 ranks, got 1");
  EXPECT_EQ(error_message([] { run_local(1, [](Transport&) {}, {.patience = 0ms}); }),
            "run_local: patience: expected more than 0 ms, got 0 ms");
  EXPECT_EQ(error_message([] { run_local(2, [](Transport&) {}, {.faults = {{.rank = 2}}}); }),
            "run_local: faults: expected a rank from 0 to 1, got 2");
}

TEST(Transport, NamesBothSizesWhereTheyDiffer) {
  const auto errors = errors_of_ranks(2, [](Transport& transport) {
    std::vector<std::byte> bytes(transport.rank() == 0 ? 10 : 12);
    const auto transfer = transport.rank() == 0 ? transport.isend(1, 3, bytes) : transport.irecv(0, 3, bytes);
    transport.wait(*transfer);
  });
  EXPECT_THAT(errors, testing::Contains("rank 0 sent 10 bytes of tag 3, of which rank 1 expected 12"));
}

// Rank 1 of three is the one at fault; the others wait for each other around the ring.
void goes_round(Transport& transport) {
  for (int n = 0; n < 20; ++n) static_cast<void>(passes_on(transport, 1000));
}

TEST(Transport, NamesARankThatWasKilledOrStoppedOnEveryOther) {
  for (const auto kind : {LocalFault::Kind::killed, LocalFault::Kind::stopped}) {
    for (const std::int64_t after : {0, 7, 30}) {
      const auto errors = errors_of_ranks(3, goes_round,
                                          {.hosts = {"north", "south", "west"},
                                           .patience = 1000ms,
                                           .faults = {{.kind = kind, .rank = 1, .after = after}}});
      EXPECT_EQ(errors[1], "");
      for (const int other : {0, 2}) {
        EXPECT_THAT(errors[static_cast<std::size_t>(other)],
                    AllOf(StartsWith("rank 1 (south) has given no sign of life for"), HasSubstr("waited for it with")));
      }
    }
  }
}

TEST(Transport, EndsTheOthersWhereARankThrows) {
  const auto errors = errors_of_ranks(3,
                                      [](Transport& transport) {
                                        if (transport.rank() == 2) throw Error("its disk is full");
                                        goes_round(transport);
                                      },
                                      {.hosts = {"a", "b", "c"}});
  EXPECT_THAT(errors, ElementsAre("rank 2 (c) has given up: its disk is full",
                                  "rank 2 (c) has given up: its disk is full", "its disk is full"));
}

TEST(Transport, EndsAWaitForARankThatHasEnded) {
  const auto errors = errors_of_ranks(2, [](Transport& transport) {
    std::vector<std::byte> bytes(4);
    if (transport.rank() == 0) transport.wait(*transport.irecv(1, 0, bytes));
  });
  EXPECT_THAT(errors, ElementsAre("rank 1 (local) has ended: rank 0 (local) waited for it with 4 bytes of tag 0", ""));
}

TEST(Transport, WaitsForASlowRankAndADelayedMessage) {
  for (const auto kind : {LocalFault::Kind::slow, LocalFault::Kind::delayed}) {
    const auto errors = errors_of_ranks(3, [](Transport& transport) { EXPECT_TRUE(passes_on(transport, 10)); },
                                        {.patience = 5000ms, .faults = {{.kind = kind, .rank = 1, .by = 60ms}}});
    EXPECT_THAT(errors, ElementsAre("", "", ""));
  }
}

TEST(Transport, LetsARankComputeForLongerThanItsPatience) {
  const auto errors = errors_of_ranks(2,
                                      [](Transport& transport) {
                                        for (int n = 0; transport.rank() == 0 && n < 70; ++n) {
                                          std::this_thread::sleep_for(20ms);
                                          transport.progress();
                                        }
                                        EXPECT_TRUE(passes_on(transport, 10));
                                      },
                                      {.patience = 1000ms});
  EXPECT_THAT(errors, ElementsAre("", ""));
}

TEST(Transport, SaysAtTheLimitWhatEachRankDidLast) {
  // Two ranks that keep each other waiting, as only an error in a program does.
  const auto body = [](Transport& transport) {
    std::vector<std::byte> bytes(4);
    transport.wait(*transport.irecv(1 - transport.rank(), 1, bytes));
  };
  const std::string words = error_message<ClusterError>([&] { run_local(2, body, {.limit = 200ms}); });
  EXPECT_EQ(words,
            "the run took longer than 200 ms; rank 0 waits for rank 1 (local), with 4 bytes of tag 1; rank 1 waits for "
            "rank 0 (local), with 4 bytes of tag 1");
}

}  // namespace
}  // namespace qkv::testing_cluster::transport_test
