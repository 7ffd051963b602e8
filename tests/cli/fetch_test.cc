// qkv fetch, from a hub on loopback.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "hub/hub_server.h"
#include "qkv/files.h"

namespace qkv::fetch_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::HubServer;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;

class FetchCommand : public testing::Test {
 protected:
  FetchCommand() {
    hub_.add("config.json", "{}");
    hub_.add("model.safetensors", std::string(5'000, 'x'), true);
  }

  Outcome fetch(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"fetch", "owner/small", "--hub", hub_.address()};
    words.insert(words.end(), more.begin(), more.end());
    return run_qkv(words);
  }

  HubServer hub_;
  TemporaryDirectory directory_;
};

TEST_F(FetchCommand, BringsAFolder) {
  const Outcome outcome = fetch({"--out", directory_ / "small"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, (directory_ / "small") + ": 2 files of owner/small at 0123456789ab; 5.0 kB came\n");
  EXPECT_EQ(read_file((directory_ / "small") + "/model.safetensors").size(), 5'000U);
  EXPECT_THAT(fetch({"--out", directory_ / "small"}).out, HasSubstr("at 0123456789ab, 2 were there; 0.0 kB came"));
  const auto json = nlohmann::json::parse(fetch({"--out", directory_ / "small", "--json"}).out);
  EXPECT_EQ(json["was_there"], 2);
  EXPECT_EQ(json["files"][1]["name"], "model.safetensors");
  EXPECT_EQ(json["files"][1]["hash"].get<std::string>().size(), 64U);
}

TEST_F(FetchCommand, ListsWithoutFetching) {
  const Outcome outcome = fetch({"--list"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("    5.0 kB  model.safetensors\n"),
                                 HasSubstr("owner/small at 0123456789abcdef0123456789abcdef01234567")));
  EXPECT_TRUE(hub_.requests().empty());
}

TEST_F(FetchCommand, RefusesWithItsOptions) {
  EXPECT_EQ(run_qkv({"fetch", "../x", "--hub", hub_.address()}).err,
            "qkv fetch: NAME: expected a model's name on the hub, such as \"owner/name\", got \"../x\"\n");
  EXPECT_THAT(fetch({"--revision", "older"}).err, HasSubstr("the hub has no such model, revision or file (404)"));
  const Outcome address = run_qkv({"fetch", "owner/small", "--hub", "somewhere"});
  EXPECT_EQ(address.code, 2);
  EXPECT_THAT(address.err, HasSubstr("qkv fetch: --hub: expected an address that begins with https:// or http://"));
}

}  // namespace
}  // namespace qkv::fetch_test
