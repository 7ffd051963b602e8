// How often each face runs a model for an answer.
#include "nn/passes.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "ask.h"
#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/api/lens.h"
#include "qkv/api/roles.h"
#include "qkv/api/texts.h"
#include "qkv/files.h"
#include "qkv/png.h"

namespace qkv::passes_test {
namespace {

using tests::TemporaryDirectory;

// In a studio of its own.
std::int64_t passes_of(const std::string& question, const Json& request) {
  const std::int64_t before = passes_of_thread();
  static_cast<void>(ask(question, request.dump()));
  return passes_of_thread() - before;
}

Json of_text(const std::string& model, const std::string& text) { return {{"model", model}, {"text", text}}; }

Json with(Json request, const Json& more) {
  request.update(more);
  return request;
}

std::string put_picture(const TemporaryDirectory& directory, const std::string& name, std::uint8_t level) {
  Tensor picture(DType::u8, {48, 48, 3});
  for (std::uint8_t& one : picture.values<std::uint8_t>()) one = level;
  write_file(directory / name, encode_png(picture));
  return directory / name;
}

HeadsFound heads_of(const std::string& model, std::int64_t count) {
  AnalyzeRequest request;
  request.model = model;
  request.count = count;
  request.importance = 0;
  return found_heads(request);
}

constexpr std::int64_t kLayersOfGpt = 4;

// One that shows the text, and one for each layer, without each of its heads side by side.
TEST(Passes, OfExplain) { EXPECT_EQ(passes_of("explain", of_text("gpt", "The cat sat")), 1 + kLayersOfGpt); }

// Nor is the whole of it cut into tokens.
TEST(Passes, OfATextThatNoModelHereReadsAreNone) {
  const std::string endless(5'000'000, 'a');
  const auto said = [&](const auto& asked) {
    const std::int64_t before = passes_of_thread();
    const std::string message = error_message<InvalidArgument>([&] { static_cast<void>(asked()); });
    EXPECT_EQ(passes_of_thread(), before);
    return message;
  };
  const auto lens = [&](const std::string& model) {
    LensRequest request;
    request.model = model;
    request.of.text = endless;
    return said([&] { return found_lens(request); });
  };
  EXPECT_EQ(lens("induction"),
            "request: text: expected a text of at most 32 tokens, for which there are learned positions, got 5000000 "
            "bytes, of which the first 4352 are 4352 tokens");
  EXPECT_THAT(lens("gpt"), testing::MatchesRegex("request: text: expected at most about .* tokens, whose pass takes "
                                                 ".* GB here, got 5000000.*"));
  AnalyzeRequest analyze;
  analyze.model = "gpt";
  analyze.texts = {endless};
  EXPECT_THAT(said([&] { return found_heads(analyze); }), testing::HasSubstr("texts: expected at most about "));
  EmbedRequest embedding;
  embedding.model = "gpt";
  embedding.text = endless;
  EXPECT_THAT(said([&] { return embed(embedding, {}); }), testing::HasSubstr("text: expected at most about "));
  Studio studio;
  EXPECT_THAT(
      said([&] { return studio.ask("heads", of_text("gpt", endless).dump()); }),
      testing::HasSubstr("at most 1024 tokens; longer texts are for the page Far, got 5000000 bytes, of which"));
}

// Whatever the pages Heads and Step ask of one text.
TEST(Passes, OfAllQuestionsAboutATextsHeads) {
  Studio studio;
  const auto passes = [&](const std::string& question, const Json& request) {
    const std::int64_t before = passes_of_thread();
    static_cast<void>(studio.ask(question, request.dump()));
    return passes_of_thread() - before;
  };
  const Json text = of_text("gpt", "The cat sat");
  const Json head = with(text, {{"layer", 1}, {"head", 2}});
  EXPECT_EQ(passes("heads", text), 1);
  EXPECT_EQ(passes("head", head), 0);
  EXPECT_EQ(passes("head_parts", head), 0);
  EXPECT_EQ(passes("pair", with(head, {{"query", 2}, {"key", 1}})), 0);
  EXPECT_EQ(passes("bench", with(head, {{"query", 2}})), 0);
  EXPECT_EQ(passes("number", with(head, {{"query", 2}, {"of", "weights:2,1"}})), 0);
  // Its edge is cut in scores of the text as it is, which another pass gave.
  EXPECT_EQ(passes("head", with(head, {{"changes", "cut 1.2=2:1"}})), 2);
  EXPECT_EQ(passes("head", with(head, {{"changes", "remove 1.2"}})), 1);
}

// Encoder and decoder, each once, and the decoder once for each token that it writes.
TEST(Passes, OfAnEncoderDecoder) {
  const Answer heads = ask("heads", R"({"model": "translation", "example": 0})");
  ASSERT_EQ(heads.json["sites"].size(), 3U);
  EXPECT_EQ(passes_of("heads", {{"model", "translation"}, {"example", 0}}), 2);
  EXPECT_EQ(passes_of("probe", {{"model", "translation"}, {"example", 0}, {"stats", true}}), 2);
}

// States after all layers are read out, which is no pass.
TEST(Passes, OfLensAndProbe) {
  const Json text = of_text("gpt", "The cat sat");
  EXPECT_EQ(passes_of("lens", text), 1);
  EXPECT_EQ(passes_of("lens", with(text, {{"against", " the"}})), 1);
  EXPECT_EQ(passes_of("probe", with(text, {{"stats", true}})), 1);
  EXPECT_EQ(passes_of("probe", with(text, {{"row", 1}, {"stage", "ds"}})), 1);  // recorded, for its backward pass
}

// As it is and as it is changed, and the other text once, whatever is taken from it.
TEST(Passes, OfAChange) {
  const Json text = of_text("gpt", "The cat sat down");
  const Json other = with(text, {{"from_text", "The dog sat down"}});
  EXPECT_EQ(passes_of("change", with(text, {{"untouched", true}})), 1);
  for (const char* change : {"remove 1.0", "cut 1.0=2:1", "pattern 1.0=uniform", "set 1.0=k:2,5:0.7", "freeze norms"}) {
    EXPECT_EQ(passes_of("change", with(text, {{"changes", {change}}})), 2) << change;
  }
  EXPECT_EQ(passes_of("change", with(text, {{"changes", {"cut 1.0=2:1", "freeze norms", "remove 2.0"}}})), 2);
  EXPECT_EQ(passes_of("change", with(other, {{"patch", {"blocks.1"}}})), 3);
  EXPECT_EQ(passes_of("change", with(other, {{"patch", {"blocks.1"}}, {"pattern", {"2.0=text"}}})), 3);
  EXPECT_EQ(passes_of("change", with(other, {{"patch", {"blocks.1"}}, {"against", " the"}})), 3);
}

TEST(Passes, OfASweep) {
  const Json text = of_text("gpt", "The cat sat down");
  const std::int64_t tokens = std::ssize(ask("heads", text.dump()).json["sites"][0]["queries"]);
  // The whole pass, and one for each layer without each of its heads; beside a change a pass for each head.
  EXPECT_EQ(passes_of("change", with(text, {{"sweep", "heads"}})), 1 + kLayersOfGpt);
  const Json induction = of_text("induction", "abcxyzab");
  EXPECT_EQ(passes_of("change", with(induction, {{"sweep", "heads"}, {"freeze_norms", true}})), 1 + 1 + 2);
  // Both texts, and one for each place of the embeddings and of each layer's output.
  const Json places = {{"sweep", "places"}, {"from_text", "The dog sat down"}};
  EXPECT_EQ(passes_of("change", with(text, places)), 2 + (1 + kLayersOfGpt) * tokens);
}

// Each text as it is and as it is changed, and the other text once for all.
TEST(Passes, OfAChangeOfManyTexts) {
  const Json many = {{"model", "induction"}, {"examples", 4}};
  EXPECT_EQ(passes_of("change", with(many, {{"remove", {"1.0"}}})), 2 * 4);
  EXPECT_EQ(passes_of("change", with(many, {{"cut", {"1.0=3:2"}}})), 2 * 4);
  EXPECT_EQ(passes_of("change", with(many, {{"untouched", true}})), 4);
}

// Texts of one length side by side; random tokens that come twice, likewise; the task's patterns from the same passes.
TEST(Passes, OfAnalyze) {
  const TemporaryDirectory directory;
  const std::string file = directory / "texts.txt";
  std::ofstream(file) << "abcxyzab\nxyzabcxy\nabcabcab\nabc\n";
  const Json own = {{"model", "induction"}, {"file", file}, {"importance", 0}};
  EXPECT_EQ(passes_of("analyze", own), 2 + 1);
  // Of the texts that ask, two lengths: one with gradients, one that the next go on from, and one for each layer.
  EXPECT_EQ(passes_of("analyze", with(own, {{"importance", 4}})), 2 + 1 + 2 * (1 + 1 + 2));
  const HeadsFound found = heads_of("induction", 8);
  ASSERT_FALSE(found.analysis->patterns.empty());
  std::set<std::size_t> lengths;
  for (const HeadText& text : found.texts.texts) lengths.insert(text.ids.size());
  const std::int64_t passes = std::ssize(lengths) + 1;
  EXPECT_EQ(passes_of("analyze", {{"model", "induction"}, {"count", 8}, {"importance", 0}}), passes);
}

// Pictures of the first text share a pass, which runs when one of them is drawn.
TEST(Passes, OfPicturesOfHeads) {
  const HeadsFound found = heads_of("induction", 2);
  const std::int64_t before = passes_of_thread();
  for (const Drawing& one : heads_drawings(found)) {
    static_cast<void>(one.svg());
    static_cast<void>(one.png());
  }
  EXPECT_EQ(passes_of_thread() - before, 1);
}

// Texts end to end, as long as they have up to 256 tokens together.
TEST(Passes, OfEmbedAndFill) {
  const TemporaryDirectory directory;
  const std::string file = directory / "texts.txt";
  std::ofstream(file) << "the cats are small\nthe dog sleeps\nthe cat sees the dog\n";
  EXPECT_EQ(passes_of("embed", of_text("english", "the cats are small")), 1);
  EXPECT_EQ(passes_of("embed", {{"model", "english"}, {"file", file}}), 1);
  EXPECT_EQ(passes_of("fill", of_text("english", "the cats <be> small")), 1);
}

// Each picture and each caption by its tower.
TEST(Passes, OfMatch) {
  const TemporaryDirectory directory;
  const Json pictures = {put_picture(directory, "a.png", 255), put_picture(directory, "b.png", 0)};
  const Json captions = {"a red circle", "a blue square", "a green triangle"};
  EXPECT_EQ(passes_of("match", {{"images", pictures}, {"captions", captions}}), 2 + 3);
}

}  // namespace
}  // namespace qkv::passes_test
