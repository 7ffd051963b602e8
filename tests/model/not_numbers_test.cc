// Weights that hold NaN or an infinity: every answer is an error that names the weight, none is made up.
#include <gmock/gmock.h>

#include <limits>

#include "core/error_message.h"
#include "model/published_folder.h"
#include "qkv/model/embed.h"
#include "qkv/model/model.h"

namespace qkv::not_numbers_test {
namespace {

using testing::HasSubstr;
using tests::PublishedFolder;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor ids() { return Tensor(std::vector<std::int64_t>{3, 1, 4}, {1, 3}); }

void damage(PublishedFolder& folder, const std::string& name, double value) {
  folder.tensors.at(name).values<float>().front() = static_cast<float>(value);
}

TEST(NotNumbers, WriteNoText) {
  PublishedFolder folder("llama");
  damage(folder, "layers.0.self_attn.q_proj.weight", kNan);
  const Model model = folder.open();
  const auto message = [&](const GenerateOptions& options) {
    return error_message<Error>([&] { static_cast<void>(model.generate({.ids = ids()}, options)); });
  };
  constexpr const char* kWanted =
      "generate: the scores of the next token are not all numbers: blocks.0.attn.q.weight holds NaN";
  EXPECT_EQ(message({.most = 2}), kWanted);
  EXPECT_EQ(message({.most = 2, .temperature = 1}), kWanted);
  EXPECT_EQ(message({.most = 2, .temperature = 1, .top_k = 2, .top_p = 0.5}), kWanted);
  EXPECT_EQ(message({.most = 2, .beams = 3}), kWanted);
}

TEST(NotNumbers, InfinitiesAreNamedToo) {
  PublishedFolder folder("gpt2");
  damage(folder, "h.1.attn.c_proj.bias", std::numeric_limits<double>::infinity());
  const Model model = folder.open();
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(model.generate({.ids = ids()}, {.most = 1})); }),
              HasSubstr("not all numbers: blocks.1.attn.out.bias holds an infinity"));
}

TEST(NotNumbers, SaySoWhereThePassItselfLeavesTheRange) {
  PublishedFolder folder("gpt2");
  damage(folder, "h.1.attn.c_proj.bias", 3e38);
  for (float& value : folder.tensors.at("h.1.mlp.c_proj.bias").values<float>()) value = 3e38F;
  const Model model = folder.open();
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(model.generate({.ids = ids()}, {.most = 1})); }),
              HasSubstr("no parameter holds NaN or an infinity, so that the pass itself left the range of f32"));
}

TEST(NotNumbers, FillAndEmbedNothing) {
  PublishedFolder folder("bert");
  folder.put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n");
  damage(folder, "encoder.layer.1.output.dense.weight", kNan);
  const Model model = folder.open();
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(fill_masks(model, "a [MASK]", 2)); }),
              HasSubstr("fill_masks: the scores at token 2 are not all numbers: blocks.1.ffn.down.weight holds NaN"));
  const std::vector<std::string> texts = {"a b"};
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(embed_texts(model, texts)); }),
              HasSubstr("the numbers of texts[0] are not all numbers: blocks.1.ffn.down.weight holds NaN"));
}

}  // namespace
}  // namespace qkv::not_numbers_test
