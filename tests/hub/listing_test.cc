// Which files of a model are fetched.
#include "hub/listing.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "hub/hash.h"
#include "qkv/files.h"

namespace qkv::listing_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

const std::string kCommit(40, 'c');

std::string listing_of(const std::vector<std::string>& names) {
  Json reply{{"sha", kCommit}, {"siblings", Json::array()}};
  for (const std::string& name : names) {
    reply["siblings"].push_back({{"rfilename", name}, {"size", 7}, {"blobId", std::string(40, 'b')}});
  }
  return reply.dump();
}

std::vector<std::string> fetched(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const HubFile& file : hub::files_to_fetch(hub::parse_listing(listing_of(names), "m", "hub"))) {
    all.push_back(file.name);
  }
  return all;
}

std::string refused(const std::string& json) {
  return error_message<Error>([&] { (void)hub::parse_listing(json, "m", "hub"); });
}

TEST(Listing, PrefersOneFileToShards) {
  EXPECT_THAT(fetched({"model.safetensors", "config.json", "model-00001-of-00001.safetensors",
                       "model.safetensors.index.json", "tf_model.h5", "onnx/model.onnx"}),
              ElementsAre("config.json", "model.safetensors"));
  EXPECT_THAT(fetched({"model-00002-of-00002.safetensors", "config.json", "model-00001-of-00002.safetensors",
                       "model.safetensors.index.json", "consolidated.safetensors"}),
              ElementsAre("config.json", "model-00002-of-00002.safetensors", "model-00001-of-00002.safetensors",
                          "model.safetensors.index.json"));
}

TEST(Listing, TakesNoFileOutsideOfTheFolder) {
  EXPECT_THAT(fetched({"config.json", "model.safetensors", "../config.json", "/etc/config.json",
                       "../model-00001-of-00001.safetensors"}),
              ElementsAre("config.json", "model.safetensors"));
}

TEST(Listing, RefusesWhatHasNoWeightsAndWhatSaysNothing) {
  EXPECT_EQ(error_message<Error>([] { fetched({"config.json", "pytorch_model.bin"}); }),
            "m has no model.safetensors and no shards of one, which is what qkv reads");
  EXPECT_EQ(error_message<Error>([] { fetched({"model.safetensors"}); }),
            "m has no config.json, which says what its weights are");
  EXPECT_THAT(refused("[]"), HasSubstr("hub: expected what a hub says of a model, got: "));
  EXPECT_THAT(refused(R"({"sha": "x", "siblings": []})"), HasSubstr("a revision that is no commit: x"));
  EXPECT_THAT(
      refused(Json{{"sha", kCommit}, {"siblings", {{{"rfilename", "config.json"}, {"size", -1}, {"blobId", kCommit}}}}}
                  .dump()),
      HasSubstr("of config.json: no size and hash"));
}

// As sha256sum and git hash-object print them.
TEST(Listing, HashesAreThoseOfTheTools) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "f", "hello\n");
  EXPECT_TRUE(hub::is_whole(directory / "f", 6, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"));
  EXPECT_TRUE(hub::is_whole(directory / "f", 6, "ce013625030ba8dba906f756967f9e9ca394464a"));
  EXPECT_FALSE(hub::is_whole(directory / "f", 6, "ce013625030ba8dba906f756967f9e9ca394464b"));
  EXPECT_FALSE(hub::is_whole(directory / "f", 5, "ce013625030ba8dba906f756967f9e9ca394464a"));
  EXPECT_FALSE(hub::is_whole(directory / "none", 0, std::string(40, '0')));
}

TEST(Listing, HasTheModulesOfASentenceTransformer) {
  EXPECT_THAT(
      fetched({"config.json", "modules.json", "1_Pooling/config.json", "2_Dense/config.json",
               "2_Dense/model.safetensors", "2_Dense/pytorch_model.bin", "onnx/config.json", "model.safetensors"}),
      ElementsAre("config.json", "modules.json", "1_Pooling/config.json", "2_Dense/config.json",
                  "2_Dense/model.safetensors", "model.safetensors"));
  EXPECT_THAT(fetched({"modules.json", "0_Transformer/config.json", "0_Transformer/vocab.txt",
                       "0_Transformer/model.safetensors", "1_Pooling/config.json"}),
              ElementsAre("modules.json", "0_Transformer/config.json", "0_Transformer/vocab.txt",
                          "0_Transformer/model.safetensors", "1_Pooling/config.json"));
}

}  // namespace
}  // namespace qkv::listing_test
