// The strings and ids that llama.cpp publishes for three tokenizers of real models.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "conformance/data_folder.h"
#include "qkv/text/read_tokenizer.h"
#include "text/gguf_tokenizer.h"
#include "text/gguf_vocabulary.h"
#include "text/model_proto.h"

namespace qkv::conformance_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> parts_of(const fs::path& path) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = std::min(end + separator.size(), text.size());
  }
  return parts;
}

std::vector<std::vector<std::int32_t>> ids_in(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::int32_t>> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    all.emplace_back(std::istream_iterator<std::int32_t>(numbers), std::istream_iterator<std::int32_t>());
  }
  return all;
}

void expect_ids(const Tokenizer& tokenizer, const fs::path& folder, const std::string& name) {
  const std::vector<std::string> texts = parts_of(folder / (name + ".inp"));
  const auto expected = ids_in(folder / (name + ".out"));
  ASSERT_EQ(texts.size(), 46U);
  ASSERT_EQ(expected.size(), texts.size());
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const auto ids = tokenizer.encode(texts[n], {.special = SpecialTokens::without}).ids;
    EXPECT_EQ(ids, expected[n]) << "string " << n << ": " << texts[n];
  }
}

class TokenizerConformance : public testing::TestWithParam<std::string> {};

TEST_P(TokenizerConformance, GivesTheIdsOfLlamaCpp) {
  const auto folder = conformance::data_folder("tokenizer");
  if (!folder) GTEST_SKIP() << conformance::missing_data("tokenizer");
  const std::string name = "ggml-vocab-" + GetParam() + ".gguf";
  const auto tokenizer =
      parse_tokenizer_json(tests::tokenizer_json(tests::read_gguf_vocabulary(*folder / name)).dump(), name);
  expect_ids(*tokenizer, *folder, name);
}

// As a model of the file has it.
TEST_P(TokenizerConformance, GivesTheIdsOfLlamaCppFromMetadata) {
  const auto folder = conformance::data_folder("tokenizer");
  if (!folder) GTEST_SKIP() << conformance::missing_data("tokenizer");
  const std::string name = "ggml-vocab-" + GetParam() + ".gguf";
  const Gguf file = Gguf::read((*folder / name).string());
  std::vector<std::string> cautions;
  const auto tokenizer = text::gguf_tokenizer(files::GgufKeys(file), cautions);
  EXPECT_THAT(cautions, testing::IsEmpty());
  expect_ids(*tokenizer, *folder, name);
}

// The file that the vocabulary was made from: BPE that leaves spaces as they are.
TEST(TokenizerModelConformance, GivesTheIdsOfLlamaCpp) {
  const auto folder = conformance::data_folder("tokenizer");
  if (!folder) GTEST_SKIP() << conformance::missing_data("tokenizer");
  const std::string name = "ggml-vocab-llama-spm.gguf";
  const tests::GgufVocabulary vocabulary = tests::read_gguf_vocabulary(*folder / name);
  tests::ModelProto model{.trainer = {.numbers = {{3, 2}, {35, 1}}}, .normalizer = {.numbers = {{4, 0}}}};
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    model.pieces.push_back({.text = vocabulary.tokens[id],
                            .score = static_cast<float>(vocabulary.scores[id]),
                            .type = vocabulary.types[id]});
  }
  expect_ids(*tests::tokenizer_of(tests::bytes_of(model)), *folder, name);
}

INSTANTIATE_TEST_SUITE_P(All, TokenizerConformance, testing::Values("bert-bge", "gpt-2", "llama-spm"),
                         [](const auto& item) {
                           std::string name = item.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace qkv::conformance_test
