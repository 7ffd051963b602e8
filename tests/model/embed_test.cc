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
  const Tensor first = embed_texts(model, texts, {.pooling = {Pooling::first}});
  const Tensor last = embed_texts(model, texts, {.pooling = {Pooling::last}});
  const Tensor most = embed_texts(model, texts, {.pooling = {Pooling::max}});
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
  const Tensor last = embed_texts(Model(decoder, {.tokens = words()}), texts, {.pooling = {Pooling::last}});
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

TEST(PooledStates, AreTheFormulasOfEachPooling) {
  const Tensor states(std::vector<double>{1, 8, 2, -4, 4, 6}, {3, 2});
  const auto pooled = [&](std::vector<Pooling> pooling, std::int64_t begin = 0) {
    return pooled_states(states, pooling, begin);
  };
  using testing::DoubleNear;
  using testing::ElementsAre;
  const auto near = [](double x) { return DoubleNear(x, 1e-12); };
  EXPECT_THAT(pooled({Pooling::first, Pooling::max}), ElementsAre(1, 8, 4, 8));
  EXPECT_THAT(pooled({Pooling::weightedmean}), ElementsAre(near(17.0 / 6), near(3)));
  EXPECT_THAT(pooled({Pooling::mean_sqrt_len_tokens}),
              ElementsAre(near(7 / std::sqrt(3.0)), near(10 / std::sqrt(3.0))));
  // Without the first row the weights of the others stay 2 and 3.
  EXPECT_THAT(pooled({Pooling::weightedmean}, 1), ElementsAre(near(16.0 / 5), near(2)));
  EXPECT_THAT(pooled({Pooling::first, Pooling::mean}, 1), ElementsAre(2, -4, 3, 1));
  EXPECT_EQ(error_message([&] { static_cast<void>(pooled({Pooling::mean}, 3)); }),
            "pooled_states: begin: expected a token that is pooled, or more, got none: all 3 are the prompt's");
  EXPECT_THAT(poolings_named("cls,weightedmean"), ElementsAre(Pooling::first, Pooling::weightedmean));
  EXPECT_THAT(
      error_message([] { static_cast<void>(poolings_named("mean,")); }),
      HasSubstr("one of mean, first (cls), last (lasttoken), max, weightedmean, mean_sqrt_len_tokens, got \"\""));
}

TEST(VectorOfStates, CutsTheWidthAfterTheStepsAndNormalisesLast) {
  const Tensor states(std::vector<double>{3, 4, 12}, {1, 3});
  EmbedOptions options{.steps = {{.module = "2_Normalize", .normalises = true}}, .width = 2};
  EXPECT_THAT(vector_of_states(states, options), testing::ElementsAre(3.0 / 13, 4.0 / 13));
  options.normalised = true;
  EXPECT_NEAR(vector_of_states(states, options)[0], 0.6, 1e-12);
}

TEST(EmbedTexts, LeavesOutThePromptAndTheBeginning) {
  const Model model = encoder_with(EncoderHead::none);
  const std::vector<std::string> texts = {"sat the cat"};
  const auto states = states_of(model, "dog sat the cat");
  const Tensor prompted =
      embed_texts(model, texts, {.pooling = {Pooling::first}, .prompt = "dog ", .pools_prompt = false});
  for (std::int64_t d = 0; d < 8; ++d) EXPECT_NEAR(prompted.at({0, d}), states[1][static_cast<std::size_t>(d)], 1e-6);
  const std::vector<std::string> rest = {"the cat"};
  EXPECT_EQ(embed_texts(model, texts, {.length = 2, .cut_at = CutAt::beginning}).to_vector(),
            embed_texts(model, rest).to_vector());
  EXPECT_THAT(error_message([&] {
                const std::vector<std::string> other = {"the cat", "a bird"};
                static_cast<void>(embed_texts(model, other));
              }),
              testing::StartsWith("embed_texts: texts[1]: expected a piece of the vocabulary"));
}

TEST(EmbedTexts, RefusesWeightsThatAreNotFinite) {
  const Model model = encoder_with(EncoderHead::none);
  for (const Parameter& parameter : model.parameters()) {
    if (!parameter.name.ends_with("ln_final.weight")) continue;
    Tensor value(parameter.value.value());
    value.values<float>()[3] = std::nanf("");
    Variable(parameter.value).replace_value(std::move(value));
  }
  const std::vector<std::string> texts = {"the cat"};
  for (const Pooling pooling : {Pooling::mean, Pooling::max}) {
    EXPECT_THAT(error_message<Error>([&] { static_cast<void>(embed_texts(model, texts, {.pooling = {pooling}})); }),
                HasSubstr("the numbers of texts[0] are not all numbers: "));
  }
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
