#include "qkv/model/embed.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/nn/trace.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/text/vocabulary.h"

namespace qkv::embed_test {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Tokenizer> words() {
  return std::make_shared<const Vocabulary>(std::vector<std::string>{"<pad>", "<mask>", "the", "cat", "dog", "sat"},
                                            TextForm::words);
}

Model encoder_with(EncoderHead head, std::int64_t types = 0) {
  Generator generator(3);
  return Model(Encoder({.vocabulary = 6,
                        .length = 5,
                        .layers = 1,
                        .d_model = 8,
                        .heads = 2,
                        .positions = Positions::learned,
                        .tied = head != EncoderHead::none,
                        .types = types,
                        .head = head},
                       generator),
               {.tokens = words()});
}

// The states of one text, [T][d].
std::vector<std::vector<double>> states_of(const Model& model, const std::string& text) {
  const Encoding encoding = words()->encode(text);
  const NoGradient constant;
  const auto T = static_cast<std::int64_t>(encoding.ids.size());
  const Variable hidden = std::get<Encoder>(model.network()).hidden({.ids = Tensor(encoding.ids, {1, T})});
  std::vector<std::vector<double>> states;
  for (std::int64_t t = 0; t < T; ++t) states.push_back(hidden.value().select(0, 0).select(0, t).to_vector());
  return states;
}

TEST(EmbedTexts, PoolsTheStatesOfEachText) {
  const Model model = encoder_with(EncoderHead::none);
  const std::vector<std::string> texts = {"the cat sat", "dog", "the dog sat", "cat sat"};
  const Tensor mean = embed_texts(model, texts);
  const Tensor first = embed_texts(model, texts, {.pooling = Pooling::first});
  const Tensor last = embed_texts(model, texts, {.pooling = Pooling::last});
  const Tensor most = embed_texts(model, texts, {.pooling = Pooling::max});
  const Tensor whole = embed_texts(model, texts, {.normalised = true});
  ASSERT_EQ(mean.shape(), (Shape{4, 8}));
  for (std::int64_t n = 0; n < 4; ++n) {
    const auto states = states_of(model, texts[static_cast<std::size_t>(n)]);
    double length = 0;
    for (std::int64_t d = 0; d < 8; ++d) {
      double sum = 0;
      double largest = -1e9;
      for (const auto& state : states) {
        sum += state[static_cast<std::size_t>(d)];
        largest = std::max(largest, state[static_cast<std::size_t>(d)]);
      }
      const double wanted = sum / static_cast<double>(states.size());
      EXPECT_NEAR(mean.at({n, d}), wanted, 1e-6);
      EXPECT_NEAR(first.at({n, d}), states.front()[static_cast<std::size_t>(d)], 1e-6);
      EXPECT_NEAR(last.at({n, d}), states.back()[static_cast<std::size_t>(d)], 1e-6);
      EXPECT_NEAR(most.at({n, d}), largest, 1e-6);
      length += wanted * wanted;
    }
    for (std::int64_t d = 0; d < 8; ++d) EXPECT_NEAR(whole.at({n, d}), mean.at({n, d}) / std::sqrt(length), 1e-6);
  }
}

TEST(EmbedTexts, NamesTheTextThatIsTooLong) {
  const Model model = encoder_with(EncoderHead::none);
  const std::vector<std::string> texts = {"the cat", "the cat sat the cat sat"};
  EXPECT_THAT(error_message([&] { static_cast<void>(embed_texts(model, texts)); }),
              testing::AllOf(testing::StartsWith("embed_texts: texts[1]: expected "), HasSubstr("5 tokens")));
  Generator generator(1);
  const Model both(EncoderDecoder({.source_vocabulary = 6, .vocabulary = 6, .d_model = 8, .heads = 2}, generator),
                   {.tokens = words()});
  EXPECT_EQ(error_message([&] { static_cast<void>(embed_texts(both, texts)); }),
            "embed_texts: model: expected an encoder, a decoder or two towers, got one of kind encoder-decoder");
}

TEST(EmbedTexts, OfADecoderPoolsItsNormedStates) {
  Generator generator(1);
  const Decoder decoder({.vocabulary = 6, .length = 5, .layers = 2, .d_model = 8, .heads = 2}, generator);
  const std::vector<std::string> texts = {"the cat sat", "dog", "the dog sat"};
  const Tensor last = embed_texts(Model(decoder, {.tokens = words()}), texts, {.pooling = Pooling::last});
  for (std::int64_t n = 0; n < 3; ++n) {
    const Encoding encoding = words()->encode(texts[static_cast<std::size_t>(n)]);
    const std::int64_t T = std::ssize(encoding.ids);
    Trace trace({"ln_final"});
    const NoGradient constant;
    static_cast<void>(decoder.forward(Tensor(encoding.ids, {1, T}), {.trace = &trace}));
    const std::vector<double> wanted = trace["ln_final"].view().select(0, 0).select(0, T - 1).to_vector();
    for (std::int64_t d = 0; d < 8; ++d) EXPECT_NEAR(last.at({n, d}), wanted[static_cast<std::size_t>(d)], 1e-5);
  }
}

TEST(EmbedTexts, LeavesOutWhatIsLongerThanItsLengthAndSaysSo) {
  const Model model = encoder_with(EncoderHead::none);
  const std::vector<std::string> texts = {"the cat", "the cat sat the cat sat"};
  std::vector<std::pair<std::size_t, std::int64_t>> cut;
  const EmbedOptions options{.length = 3,
                             .cut = [&](std::size_t n, std::int64_t tokens) { cut.emplace_back(n, tokens); }};
  const Tensor vectors = embed_texts(model, texts, options);
  EXPECT_THAT(cut, testing::ElementsAre(testing::Pair(1, 6)));
  const std::vector<std::string> whole = {"the cat", "the cat sat"};
  EXPECT_EQ(vectors.to_vector(), embed_texts(model, whole).to_vector());
}

TEST(EmbedTexts, KeepsTheTokensOfATemplateWhereItCuts) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "vocab.txt", std::string("[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\n"));
  Generator generator(3);
  const Encoder encoder({.vocabulary = 6, .length = 5, .layers = 1, .d_model = 8, .heads = 2}, generator);
  const Model model(encoder, {.tokens = read_tokenizer(directory / "")});
  const std::vector<std::string> texts = {"the cat the cat the cat"};
  const std::vector<std::string> short_one = {"the cat"};
  EXPECT_EQ(embed_texts(model, texts, {.length = 4}).to_vector(), embed_texts(model, short_one).to_vector());
}

TEST(EmbedOptions, AreThoseOfASentenceTransformer) {
  const tests::TemporaryDirectory directory;
  EXPECT_EQ(embed_options_of(directory / "").pooling, Pooling::mean);
  std::filesystem::create_directory(directory / "1_Pooling");
  const auto write = [&](const std::string& name, const std::string& text) { write_file(directory / name, text); };
  write("modules.json", R"([{"type": "sentence_transformers.models.Transformer", "path": ""},
    {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
    {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}])");
  write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  const EmbedOptions options = embed_options_of(directory / "");
  EXPECT_EQ(options.pooling, Pooling::first);
  EXPECT_TRUE(options.normalised);
  EXPECT_EQ(options.length, std::nullopt);
  write("sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})");
  EXPECT_EQ(embed_options_of(directory / "").length, 256);
  const auto message = [&] {
    return error_message<Error>([&] { static_cast<void>(embed_options_of(directory / "")); });
  };
  write("1_Pooling/config.json", R"({"pooling_mode_weightedmean_tokens": true})");
  EXPECT_THAT(message(), HasSubstr("1_Pooling/config.json: pooling_mode_weightedmean_tokens: expected false"));
  write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})");
  EXPECT_THAT(message(), HasSubstr("one pooling at a time"));
  write("modules.json", R"([{"type": "sentence_transformers.models.Dense", "path": ""}])");
  EXPECT_THAT(message(), HasSubstr("modules.json: type: expected a module Transformer, Pooling or Normalize"));
  write("sentence_bert_config.json", R"({"max_seq_length": 0})");
  EXPECT_THAT(message(), HasSubstr("sentence_bert_config.json: max_seq_length: expected 1 or more, got 0"));
  write("modules.json", "{}");
  EXPECT_THAT(message(), HasSubstr("expected a list of JSON"));
}

TEST(FillMasks, SaysWhatMayStandThere) {
  const Model model = encoder_with(EncoderHead::product);
  const std::vector<FilledMask> masks = fill_masks(model, "the <mask> sat <mask>", 6);
  ASSERT_EQ(masks.size(), 2U);
  EXPECT_EQ(masks[0].place, 1);
  EXPECT_EQ(masks[1].place, 3);
  double sum = 0;
  double before = 1;
  for (const MaskFilling& filling : masks[0].fillings) {
    EXPECT_LE(filling.probability, before);
    before = filling.probability;
    sum += filling.probability;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(fill_masks(model, "<mask>", 2).front().fillings.size(), 2U);
  const auto message = [](const Model& asked, std::string_view text) {
    return error_message([&] { static_cast<void>(fill_masks(asked, text, 3)); });
  };
  EXPECT_EQ(message(model, "the cat"),
            "fill_masks: text: expected a text with [MASK] or <mask>, as the model has it, got none");
  EXPECT_EQ(message(encoder_with(EncoderHead::none), "<mask>"),
            "fill_masks: model: expected an encoder that says tokens, got one of states alone");
}

}  // namespace
}  // namespace qkv::embed_test
