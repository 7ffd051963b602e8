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

HubModel chosen(const std::vector<std::string>& names, const std::string& choice = "") {
  HubModel model = hub::parse_listing(listing_of(names), "m", "hub");
  hub::choose_files(model, choice);
  return model;
}

std::vector<std::string> fetched(const std::vector<std::string>& names, const std::string& choice = "") {
  std::vector<std::string> all;
  for (const HubFile& file : chosen(names, choice).files) all.push_back(file.name);
  return all;
}

std::string not_chosen(const std::vector<std::string>& names, const std::string& choice) {
  return error_message<InvalidArgument>([&] { static_cast<void>(chosen(names, choice)); });
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
            "m has no safetensors and no GGUF files, which are what qkv reads");
  EXPECT_EQ(error_message<Error>([] { fetched({"model.safetensors"}); }),
            "m has no config.json, which says what its weights are");
  EXPECT_THAT(refused("[]"), HasSubstr("hub: expected what a hub says of a model, got: "));
  EXPECT_THAT(refused(R"({"sha": "x", "siblings": []})"), HasSubstr("a revision that is no commit: x"));
  EXPECT_THAT(
      refused(Json{{"sha", kCommit}, {"siblings", {{{"rfilename", "config.json"}, {"size", -1}, {"blobId", kCommit}}}}}
                  .dump()),
      HasSubstr("of config.json: no size and hash"));
}

TEST(Listing, ChoosesAGgufModelByItsTypeOrItsName) {
  const std::vector<std::string> names = {"LICENSE",        "README.md",       "X-BF16.gguf",      "X-Q4_K.gguf",
                                          "X-Q4_K_M.gguf",  "X-Q8_0.gguf",     "X-UD-Q4_K_M.gguf", "config.json",
                                          "imatrix_X.gguf", "mmproj-BF16.gguf"};
  EXPECT_THAT(fetched(names, "Q8_0"), ElementsAre("LICENSE", "X-Q8_0.gguf"));
  EXPECT_EQ(chosen(names, "Q8_0").gguf, "X-Q8_0.gguf");
  EXPECT_THAT(fetched(names, "q4_k"), ElementsAre("LICENSE", "X-Q4_K.gguf"));
  EXPECT_THAT(fetched(names, "Q4_K_M"), ElementsAre("LICENSE", "X-Q4_K_M.gguf"));
  EXPECT_THAT(fetched(names, "UD-Q4_K_M"), ElementsAre("LICENSE", "X-UD-Q4_K_M.gguf"));
  EXPECT_THAT(fetched(names, "bf16"), ElementsAre("LICENSE", "X-BF16.gguf"));
  EXPECT_THAT(fetched(names, "X-UD-Q4_K_M.gguf"), ElementsAre("LICENSE", "X-UD-Q4_K_M.gguf"));
  // Without a choice all are listed.
  const HubModel open = chosen(names);
  EXPECT_THAT(open.choices, ElementsAre("BF16", "Q4_K", "Q4_K_M", "Q8_0", "X-UD-Q4_K_M.gguf"));
  EXPECT_EQ(open.files.size(), 5U);
  EXPECT_EQ(open.gguf, "");
  EXPECT_EQ(not_chosen(names, "Q4"),
            "fetch: name: expected one of its GGUF files, as in \"m:Q4_K_M\": BF16 (0.0 MB), Q4_K (0.0 MB), "
            "Q4_K_M (0.0 MB), Q8_0 (0.0 MB), X-UD-Q4_K_M.gguf (0.0 MB), got \"m:Q4\"");
  EXPECT_THAT(not_chosen(names, "mmproj-BF16.gguf"), HasSubstr("got \"m:mmproj-BF16.gguf\""));
}

TEST(Listing, BringsAllPartsOfASplitGgufModel) {
  const std::vector<std::string> names = {"Q4_0/big-Q4_0-00002-of-00002.gguf", "Q4_0/big-Q4_0-00001-of-00002.gguf",
                                          "Q8_0/big-Q8_0-00001-of-00003.gguf", "Q8_0/big-Q8_0-00003-of-00003.gguf"};
  EXPECT_THAT(fetched(names, "Q4_0"),
              ElementsAre("Q4_0/big-Q4_0-00001-of-00002.gguf", "Q4_0/big-Q4_0-00002-of-00002.gguf"));
  EXPECT_EQ(fetched(names, "big-Q4_0-00002-of-00002.gguf"), fetched(names, "Q4_0"));
  EXPECT_EQ(chosen(names, "Q4_0").gguf, "Q4_0/big-Q4_0-00001-of-00002.gguf");
  EXPECT_THAT(chosen(names).choices, ElementsAre("Q4_0", "Q8_0"));
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(chosen(names, "Q8_0")); }),
            "m has 2 of the 3 parts of Q8_0/big-Q8_0-00001-of-00003.gguf");
}

TEST(Listing, NeedsNoChoiceWhereThereIsNone) {
  EXPECT_THAT(fetched({"only.Q4_1.gguf", "tokenizer.json"}), ElementsAre("only.Q4_1.gguf"));
  // safetensors come first, and GGUF files beside them where they are asked for.
  const std::vector<std::string> both = {"config.json", "ggml-model-q4_0.gguf", "model.safetensors"};
  EXPECT_THAT(fetched(both), ElementsAre("config.json", "model.safetensors"));
  EXPECT_THAT(fetched(both, "Q4_0"), ElementsAre("ggml-model-q4_0.gguf"));
  EXPECT_EQ(not_chosen({"config.json", "model.safetensors"}, "Q4_0"),
            "fetch: name: expected \"m\", which has no GGUF files to choose from, got \"m:Q4_0\"");
  // One type of two models is no choice.
  const std::vector<std::string> sizes = {"a-13b.Q4_0.gguf", "a-7b.Q4_0.gguf"};
  EXPECT_THAT(chosen(sizes).choices, ElementsAre("a-13b.Q4_0.gguf", "a-7b.Q4_0.gguf"));
  EXPECT_THAT(not_chosen(sizes, "Q4_0"), HasSubstr("as in \"m:a-13b.Q4_0.gguf\""));
  EXPECT_THAT(fetched({"../x-Q4_0.gguf", "/x-Q5_0.gguf", "a/../x-Q6_K.gguf", "x-Q8_0.gguf"}),
              ElementsAre("x-Q8_0.gguf"));
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

TEST(Listing, HasTheTokenizerAndTheChatTemplateInAllTheirForms) {
  const std::vector<std::string> names = {"chat_template.jinja", "config.json", "source.spm",
                                          "target.spm",          "vocab.json",  "model.safetensors"};
  EXPECT_EQ(fetched(names), names);
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
