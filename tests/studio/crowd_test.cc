// Many clients, slow ones, and such as go away.
#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <fstream>
#include <thread>
#include <vector>

#include "core/sanitizer.h"
#include "studio/long_work.h"
#include "studio/running.h"

namespace qkv::studio::crowd_test {
namespace {

using std::chrono::milliseconds;
using tests::frames_of;
using tests::LongWork;
using tests::question;
using tests::RawClient;
using tests::Reply;
using tests::Running;

constexpr milliseconds kShort{100};
constexpr milliseconds kLong{600'000};

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// 16 kB for each of a thousand clients would show.
void expect_no_more_than(std::size_t before) {
  constexpr std::size_t kBound = 16 << 20;
  if (!qkv::tests::kHasShadowMemory) {
    EXPECT_LT(resident_bytes(), before + kBound);
  }
}

std::string walk(const Running& running) { return question(running.port(), Running::token(), "walk", "{}"); }

// Asks, waits for the first bytes of the reply, and goes.
void ask_and_go(const Running& running) {
  RawClient client(running.port());
  client.send(walk(running));
  EXPECT_THAT(client.read_some(), testing::StartsWith("HTTP/1.1 200"));
}

TEST(Crowd, OfTwoHundredIsAnswered) {
  const Running running(tests::echo);
  std::deque<RawClient> clients;
  for (int n = 0; n < 200; ++n) clients.emplace_back(running.port());
  for (RawClient& client : clients) client.send(question(running.port(), Running::token(), "about", "{}"));
  for (RawClient& client : clients) EXPECT_EQ(frames_of(client.read_reply().body).front().payload, "{}");
}

TEST(Crowd, OfTwoHundredThreadsIsAnswered) {
  const Running running(tests::echo);
  std::vector<Reply> replies(200);
  std::vector<std::thread> threads;
  for (Reply& reply : replies) threads.emplace_back([&] { reply = running.ask("about", "{}"); });
  for (std::thread& thread : threads) thread.join();
  for (const Reply& reply : replies) EXPECT_EQ(reply.status, 200);
}

TEST(Crowd, IsTurnedAwayWhereTooManyWait) {
  LongWork work;
  const Running running(work.ask(), {.threads = 1, .waiting = 3});
  RawClient answered(running.port());
  answered.send(walk(running));
  work.wait_until_begun(1);
  std::deque<RawClient> waiting;
  std::vector<pollfd> sockets;
  for (int n = 0; n < 4; ++n) {
    waiting.emplace_back(running.port()).send(walk(running));
    sockets.push_back({.fd = waiting.back().socket(), .events = POLLIN, .revents = 0});
  }
  ASSERT_GT(::poll(sockets.data(), sockets.size(), static_cast<int>(kLong.count())), 0);
  work.release();
  int turned_away = 0;
  for (RawClient& client : waiting) {
    const Reply reply = client.read_reply();
    if (reply.status == 200) continue;
    ++turned_away;
    EXPECT_EQ(reply.status, 429);
    EXPECT_EQ(reply.headers.at("retry-after"), "1");
  }
  EXPECT_EQ(turned_away, 1);
  EXPECT_EQ(answered.read_reply().status, 200);
}

TEST(Crowd, OfAThousandThatGoLeavesNothingBehind) {
  LongWork work;
  const Running running(work.ask());
  const auto let_go = [&](int count) {
    for (int n = 0; n < count; ++n) ask_and_go(running);
    work.wait_until_none_works();
  };
  let_go(100);
  const std::size_t before = resident_bytes();
  let_go(1000);
  expect_no_more_than(before);
  EXPECT_EQ(work.begun(), 1100);
  EXPECT_EQ(work.stopped(), 1100);
  work.release();
  EXPECT_EQ(running.ask("walk", "{}").status, 200);
}

TEST(Crowd, ThatGoesWhileItWaitsIsNotWorkedFor) {
  LongWork work;
  const Running running(work.ask(), {.threads = 1});
  RawClient first(running.port());
  first.send(walk(running));
  work.wait_until_begun(1);
  for (int n = 0; n < 50; ++n) {
    RawClient client(running.port());
    client.send(walk(running));
  }
  RawClient last(running.port());
  last.send(walk(running));
  work.release();
  EXPECT_EQ(first.read_reply().status, 200);
  EXPECT_EQ(last.read_reply().status, 200);
  EXPECT_EQ(work.begun(), 2);
}

TEST(Crowd, ThatSendsNoWholeHeadIsDropped) {
  const Running running(tests::echo, {.door = {.head = kShort}});
  RawClient client(running.port());
  client.send("P");
  EXPECT_EQ(client.read_some(), "");
}

TEST(Crowd, ThatSendsNoWholeBodyIsDropped) {
  const Running running(tests::echo, {.exchange = {.body = kShort}});
  RawClient client(running.port());
  std::string request = walk(running);
  request.pop_back();
  client.send(request);
  EXPECT_EQ(client.read_reply().status, 408);
}

TEST(Crowd, OfSlowOnesHoldsNobodyUp) {
  const Running running(tests::echo, {.threads = 1, .door = {.visitors = 20, .head = kLong}});
  std::deque<RawClient> slow;
  for (int n = 0; n < 200; ++n) {
    slow.emplace_back(running.port()).send("P");
    if (n % 20 == 0) {
      EXPECT_EQ(running.ask("about", "{}").status, 200);
    }
  }
  EXPECT_EQ(slow.front().read_some(), "") << "the oldest leaves for those who come";
}

TEST(Crowd, ThatReadsNothingIsDropped) {
  LongWork work;
  work.release();
  const Ask ask = [&](std::string_view name, auto request, const auto& watch) {
    StudioReply reply = work.ask()(name, request, watch);
    if (name == "large") reply.blocks.resize(64 << 20);
    return reply;
  };
  const Running running(ask, {.threads = 1, .exchange = {.writing = kShort}});
  RawClient deaf(running.port());
  deaf.send(question(running.port(), Running::token(), "large", "{}"));
  work.wait_until_begun(1);
  EXPECT_TRUE(running.ask("small", "{}").is_whole);
  EXPECT_FALSE(deaf.read_reply().is_whole);
}

TEST(Crowd, OfSlowBodiesHoldsNobodyUp) {
  const Running running(tests::echo, {.threads = 1, .exchange = {.body = kLong}});
  std::string request = question(running.port(), Running::token(), "about", std::string(1000, ' '));
  request.resize(request.size() - 500);
  std::deque<RawClient> slow;
  for (int n = 0; n < 50; ++n) slow.emplace_back(running.port()).send(request);
  EXPECT_EQ(running.ask("about", "{}").status, 200);
  slow.front().send(std::string(500, ' '));
  EXPECT_EQ(slow.front().read_reply().status, 200) << "who comes with the rest is answered";
}

TEST(Crowd, OfLargeBodiesSharesTheirMemory) {
  const Running running(tests::echo, {.door = {.bodies = 3 << 20}, .exchange = {.body = kLong}});
  std::string request = question(running.port(), Running::token(), "about", std::string(2 << 20, ' '));
  request.resize(request.size() - 1);
  RawClient first(running.port());
  first.send(request);
  RawClient second(running.port());
  while (running.ask("about", "{}").status != 200) continue;
  second.send(request.substr(0, 1000));
  EXPECT_EQ(second.read_reply().status, 429);
  EXPECT_EQ(running.ask("about", std::string(1000, ' ')).status, 200) << "a small one has room";
  first.send(" ");
  EXPECT_EQ(first.read_reply().status, 200);
}

TEST(Crowd, ThatDoesNotReadHoldsNobodyUp) {
  const Ask ask = [](std::string_view name, auto /*request*/, const auto& /*watch*/) {
    StudioReply reply{.json = "{}", .blocks = {}};
    if (name == "large") reply.blocks.resize(16 << 20);
    return reply;
  };
  const Running running(ask, {.threads = 1, .exchange = {.writing = kLong, .unsent = 1 << 30}});
  std::deque<RawClient> deaf;
  for (int n = 0; n < 20; ++n) {
    deaf.emplace_back(running.port()).send(question(running.port(), Running::token(), "large", "{}"));
  }
  EXPECT_TRUE(running.ask("small", "{}").is_whole);
  for (RawClient& client : deaf) EXPECT_TRUE(client.read_reply().is_whole) << "who reads late has all of it";
}

TEST(Crowd, ThatAsksMuchHoldsNoLightQuestionUp) {
  LongWork work;
  const Ask ask = [&](std::string_view name, auto request, const auto& watch) {
    return name == "walk" ? work.ask()(name, request, watch) : tests::echo(name, request, watch);
  };
  StudioServerOptions options{.threads = 1, .heavy_threads = 2};
  options.is_light = [](std::string_view name, std::string_view /*request*/) { return name != "walk"; };
  const Running running(ask, options);
  std::deque<RawClient> heavy;
  for (int n = 0; n < 50; ++n) heavy.emplace_back(running.port()).send(walk(running));
  work.wait_until_begun(2);
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(running.ask("about", "{}").is_whole);
  EXPECT_TRUE(running.get("/" + Running::token() + "/").is_whole);
  EXPECT_EQ(work.begun(), 2) << "no more of those at once";
  work.release();
  for (RawClient& client : heavy) EXPECT_EQ(client.read_reply().status, 200);
}

TEST(Crowd, OfLargeRequestsLeavesNothingBehind) {
  const Running running(tests::echo);
  const std::string megabyte(1 << 20, ' ');
  const auto send_large = [&] {
    RawClient client(running.port());
    client.send("POST /" + Running::token() +
                "/ask/about HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(running.port()) +
                "\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n");
    for (int n = 0; n < 100; ++n) client.send(megabyte);
    EXPECT_EQ(client.read_reply().status, 413);
  };
  send_large();
  const std::size_t before = resident_bytes();
  for (int n = 0; n < 5; ++n) send_large();
  expect_no_more_than(before);
}

TEST(Crowd, IsSentAwayWhenTheServerStops) {
  LongWork work;
  Running running(work.ask(), {.threads = 2});
  std::deque<RawClient> clients;
  for (int n = 0; n < 6; ++n) clients.emplace_back(running.port()).send(walk(running));
  work.wait_until_begun(2);
  RawClient slow(running.port());
  slow.send("P");
  running.server().stop();
  EXPECT_EQ(work.stopped(), work.begun());
  for (RawClient& client : clients) {
    const Reply reply = client.read_reply();  // the end of the connection, or the word that the work was stopped
    EXPECT_FALSE(reply.is_whole && reply.body.find("{}") != std::string::npos) << reply.body;
  }
  EXPECT_EQ(slow.read_some(), "");
  EXPECT_THROW(RawClient(running.port()), std::runtime_error);
}

}  // namespace
}  // namespace qkv::studio::crowd_test
