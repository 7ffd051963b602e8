// How often a page in one file runs its model.
#include <gmock/gmock.h>

#include "file/explain_page.h"
#include "file/view_page.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "nn/passes.h"
#include "qkv/files.h"
#include "qkv/model/convert.h"
#include "server/pages.h"

namespace qkv::page_passes_test {
namespace {

class PagePasses : public testing::Test {
 protected:
  void SetUp() override {
    if (studio::built_pages().page.empty()) GTEST_SKIP() << "this build has no pages: " << studio::why_without_pages();
  }

  // With the explanation that it shows.
  static std::int64_t of_explain_page(const ExplainRequest& asked) {
    const OpenedModel model = open_model(asked.model);
    const std::int64_t before = passes_of_thread();
    const Explanation explanation = explanation_of(asked, model);
    page_ = studio::explain_page(asked, explanation, model);
    return passes_of_thread() - before;
  }

  static inline std::string page_;
};

ExplainRequest request_for(const std::string& model, const std::string& text) {
  ExplainRequest request;
  request.model = model;
  request.text = text;
  return request;
}

// One, and for each layer one without each of its heads.
TEST_F(PagePasses, OfAnExplanationAreThoseOfTheExplanation) {
  constexpr std::int64_t kLayers = 4;
  EXPECT_EQ(of_explain_page(request_for("gpt", "The cat sat")), 1 + kLayers);
  EXPECT_THAT(page_, testing::HasSubstr("#/heads?"));  // which shows the same pass
  EXPECT_THAT(page_, testing::HasSubstr("#/step?"));
}

// A folder as others publish them, and the same as GGUF.
TEST_F(PagePasses, AreThoseOfTheExplanationWhateverTheModelLiesIn) {
  const tests::TemporaryDirectory directory;
  tests::put_chat_model(directory / "llama");
  std::string tokenizer = tests::chat_tokenizer();
  constexpr std::string_view kPlain = "\"use_regex\": false";  // which GGUF has no word for
  tokenizer.replace(tokenizer.find(kPlain), kPlain.size(), "\"use_regex\": true");
  write_file(directory / "llama/tokenizer.json", tokenizer);
  static_cast<void>(convert_model(directory / "llama", directory / "llama.gguf"));
  constexpr std::int64_t kLayers = 2;
  for (const char* name : {"llama", "llama.gguf"}) {
    EXPECT_EQ(of_explain_page(request_for(directory / name, "abcabc")), 1 + kLayers) << name;
    EXPECT_THAT(page_, testing::HasSubstr("#/heads?")) << name;
  }
}

// Encoder and decoder once each, the decoder once for each token that it writes, and both for each layer that a removed
// head reaches: as many as the explanation by itself.
TEST_F(PagePasses, WriteAnAnswerOnce) {
  const ExplainRequest asked = request_for("translation", "the dog sleeps");
  const OpenedModel model = open_model(asked.model);
  const std::int64_t before = passes_of_thread();
  static_cast<void>(explanation_of(asked, model));
  const std::int64_t of_explanation = passes_of_thread() - before;
  EXPECT_EQ(of_explain_page(asked), of_explanation);
}

// The page shows the explanation with the answer that was asked for, and the heads of the text alone.
TEST_F(PagePasses, ReadATextAnewWithoutItsAnswer) {
  ExplainRequest asked = request_for("gpt", "The cat sat");
  asked.answer = 2;
  const OpenedModel model = open_model(asked.model);
  const std::int64_t before = passes_of_thread();
  static_cast<void>(explanation_of(asked, model));
  const std::int64_t of_explanation = passes_of_thread() - before;
  EXPECT_EQ(of_explain_page(asked), of_explanation + 1);
}

TEST_F(PagePasses, OfAnExportedViewAreOne) {
  const std::int64_t before = passes_of_thread();
  const std::string page = studio::view_page({.model = "gpt", .text = "The cat sat"}, open_model("gpt"));
  EXPECT_EQ(passes_of_thread() - before, 1);
  EXPECT_THAT(page, testing::HasSubstr("#/heads?"));
}

}  // namespace
}  // namespace qkv::page_passes_test
