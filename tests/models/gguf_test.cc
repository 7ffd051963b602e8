// GGUF files held against the folders that they were made from, and SmolLM2 against what `transformers` makes of the
// same file.
#include <gmock/gmock.h>

#include <algorithm>

#include "files/temporary_directory.h"
#include "models/expected.h"
#include "models/models_folder.h"
#include "qkv/model/model.h"

namespace qkv::gguf_models_test {
namespace {

using tests::expect_site;
using tests::Inputs;
using tests::kNear;
using tests::largest_difference;

constexpr const char* kFile = "/model.gguf";

std::vector<std::string> converted_models() {
  std::vector<std::string> names = tests::made_models();
  std::erase_if(names, [](const std::string& name) {
    return name == "smollm2" || !std::filesystem::exists(tests::models_folder() / name / "model.gguf");
  });
  return names.empty() ? std::vector<std::string>{""} : names;
}

class GgufFamilies : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) {
      GTEST_SKIP() << "no GGUF files in " << tests::models_folder() << ": make test-models makes them";
    }
  }

  [[nodiscard]] std::string folder() const { return tests::models_folder() / GetParam(); }
  [[nodiscard]] Safetensors expected() const { return Safetensors::read(folder() + "/expected.safetensors"); }
};

TEST_P(GgufFamilies, HaveTheConfigOfTheFolder) {
  ModelConfig of_file = Model::open(folder() + kFile).config();
  ModelConfig of_folder = Model::open(folder()).config();
  for (ModelConfig* config : {&of_file, &of_folder}) {
    // What llama.cpp leaves out: the head of a BERT, and how long T5's texts were.
    for (const char* word : {"head", "head_activation"}) config->erase(word);
  }
  EXPECT_EQ(of_file, of_folder);
}

TEST_P(GgufFamilies, HaveTheHiddenStatesAndAttentionOfEachLayer) {
  const Safetensors wanted = expected();
  const Model model = Model::open(folder() + kFile);
  Trace trace({"*.resid_pre", "*.resid_post", "*ln_final", "*.attn.weights", "*.cross.weights", "*logits"});
  model.run(Inputs(wanted).all(), trace);
  const bool has_source = wanted.contains("source");
  if (model.scores_tokens()) {
    EXPECT_LT(largest_difference(trace[has_source ? "decoder.logits" : "logits"], wanted.load("logits")), kNear);
  }
  if (has_source) {
    expect_site(trace, wanted, {"decoder.", "hidden.", "weights."});
    expect_site(trace, wanted, {"encoder.", "source.hidden.", "source.weights."});
    expect_site(trace, wanted, {"decoder.", "", "cross.", "cross"});
  } else {
    expect_site(trace, wanted, {"", "hidden.", "weights."});
  }
}

TEST_P(GgufFamilies, WriteTheSameText) {
  const Safetensors wanted = expected();
  if (!wanted.contains("greedy")) GTEST_SKIP() << "it writes no text";
  const Tensor greedy = wanted.load("greedy");
  const Model model = Model::open(folder() + kFile);
  const NewTokens written = model.generate(Inputs(wanted).to_write_from(), {.most = greedy.dim(1)});
  std::vector<double> all;
  for (const auto& text : written) all.insert(all.end(), text.begin(), text.end());
  EXPECT_EQ(all, greedy.to_vector());
}

TEST_P(GgufFamilies, ComeBackFromAFileOfOurs) {
  const Model model = Model::open(folder() + kFile);
  const tests::TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  model.save(path);
  const Model again = Model::open(path);
  EXPECT_EQ(again.config(), model.config());
  const Parameters left = model.parameters();
  const Parameters right = again.parameters();
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t n = 0; n < left.size(); ++n) {
    EXPECT_EQ(left[n].value.value().to_vector(), right[n].value.value().to_vector()) << left[n].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Made, GgufFamilies, testing::ValuesIn(converted_models()), [](const auto& one) {
  std::string name = one.param.empty() ? "none" : one.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace qkv::gguf_models_test
