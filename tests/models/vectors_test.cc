// Texts as vectors, by folders that sentence-transformers has saved (make_vectors.py).
#include <gmock/gmock.h>

#include <sstream>

#include "models/models_folder.h"
#include "qkv/model/embed.h"

namespace qkv::vectors_test {
namespace {

constexpr double kNear = 2e-6;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

TEST(Vectors, AreThoseOfSentenceTransformers) {
  const std::filesystem::path folder = tests::models_folder() / "vectors";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder << ": make test-models makes it";
  int folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    SCOPED_TRACE(path);
    const Safetensors file = Safetensors::read(path + "/expected-vectors.safetensors");
    const Tensor wanted = file.load("vectors");
    const EmbedOptions options = embed_options_of(path);
    EXPECT_THAT(options.cautions, testing::IsEmpty());
    const Tensor got = embed_texts(Model::open(path), lines_of(file.metadata().at("texts")), options);
    ASSERT_EQ(got.shape(), wanted.shape());
    EXPECT_THAT(got.to_vector(), testing::Pointwise(testing::DoubleNear(kNear), wanted.to_vector()));
    ++folders;
  }
  EXPECT_GE(folders, 25);
}

}  // namespace
}  // namespace qkv::vectors_test
