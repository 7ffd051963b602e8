#include "server/access.h"

#include <gmock/gmock.h>

#include <set>

namespace qkv::studio::access_test {
namespace {

using testing::MatchesRegex;

const std::string kToken(32, 'a');

TEST(Access, HasATokenThatNobodyGuesses) {
  std::set<std::string> tokens;
  for (int n = 0; n < 100; ++n) {
    tokens.insert(random_token());
    EXPECT_THAT(*tokens.begin(), MatchesRegex("[0-9a-f]{32}"));
  }
  EXPECT_EQ(tokens.size(), 100U);
}

TEST(Access, KnowsTheNamesOfThisMachineAlone) {
  const Access access("127.0.0.1", 8080, kToken);
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"}) {
    EXPECT_TRUE(access.knows_host(host)) << host;
  }
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:8081", "localhost", "evil.example:8080", "127.0.0.1.evil.example:8080",
        "127.0.0.1:80800", "10.0.0.1:8080", "[::1]8080", ":8080", "x127.0.0.1:8080"}) {
    EXPECT_FALSE(access.knows_host(host)) << host;
  }
}

TEST(Access, KnowsTheHostThatItWasTold) {
  const Access access("Studio.example", 8080, kToken);
  EXPECT_TRUE(access.knows_host("studio.EXAMPLE:8080"));
  EXPECT_FALSE(access.knows_host("other.example:8080"));
  EXPECT_EQ(access.url(), "http://studio.example:8080/" + kToken + "/");
}

TEST(Access, EverywhereKnowsAddressesButNoNames) {
  const Access access("0.0.0.0", 8080, kToken);
  EXPECT_TRUE(access.knows_host("10.0.0.1:8080"));
  EXPECT_TRUE(access.knows_host("[fe80::1]:8080"));
  EXPECT_FALSE(access.knows_host("evil.example:8080"));
  EXPECT_EQ(access.url(), "http://127.0.0.1:8080/" + kToken + "/");
  EXPECT_EQ(Access("::", 8080, kToken).url(), "http://[::1]:8080/" + kToken + "/");
}

TEST(Access, NeedsNoPortAtPort80) {
  EXPECT_TRUE(Access("127.0.0.1", 80, kToken).knows_host("127.0.0.1"));
  EXPECT_TRUE(Access("127.0.0.1", 80, kToken).knows_host("127.0.0.1:80"));
}

TEST(Access, SaysWhatOtherMachinesReach) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "localhost", "::1"}) EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "studio.example", "127.evil.example"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

TEST(Access, LeadsToWhatThereIs) {
  const Access access("127.0.0.1", 8080, kToken);
  const std::string base = "/" + kToken + "/";
  EXPECT_EQ(access.route(base).place, Place::page);
  EXPECT_EQ(access.route(base + "studio.js").place, Place::script);
  EXPECT_EQ(access.route(base + "studio.css").place, Place::style);
  EXPECT_EQ(access.route(base + "worker.js").place, Place::worker);
  EXPECT_EQ(access.route(base + "qkv.wasm").place, Place::engine);
  EXPECT_EQ(access.route(base + "models/a/b").name, "a/b");
  EXPECT_EQ(access.route(base + "ask/top_keys2").place, Place::question);
  EXPECT_EQ(access.route(base + "ask/top_keys2").name, "top_keys2");
}

TEST(Access, LeadsNowhereElse) {
  const Access access("127.0.0.1", 8080, kToken);
  for (const char* target : {"", "/", "*", "/studio.js", "/ask/about", "//", "/x/../"}) {
    EXPECT_EQ(access.route(target).place, Place::nowhere) << target;
  }
  const std::string base = "/" + kToken + "/";
  for (const std::string& target :
       {kToken, "/" + kToken, "/" + base, "/x/.." + base, "http://127.0.0.1" + base, "/" + std::string(32, 'b') + "/",
        "/" + kToken + "a/", "/" + kToken.substr(1) + "/"}) {
    EXPECT_EQ(access.route(target).place, Place::nowhere) << target;
  }
  for (const std::string& rest :
       {std::string("/"), std::string(".."), ".." + base, std::string("%2e%2e/"), std::string("studio.js/"),
        std::string("studio.js?x"), std::string("studio.js%00"), std::string("ask/"), std::string("ask/a/b"),
        std::string("ask/About"), std::string("ask/<script>"), std::string("ask/%61bout"),
        "ask/" + std::string(65, 'a')}) {
    EXPECT_EQ(access.route(base + rest).place, Place::nowhere) << rest;
  }
}

}  // namespace
}  // namespace qkv::studio::access_test
