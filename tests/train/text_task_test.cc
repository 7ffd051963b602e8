#include "qkv/train/text_task.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/text/train_tokenizer.h"

namespace qkv::text_task_test {
namespace {

// "été 0 été 1 été 2 …"
std::string some_text(int words) {
  std::string text;
  for (int n = 0; n < words; ++n) text += "été " + std::to_string(n) + " ";
  return text;
}

TEST(TextTask, AsksForTheNextCharacter) {
  const std::string text = some_text(300);
  const auto task = make_text_task(text, "the text", {.seed = 3, .length = 20});
  for (const Split split : {Split::train, Split::test}) {
    for (std::int64_t n = 0; n < 50; ++n) {
      const Example example = task->example(split, n);
      ASSERT_EQ(example.tokens.size(), 20U);
      std::vector<std::int32_t> shifted(example.tokens.begin() + 1, example.tokens.end());
      shifted.push_back(*example.labels.back());
      for (std::size_t p = 0; p < 20; ++p) EXPECT_EQ(example.labels[p], shifted[p]);
      std::vector<std::int32_t> all = example.tokens;
      all.push_back(shifted.back());
      EXPECT_NE(text.find(task->vocabulary().decode(all)), std::string::npos);
    }
  }
}

TEST(TextTask, HoldsTheLastEighthBack) {
  const std::string text = std::string(700, 'a') + std::string(100, 'b');
  const auto task = make_text_task(text, "the text", {.length = 10});
  for (std::int64_t n = 0; n < 400; ++n) {
    const std::string trained = task->vocabulary().decode(task->example(Split::train, n).tokens);
    const std::string examined = task->vocabulary().decode(task->example(Split::test, n).tokens);
    EXPECT_EQ(trained, "aaaaaaaaaa");
    EXPECT_EQ(examined, "bbbbbbbbbb");
  }
}

TEST(TextTask, GivesTheSameExamplesForASeed) {
  const std::string text = some_text(300);
  const auto one = make_text_task(text, "the text", {.seed = 5, .length = 20});
  const auto two = make_text_task(text, "the text", {.seed = 5, .length = 20});
  const auto other = make_text_task(text, "the text", {.seed = 6, .length = 20});
  int differing = 0;
  for (std::int64_t n = 0; n < 20; ++n) {
    EXPECT_EQ(one->example(Split::train, n).tokens, two->example(Split::train, n).tokens);
    if (one->example(Split::train, n).tokens != other->example(Split::train, n).tokens) ++differing;
  }
  EXPECT_GT(differing, 10);
}

TEST(TextTask, CountsItsHeldOutWindows) {
  const auto task = make_text_task(some_text(300), "the text", {.length = 20});
  EXPECT_EQ(task->count(Split::train), std::nullopt);
  const std::int64_t count = task->count(Split::test).value();
  ASSERT_GT(count, 2);
  EXPECT_NE(task->example(Split::test, count - 1).tokens, task->example(Split::test, 0).tokens);
  EXPECT_EQ(task->example(Split::test, count).tokens, task->example(Split::test, 0).tokens);
}

TEST(TextTask, HasAnotherHashForAnotherCharacter) {
  const std::string text = some_text(300);
  const auto hash = [](const std::string& of) { return make_text_task(of, "the text", {.length = 20})->data_hash(); };
  EXPECT_EQ(hash(text), hash(text));
  for (const std::size_t place : {text.size() / 2, text.size() - 2}) {
    std::string other = text;
    other[place] = other[place] == '1' ? '2' : '1';
    EXPECT_NE(hash(other), hash(text)) << place;
  }
  EXPECT_EQ(make_task("copy")->data_hash(), std::nullopt);
  EXPECT_EQ(make_task("copy")->count(Split::test), std::nullopt);
}

TEST(TextTask, ReadsSpacesAndStrangers) {
  const auto task = make_text_task(some_text(300), "the text", {.length = 20});
  const Tokenizer& vocabulary = task->vocabulary();
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("été 12").ids), "été 12");
  EXPECT_EQ(vocabulary.encode("é\n").ids, (std::vector<std::int32_t>{vocabulary.id("é"), vocabulary.id("<unknown>")}));
}

TEST(TextTask, AsksForTheNextTokenOfATokenizer) {
  const std::string text = some_text(300);
  const auto tokenizer = parse_tokenizer_json(train_tokenizer(text, {.size = 270}), "the tokenizer");
  const auto task = make_text_task(text, "the text", {.length = 20, .tokenizer = tokenizer});
  EXPECT_EQ(&task->vocabulary(), tokenizer.get());
  const Example example = task->example(Split::test, 1);
  ASSERT_EQ(example.tokens.size(), 20U);
  EXPECT_EQ(example.labels[3], example.tokens[4]);
  EXPECT_NE(text.find(tokenizer->decode(example.tokens)), std::string::npos);
  EXPECT_EQ(task->info().description, "Say the next token of the text");
  EXPECT_THAT(error_message([&] {
                static_cast<void>(make_text_task("été", "book.txt", {.length = 20, .tokenizer = tokenizer}));
              }),
              testing::StartsWith("make_text_task: text: expected at least 168 tokens, of which an eighth"));
}

TEST(TextTask, RefusesWhatItCannotRead) {
  const auto message = [](const std::string& text) {
    return error_message([&] { static_cast<void>(make_text_task(text, "book.txt", {.length = 20})); });
  };
  EXPECT_EQ(message("abc"),
            "make_text_task: text: expected at least 168 characters, of which an eighth is held out, for examples "
            "of 20, got 3 in book.txt");
  EXPECT_EQ(message(std::string(200, 'a') + "\xff"),
            "make_text_task: text: expected UTF-8, got a byte that is none at offset 200 of book.txt");
}

}  // namespace
}  // namespace qkv::text_task_test
