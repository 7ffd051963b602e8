// Pictures and captions through folders of CLIP and SigLIP, as their authors' program scores them.
#include "qkv/model/match.h"

#include <gmock/gmock.h>

#include <sstream>

#include "models/models_folder.h"
#include "qkv/train/trained_model.h"

namespace qkv::match_test {
namespace {

class Pairs : public testing::TestWithParam<std::string> {};

TEST_P(Pairs, HaveTheScoresAndProbabilitiesOfTheirAuthors) {
  const std::filesystem::path folder = tests::models_folder() / GetParam();
  if (!std::filesystem::exists(folder / "expected-pairs.safetensors")) {
    GTEST_SKIP() << "no pairs in " << folder << ": make test-models makes them";
  }
  const Safetensors wanted = Safetensors::read((folder / "expected-pairs.safetensors").string());
  const Tensor all = wanted.load("pictures");
  std::vector<Tensor> pictures;
  for (std::int64_t n = 0; n < all.dim(0); ++n) pictures.emplace_back(all.view().select(0, n));
  std::vector<std::string> captions;
  std::istringstream lines(wanted.metadata().at("captions"));
  for (std::string caption; std::getline(lines, caption);) captions.push_back(caption);
  const PairMatch match = match_pairs(TrainedModel::read(folder.string()), pictures, captions);
  const std::vector<double> logits = wanted.load("logits").to_vector();
  const std::vector<double> probabilities = wanted.load("probabilities").to_vector();
  EXPECT_THAT(match.scores.to_vector(), testing::Pointwise(testing::DoubleNear(1e-4), logits));
  EXPECT_THAT(match.probabilities.to_vector(), testing::Pointwise(testing::DoubleNear(1e-5), probabilities));
}

INSTANTIATE_TEST_SUITE_P(Made, Pairs, testing::Values("clip-pairs", "siglip-pairs"), [](const auto& one) {
  return one.param == "clip-pairs" ? std::string("clip") : std::string("siglip");
});

}  // namespace
}  // namespace qkv::match_test
