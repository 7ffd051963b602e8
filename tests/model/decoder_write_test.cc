// What a decoder writes over caches that grow, that are shared, and that are of other types.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "core/error_message.h"
#include "qkv/model/decoder.h"
#include "qkv/random.h"

namespace qkv::decoder_write_test {
namespace {

Decoder small(std::uint64_t seed = 3) {
  Generator generator(seed);
  DecoderOptions options{.vocabulary = 11, .length = 64, .layers = 2, .d_model = 16, .heads = 4, .tied = false};
  options.choices.kv_heads = 2;
  return {options, generator};
}

// Scores of the whole text, read anew for each token.
NewTokens read_anew(const Decoder& decoder, const Tensor& prompt, const GenerateOptions& options) {
  std::vector<Tensor> all;
  return generate(prompt, options, [&](const TensorView& ids) {
    Tensor text(DType::i64, {ids.dim(0), 0});
    all.emplace_back(Tensor(ids, DType::i64));
    std::vector<std::int64_t> rows;
    for (std::int64_t b = 0; b < ids.dim(0); ++b) {
      for (const Tensor& part : all) {
        const std::vector<double> row = part.view().select(0, b).to_vector();
        rows.insert(rows.end(), row.begin(), row.end());
      }
    }
    const auto length = std::ssize(rows) / ids.dim(0);
    return decoder.forward(Tensor(rows, {ids.dim(0), length}));
  });
}

TEST(DecoderWrite, ReadsEqualPromptsOnceAndDrawsForEach) {
  const Decoder decoder = small();
  const Tensor prompt(std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6}, {5, 3});
  for (const double temperature : {0.0, 3.0}) {
    const GenerateOptions options{.most = 12, .temperature = temperature, .seed = 7};
    const NewTokens written = decoder.generate(prompt, options);
    EXPECT_EQ(written, read_anew(decoder, prompt, options));
    EXPECT_EQ(written[0] == written[2], temperature == 0);
  }
  // Beams of equal prompts, and a text that goes out of its window.
  const NewTokens beams = decoder.generate(prompt, {.most = 6, .beams = 3});
  EXPECT_EQ(beams[0], beams[2]);
  const Tensor alone(std::vector<std::int64_t>{1, 2, 3}, {1, 3});
  EXPECT_EQ(beams[3], decoder.generate(alone, {.most = 6, .beams = 3}).front());
  EXPECT_EQ(decoder.generate(prompt, {.most = 9, .window = 5})[2],
            decoder.generate(alone, {.most = 9, .window = 5}).front());
}

TEST(DecoderWrite, WritesOnWhereItIs) {
  const Decoder decoder = small();
  KeptText kept;
  const auto write = [&](std::vector<std::int64_t> text, std::int64_t most) {
    const auto length = std::ssize(text);
    return decoder.write_on(Tensor(text, {1, length}), kept, {.most = most}).front();
  };
  std::vector<std::int64_t> text = {1, 2, 3, 4};
  const std::vector<std::int64_t> first = write(text, 5);
  EXPECT_EQ(first, decoder.generate(Tensor(text, {1, 4}), {.most = 5}).front());
  EXPECT_EQ(kept.computed, 8);
  text.insert(text.end(), first.begin(), first.end());
  EXPECT_EQ(kept.tokens, std::vector<std::int64_t>(text.begin(), text.end() - 1));
  text.push_back(9);
  const std::vector<std::int64_t> second = write(text, 3);
  EXPECT_EQ(kept.computed, 8 + 2 + 2);
  EXPECT_EQ(second, decoder.generate(Tensor(text, {1, 10}), {.most = 3}).front());
  // Another text has its beginning in common; the same text computes its last token again.
  text[5] = text[5] == 2 ? 3 : 2;
  EXPECT_EQ(write(text, 1), decoder.generate(Tensor(text, {1, 10}), {.most = 1}).front());
  EXPECT_EQ(kept.computed, 12 + 5);
  static_cast<void>(write(text, 1));
  EXPECT_EQ(kept.computed, 12 + 5 + 1);
  // A cache of another type begins anew.
  static_cast<void>(decoder.write_on(Tensor(text, {1, 10}), kept, {.most = 1, .cache_dtype = DType::bf16}));
  EXPECT_EQ(kept.computed, 18 + 10);
}

Decoder with_a_window(std::int64_t window = 5) {
  Generator generator(3);
  DecoderOptions options{.vocabulary = 11, .length = 1000, .layers = 2, .d_model = 16, .heads = 4, .tied = false};
  options.positions = Positions::rotary;
  options.choices.windows = {window, 0};
  return {options, generator};
}

// The layer that sees 5 tokens keeps 4 + 2 * 64 of them at most.
TEST(DecoderWrite, KeepsWhatAWindowShowsAlone) {
  const Decoder decoder = with_a_window();
  const Tensor prompt = Generator(5).randint(0, 11, {1, 300});
  const NewTokens written = decoder.generate(prompt, {.most = 40});
  EXPECT_EQ(written, read_anew(decoder, prompt, {.most = 40}));
  EXPECT_EQ(decoder.generate(prompt, {.most = 4, .beams = 3}).front().size(), 4U);
  DecoderCache cache = decoder.make_cache(1, 300);
  static_cast<void>(decoder.forward_cached(prompt, cache));
  EXPECT_LE(cache.blocks[0].tokens.length(0), 132);
  EXPECT_EQ(cache.blocks[0].tokens.forgotten(0) + cache.blocks[0].tokens.length(0), 300);
  EXPECT_EQ(cache.blocks[1].tokens.length(0), 300);
  EXPECT_LT(cache.blocks[0].tokens.bytes(), cache.blocks[1].tokens.bytes());
  const std::int64_t of_token = token_bytes({.Hk = 4, .D = 4, .dtype = DType::f32});
  EXPECT_EQ(decoder.cache_bytes(300, DType::f32), of_token * (132 + 300));
}

// A text goes on from a little before its end; from further back it is read anew.
TEST(DecoderWrite, ReadsAnewWhatAWindowHasForgotten) {
  const Decoder decoder = with_a_window();
  KeptText kept;
  const std::vector<double> drawn = Generator(5).randint(0, 11, {300}).to_vector();
  std::vector<std::int64_t> text(drawn.begin(), drawn.end());
  const auto write = [&] {
    const Tensor prompt(text, {1, std::ssize(text)});
    const auto written = decoder.write_on(prompt, kept, {.most = 3}).front();
    EXPECT_EQ(written, decoder.generate(prompt, {.most = 3}).front());
  };
  write();
  EXPECT_EQ(kept.computed, 302);
  text[280] = text[280] == 7 ? 6 : 7;
  write();
  EXPECT_EQ(kept.computed, 302 + 22);
  text[20] = text[20] == 8 ? 6 : 8;
  write();
  EXPECT_EQ(kept.computed, 324 + 302);
}

// A window of one token needs nothing of what came before; the place of the next token stays.
TEST(DecoderWrite, GoesOnBehindAWindowOfOneToken) {
  const Decoder decoder = with_a_window(1);
  const Tensor text = Generator(5).randint(0, 11, {1, 300});
  DecoderCache cache = decoder.make_cache(1, 300);
  static_cast<void>(decoder.forward_cached(text, cache));
  const std::int64_t forgotten = cache.blocks[0].tokens.forgotten(0);
  ASSERT_GT(forgotten, 0);
  EXPECT_EQ(cache.truncate(forgotten), 0);
  EXPECT_EQ(cache.length, 0);
  static_cast<void>(decoder.forward_cached(text, cache));
  EXPECT_EQ(cache.truncate(forgotten + 1), forgotten + 1);
  EXPECT_EQ(cache.truncate(forgotten), 0);
}

// Of more than 12 tokens all turn otherwise.
Decoder turned_anew() {
  Generator generator(3);
  DecoderOptions options{.vocabulary = 11, .length = 1000, .layers = 2, .d_model = 16, .heads = 4, .tied = false};
  options.positions = Positions::rotary;
  options.choices.rotary_scaling = LongRopeScaling{
      .shorter = {1, 1.5}, .longer = {0.3, 0.1}, .original_max = 12, .shorter_magnitude = 1.1, .longer_magnitude = 1.6};
  return {options, generator};
}

TEST(DecoderWrite, ReadsAnewATextThatGrowsLong) {
  const Decoder decoder = turned_anew();
  const Tensor prompt = Generator(5).randint(0, 11, {3, 9});
  EXPECT_EQ(decoder.generate(prompt, {.most = 8}), read_anew(decoder, prompt, {.most = 8}));
  KeptText kept;
  const std::vector<double> drawn = Generator(6).randint(0, 11, {20}).to_vector();
  // Across the border in one call, beyond it, and back.
  for (const std::int64_t length : {9, 14, 10, 12, 20, 3}) {
    const Tensor text(std::vector<std::int64_t>(drawn.begin(), drawn.begin() + length), {1, length});
    EXPECT_EQ(decoder.write_on(text, kept, {.most = 4}).front(), read_anew(decoder, text, {.most = 4}).front())
        << length;
  }
}

TEST(DecoderWrite, RefusesACacheOfATextThatGrowsLong) {
  const Decoder decoder = turned_anew();
  DecoderCache cache = decoder.make_cache(1, 20);
  static_cast<void>(decoder.forward_cached(Generator(5).randint(0, 11, {1, 12}), cache));
  EXPECT_EQ(error_message([&] {
              static_cast<void>(decoder.forward_cached(Tensor(std::vector<std::int64_t>{1}, {1, 1}), cache));
            }),
            "MultiHeadAttention: cache: expected none where a text grows beyond 12 tokens, since all of it turns "
            "otherwise then, got one of 12 tokens");
}

TEST(DecoderWrite, RefusesWhatDoesNotFit) {
  const Decoder decoder = small();
  KeptText kept;
  const auto message = [&](const Tensor& prompt, const GenerateOptions& options) {
    return error_message([&] { static_cast<void>(decoder.write_on(prompt, kept, options)); });
  };
  const Tensor text(std::vector<std::int64_t>{1, 2, 3}, {1, 3});
  EXPECT_EQ(message(text, {.most = 4, .window = 5}),
            "Decoder: most: expected no more than fits behind the prompt of 3 tokens into the window of 5, got 4");
  EXPECT_EQ(message(text, {.most = 3, .window = 5}), "nothing was thrown");
  EXPECT_EQ(message(Tensor(std::vector<std::int64_t>{1, 2}, {2, 1}), {}),
            "Decoder: prompt: expected one row, [1, T], got [2, 1]");
  EXPECT_EQ(message(text, {.cache_dtype = DType::f64}),
            "generate: cache_dtype: expected f32, f16, bf16 or i8, got f64");
}

// Twice what the whole pass in bf16 differs by: its keys and values are rounded so, and all else, too. i8 rounds to
// half of 1/127 of the largest, about twice as far, and f16 eight times less.
TEST(DecoderWrite, KeepsKeysAndValuesInOtherTypes) {
  const Decoder decoder = small();
  Generator generator(5);
  const Tensor ids = generator.randint(0, 11, {1, 40});
  const std::vector<double> exact = decoder.forward(ids).value().to_vector();
  const auto error = [&](const std::vector<double>& scores) {
    double sum = 0;
    for (std::size_t n = 0; n < exact.size(); ++n) sum += (scores[n] - exact[n]) * (scores[n] - exact[n]);
    return std::sqrt(sum / static_cast<double>(exact.size()));
  };
  const auto over = [&](DType dtype) {
    DecoderCache cache = decoder.make_cache(1, 40, dtype);
    return error(decoder.forward_cached(ids, cache).value().to_vector());
  };
  const double bf16 = error(decoder.forward(ids, {.dtype = DType::bf16}).value().to_vector());
  EXPECT_GT(over(DType::f16), over(DType::f32));
  EXPECT_LT(over(DType::f16), bf16 / 4);
  EXPECT_GT(over(DType::bf16), over(DType::f16));
  EXPECT_LT(over(DType::bf16), 2 * bf16);
  EXPECT_GT(over(DType::i8), over(DType::f16));
  EXPECT_LT(over(DType::i8), 4 * bf16);
}

TEST(DecoderWrite, MakesRoomInACacheAndForgetsTokens) {
  const Decoder decoder = small();
  const Tensor prompt(std::vector<std::int64_t>{1, 2, 3, 4}, {2, 2});
  DecoderCache cache = decoder.make_cache(2, 3);
  const auto scores = [&](DecoderCache& over, const Tensor& ids) {
    return decoder.forward_cached(ids, over).value().to_vector();
  };
  static_cast<void>(scores(cache, prompt));
  DecoderCache large = decoder.make_cache(2, 30);
  static_cast<void>(scores(large, prompt));
  cache.make_room(5, 30);
  EXPECT_EQ(cache.blocks.front().tokens.capacity(0), 6);
  cache.make_room(20, 30);
  EXPECT_EQ(cache.blocks.front().tokens.capacity(0), 20);
  cache.make_room(21, 30);
  EXPECT_EQ(cache.blocks.back().tokens.capacity(0), 30);
  EXPECT_EQ(scores(cache, prompt), scores(large, prompt));
  cache.truncate(1);
  EXPECT_EQ(cache.length, 1);
  EXPECT_EQ(cache.blocks.back().tokens.length(1), 1);
}

// A cache is made for 1,024 tokens beyond the prompt, and grows.
TEST(DecoderWrite, GoesOnWhereItsCacheGrows) {
  const Decoder decoder = small();
  const std::vector<std::int64_t> prompt = {1, 2};
  const NewTokens written = decoder.generate(Tensor(prompt, {1, 2}), {.most = 1100});
  ASSERT_EQ(written[0].size(), 1100U);
  std::vector<std::int64_t> text = prompt;
  text.insert(text.end(), written[0].begin(), written[0].end());
  const Tensor scores(decoder.forward(Tensor(text, {1, std::ssize(text)})).value().select(0, 0));
  for (std::int64_t t = 1000; t + 1 < std::ssize(text); ++t) {
    const std::vector<double> row = scores.view().select(0, t).to_vector();
    EXPECT_EQ(text[static_cast<std::size_t>(t) + 1], std::ranges::max_element(row) - row.begin()) << t;
  }
}

}  // namespace
}  // namespace qkv::decoder_write_test
