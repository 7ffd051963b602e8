// Fetching from a hub on loopback: whole, cut and gone on with, damaged, and refused.
#include "qkv/hub/fetch.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "hub/hub_server.h"
#include "qkv/files.h"

namespace qkv::fetch_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using tests::HubServer;
using tests::TemporaryDirectory;

constexpr std::int64_t kWeights = 300'000;

std::string text_of(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string weights() {
  std::string bytes;
  for (std::int64_t n = 0; n < kWeights; ++n) bytes += static_cast<char>(n * n % 251);
  return bytes;
}

class Fetch : public testing::Test {
 protected:
  Fetch() {
    hub_.add("config.json", R"({"model_type": "gpt2"})");
    hub_.add("1_Pooling/config.json", "{}");
    hub_.add("model.safetensors", weights(), true);
    hub_.add("pytorch_model.bin", "not for us", true);
    hub_.add("README.md", "about it");
    options_ = {.hub = hub_.address(), .tries = 3, .patience = 0.001};
  }

  FetchReport fetch(const FetchWatch& watch = {}) {
    return fetch_model("owner/small", directory_ / "small", options_, watch);
  }
  std::string refused() {
    return error_message<Error>([&] { fetch(); });
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (directory_ / "small") + "/" + name; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / "small")) {
      all.push_back(entry.path().filename().string());
    }
    std::ranges::sort(all);
    return all;
  }

  HubServer hub_;
  TemporaryDirectory directory_;
  FetchOptions options_;
};

TEST_F(Fetch, BringsWhatQkvReads) {
  std::vector<std::int64_t> seen;
  const FetchReport report = fetch([&](const FetchProgress& at) {
    if (!at.waiting.empty()) return true;
    seen.push_back(at.done);
    EXPECT_EQ(at.total, kWeights + 24);
    return true;
  });
  EXPECT_THAT(names(), ElementsAre("1_Pooling", "config.json", "model.safetensors"));
  EXPECT_EQ(text_of(path("model.safetensors")), weights());
  EXPECT_EQ(text_of(path("1_Pooling/config.json")), "{}");
  EXPECT_EQ(report.received, kWeights + 24);
  EXPECT_EQ(report.was_there, 0);
  EXPECT_EQ(report.model.revision, "0123456789abcdef0123456789abcdef01234567");
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(seen.back(), kWeights + 24);
  // The weights come last.
  EXPECT_EQ(hub_.requests().back(), "model.safetensors");
}

TEST_F(Fetch, LeavesWhatIsThereAlone) {
  fetch();
  write_file(path("config.json"), "another");
  const FetchReport again = fetch();
  EXPECT_EQ(again.was_there, 2);
  EXPECT_EQ(again.received, 22);
  EXPECT_EQ(text_of(path("config.json")), R"({"model_type": "gpt2"})");
}

TEST_F(Fetch, GoesOnWhereItWasCut) {
  hub_.faults.cut = 2;
  hub_.faults.cut_after = 100'000;
  const FetchReport report = fetch();
  EXPECT_EQ(report.received, kWeights + 24);
  EXPECT_EQ(text_of(path("model.safetensors")), weights());
  EXPECT_THAT(hub_.requests(), Contains(testing::StartsWith("model.safetensors from ")));
}

TEST_F(Fetch, AStoppedOneGoesOnInTheNextCall) {
  const auto stopping = [&](const FetchProgress& at) { return at.done < 150'000; };
  EXPECT_THAT(error_message<FetchStopped>([&] { fetch(stopping); }), HasSubstr("the same call goes on with it"));
  EXPECT_FALSE(std::filesystem::exists(path("model.safetensors")));
  EXPECT_THAT(names(), Contains(StartsWith(".qkv-partial-")));
  const FetchReport rest = fetch();
  EXPECT_LT(rest.received, kWeights - 100'000);
  EXPECT_EQ(rest.was_there, 2);
  EXPECT_EQ(text_of(path("model.safetensors")), weights());
  EXPECT_THAT(names(), Not(Contains(StartsWith(".qkv-partial-"))));
}

TEST_F(Fetch, BeginsAnewWhereTheHubKnowsNoRanges) {
  hub_.faults.cut = 1;
  hub_.faults.cut_after = 100'000;
  hub_.faults.ignores_ranges = true;
  fetch();
  EXPECT_EQ(text_of(path("model.safetensors")), weights());
}

TEST_F(Fetch, TriesAgainWhereTheHubIsBusy) {
  hub_.faults.busy = 2;
  EXPECT_EQ(fetch().received, kWeights + 24);
  hub_.faults.busy = 3;
  std::filesystem::remove(path("config.json"));
  EXPECT_THAT(refused(), HasSubstr("cannot look up owner/small at http://127.0.0.1"));
  EXPECT_EQ(hub_.faults.busy, 0);
}

TEST_F(Fetch, RefusesOtherBytes) {
  hub_.faults.damages = true;
  EXPECT_THAT(refused(), AllOf(HasSubstr("1_Pooling/config.json of owner/small: expected 2 bytes with the hash "),
                               HasSubstr(", got other bytes; it is removed")));
  EXPECT_THAT(names(), Not(Contains(StartsWith(".qkv-partial-"))));
  hub_.faults.damages = false;
  hub_.faults.adds = true;
  EXPECT_THAT(refused(), HasSubstr("got more bytes; it is removed"));
  hub_.faults.adds = false;
  EXPECT_EQ(fetch().received, kWeights + 24);
}

TEST_F(Fetch, GivesTheTokenToTheHubAlone) {
  hub_.faults.token = "secret";
  EXPECT_THAT(refused(), HasSubstr("the hub answers 401: there is no such model, or it asks for a token (HF_TOKEN)"));
  options_.token = "secret";
  HubServer elsewhere;
  elsewhere.add("config.json", R"({"model_type": "gpt2"})");
  elsewhere.add("1_Pooling/config.json", "{}");
  elsewhere.add("model.safetensors", weights(), true);
  std::string other = elsewhere.address();
  hub_.faults.elsewhere = other.replace(other.find("127.0.0.1"), 9, "localhost");
  fetch();
  EXPECT_EQ(text_of(path("model.safetensors")), weights());
  EXPECT_THAT(hub_.authorisations(), Contains("Bearer secret"));
  EXPECT_THAT(elsewhere.authorisations(), testing::Each(IsEmpty()));
}

TEST_F(Fetch, RefusesWhatIsNoModel) {
  const auto looked_up = [&](const std::string& name) {
    return error_message<Error>([&] { static_cast<void>(look_up_model(name, options_)); });
  };
  EXPECT_EQ(looked_up("../etc"),
            "fetch: name: expected a model's name on the hub, such as \"owner/name\" or \"owner/name:Q4_K_M\", got "
            "\"../etc\"");
  EXPECT_THAT(looked_up("a/b/c"), HasSubstr("fetch: name: "));
  EXPECT_THAT(looked_up("a/b:"), HasSubstr("fetch: name: "));
  EXPECT_THAT(looked_up("owner/large"), HasSubstr("the hub has no such model, revision or file (404)"));
  options_.revision = "v 2";
  EXPECT_THAT(refused(), HasSubstr("(404)"));
  options_.revision = "main";
  hub_.faults.listing = "<html>";
  EXPECT_THAT(refused(), HasSubstr("?blobs=true: expected what a hub says of a model, got: "));
  options_.hub = "ftp://somewhere";
  EXPECT_EQ(refused(), "fetch: hub: expected an address that begins with https:// or http://, got \"ftp://somewhere\"");
  options_.hub = "http://127.0.0.1:1";
  EXPECT_THAT(refused(), HasSubstr("cannot look up owner/small at http://127.0.0.1:1: "));
}

TEST_F(Fetch, BringsAGgufModelInAllItsParts) {
  const std::string first = "Q4_0/small-Q4_0-00001-of-00002.gguf";
  const std::string second = "Q4_0/small-Q4_0-00002-of-00002.gguf";
  hub_.add(first, weights(), true);
  hub_.add(second, "the rest", true);
  hub_.add("small (1)-Q8_0.gguf", "another", true);
  hub_.faults.cut = 1;
  hub_.faults.cut_after = 100'000;
  const auto fetched = [&](const std::string& name) { return fetch_model(name, directory_ / "small", options_, {}); };
  const FetchReport report = fetched("owner/small:q4_0");
  EXPECT_EQ(report.model.name, "owner/small");
  EXPECT_EQ(report.model.gguf, first);
  EXPECT_EQ(report.received, kWeights + 8);
  EXPECT_EQ(text_of(path(first)), weights());
  EXPECT_EQ(text_of(path(second)), "the rest");
  EXPECT_THAT(hub_.requests(), ElementsAre(first, first + " from 100000", second));
  EXPECT_EQ(fetched("owner/small:small-Q4_0-00001-of-00002.gguf").was_there, 2);
  EXPECT_EQ(fetched("owner/small:Q8_0").received, 7);
  EXPECT_EQ(text_of(path("small (1)-Q8_0.gguf")), "another");
}

TEST_F(Fetch, SaysAtOnceWhatItWaitsFor) {
  std::vector<std::string> said;
  const FetchWatch watch = [&](const FetchProgress& at) {
    if (!at.waiting.empty() && (said.empty() || said.back() != at.waiting)) said.push_back(at.waiting);
    return true;
  };
  fetch(watch);
  EXPECT_THAT(said, Contains("asking " + options_.hub));
  EXPECT_THAT(said, Contains("asking for model.safetensors"));
  said.clear();
  options_.hub = "http://127.0.0.1:1";
  EXPECT_THAT(error_message<Error>([&] { fetch(watch); }), HasSubstr("cannot look up"));
  EXPECT_THAT(said, Contains(AllOf(HasSubstr("127.0.0.1"), HasSubstr("; trying again in 0 s"))));
  // The watch ends a wait that would be longer than the test.
  options_.patience = 1e6;
  const auto stopping = [](const FetchProgress& at) { return at.waiting.find("again") == std::string::npos; };
  EXPECT_THAT(error_message<FetchStopped>([&] { fetch(stopping); }), StartsWith("stopped; "));
}

TEST_F(Fetch, SaysWhereItCannotWrite) {
  write_file(directory_ / "small", "a file");
  EXPECT_THAT(refused(), StartsWith("cannot write "));
}

}  // namespace
}  // namespace qkv::fetch_test
