// qkv fetch, from a hub on loopback.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "hub/hub_server.h"
#include "model/llama_in_blocks.h"
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

// A repository of GGUF files, one of them a model that qkv opens.
TEST(FetchCommandOfGguf, ChoosesAFileAndSaysWhatOpensIt) {
  const TemporaryDirectory directory;
  HubServer hub;
  hub.add("small-Q4_1.gguf", tests::llama_with_letters(core::BlockType::q4_1), true);
  hub.add("small-Q4_K_M.gguf", std::string(2'000'000, 'x'), true);
  hub.add("mmproj-F16.gguf", "of images", true);
  hub.add("config.json", "{}");
  const auto fetch = [&](const std::string& name, const std::string& more) {
    return run_qkv({"fetch", name, "--hub", hub.address(), "--out", directory / "small", more});
  };
  const Outcome open = fetch("owner/small", "--json");
  EXPECT_EQ(open.code, 2);
  EXPECT_THAT(open.err, AllOf(HasSubstr("qkv fetch: NAME: expected one of its GGUF files, as in "
                                        "\"owner/small:Q4_K_M\": Q4_1 ("),
                              HasSubstr(" MB), Q4_K_M (2.0 MB), got \"owner/small\"\n")));
  EXPECT_THAT(fetch("owner/small", "--list").out,
              AllOf(HasSubstr("2.0 MB  small-Q4_K_M.gguf\n"), HasSubstr("choose one, as in owner/small:Q4_1\n"),
                    testing::Not(HasSubstr("mmproj"))));
  const Outcome one = fetch("owner/small:q4_1", "--json");
  ASSERT_EQ(one.code, 0) << one.err;
  const auto reply = nlohmann::json::parse(one.out);
  EXPECT_EQ(reply["name"], "owner/small");
  EXPECT_EQ(reply["files"].size(), 1U);
  EXPECT_EQ(reply["model"], (directory / "small") + "/small-Q4_1.gguf");
  EXPECT_EQ(run_qkv({"generate", reply["model"].get<std::string>(), "AB", "--tokens", "2"}).code, 0);
}

TEST_F(FetchCommand, RefusesWithItsOptions) {
  EXPECT_EQ(run_qkv({"fetch", "../x", "--hub", hub_.address()}).err,
            "qkv fetch: NAME: expected a model's name on the hub, such as \"owner/name\" or \"owner/name:Q4_K_M\", got "
            "\"../x\"\n");
  EXPECT_THAT(fetch({"--revision", "older"}).err, HasSubstr("the hub has no such model, revision or file (404)"));
  const Outcome address = run_qkv({"fetch", "owner/small", "--hub", "somewhere"});
  EXPECT_EQ(address.code, 2);
  EXPECT_THAT(address.err, HasSubstr("qkv fetch: --hub: expected an address that begins with https:// or http://"));
}

}  // namespace
}  // namespace qkv::fetch_test
