#include "qkv/train/picture_task.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/png.h"
#include "qkv/random.h"

namespace qkv::picture_task_test {
namespace {

using testing::ElementsAre;
using tests::TemporaryDirectory;

Tensor plain(std::int64_t height, std::int64_t width, std::uint8_t level) {
  Tensor picture(DType::u8, {height, width, 3});
  std::ranges::fill(picture.values<std::uint8_t>(), level);
  return picture;
}

Tensor noise(std::uint64_t seed, std::int64_t height, std::int64_t width) {
  return Generator(seed).randint(0, 256, {height, width, 3}).to(DType::u8);
}

void write_picture(const TemporaryDirectory& directory, const std::string& name, const Tensor& picture,
                   const std::string& caption) {
  // Not write_file(), which waits for the disk.
  const std::vector<std::byte> bytes = encode_png(picture);
  std::ofstream(directory / name + ".png", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  std::ofstream(directory / name + ".txt") << caption;
}

// `count` plain pictures, each of its own grey, whose caption ends on its number.
void write_greys(const TemporaryDirectory& directory, int count) {
  for (int n = 0; n < count; ++n) {
    write_picture(directory, "grey" + std::to_string(n), plain(5, 9, static_cast<std::uint8_t>(n)),
                  "Grey, number " + std::to_string(n) + ".");
  }
}

PictureTaskOptions small() { return {.image_side = 8, .patch_side = 4}; }

TEST(CaptionWords, StandBetweenSpaceAndPunctuation) {
  EXPECT_THAT(caption_words("A red-brown Fox, (asleep)\n on 'the' <s> sofa."),
              ElementsAre("a", "red-brown", "fox", "asleep", "on", "the", "s", "sofa"));
  EXPECT_THAT(caption_words("the dog's l'ours \u00c9l\u00e9phants'"),
              ElementsAre("the", "dog'", "s", "l'", "ours", "\u00c9l\u00e9phants"));
  EXPECT_THAT(caption_words(" -- ... "), ElementsAre());
}

TEST(PictureTask, AsksForTheWordsOfTheCaption) {
  const TemporaryDirectory directory;
  write_greys(directory, 40);
  const PictureTask task(directory.path(), small());
  EXPECT_EQ(task.info().kind, TaskKind::image_text);
  EXPECT_EQ(task.lengths().tokens, 4);
  EXPECT_EQ(task.lengths().image_side, 8);
  EXPECT_EQ(task.lengths().patches(), 4);
  const Example example = task.example(Split::train, 3);
  EXPECT_EQ(example.image.shape().to_string(), "[3, 8, 8]");
  const auto grey = static_cast<int>(std::lround(255 * example.image.at({2, 7, 7})));
  EXPECT_EQ(task.vocabulary().decode(example.tokens), "<s> grey number " + std::to_string(grey));
  ASSERT_EQ(example.labels.size(), 4U);
  for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(example.labels[p], example.tokens[p + 1]);
  EXPECT_EQ(task.vocabulary().piece(*example.labels[3]), "</s>");
  EXPECT_EQ(example.scored, std::vector<bool>(4, true));
  EXPECT_NE(show(task, example).find("number"), std::string::npos);
}

std::string text_of(const PictureTask& task, Split split, std::int64_t n) {
  const Example example = task.example(split, n);
  return task.vocabulary().decode(example.tokens) + std::to_string(example.image.at({0, 0, 0}));
}

TEST(PictureTask, GoesThroughEachPictureInAnOrderOfItsOwn) {
  const TemporaryDirectory directory;
  write_greys(directory, 60);
  const PictureTask task(directory.path(), small());
  const std::int64_t count = task.count(Split::train).value();
  EXPECT_EQ(count + task.count(Split::test).value(), 60);
  EXPECT_GT(task.count(Split::test).value(), 1);
  std::vector<std::vector<std::string>> rounds(2);
  for (std::int64_t n = 0; n < 2 * count; ++n) {
    rounds[static_cast<std::size_t>(n / count)].push_back(text_of(task, Split::train, n));
  }
  EXPECT_NE(rounds[0], rounds[1]);
  const std::set<std::string> first(rounds[0].begin(), rounds[0].end());
  EXPECT_EQ(std::ssize(first), count);
  EXPECT_EQ(first, std::set<std::string>(rounds[1].begin(), rounds[1].end()));
  for (std::int64_t n = 0; n < task.count(Split::test).value(); ++n) {
    EXPECT_FALSE(first.contains(text_of(task, Split::test, n)));
    EXPECT_EQ(text_of(task, Split::test, n), text_of(task, Split::test, n + task.count(Split::test).value()));
  }
  // Of another seed, another order of the same pictures; of the same, the same.
  PictureTaskOptions other = small();
  other.seed = 1;
  EXPECT_NE(text_of(PictureTask(directory.path(), other), Split::train, 0), rounds[0][0]);
  EXPECT_EQ(text_of(PictureTask(directory.path(), small()), Split::train, 0), rounds[0][0]);
}

TEST(PictureTask, KnowsTheWordsOfTheTrainingSplitOnly) {
  const TemporaryDirectory directory;
  write_greys(directory, 40);
  const PictureTask task(directory.path(), small());
  EXPECT_EQ(task.vocabulary().piece(4), "grey");
  EXPECT_EQ(task.vocabulary().size(), 4 + 2 + task.count(Split::train).value());
  EXPECT_TRUE(text_of(task, Split::test, 0).starts_with("<s> grey number <unknown>"));
}

TEST(PictureTask, HasAnotherHashForAnotherPixelOrWord) {
  const auto hash = [](std::uint8_t level, const std::string& caption) {
    const TemporaryDirectory directory;
    write_greys(directory, 30);
    write_picture(directory, "more", plain(8, 8, level), caption);
    return PictureTask(directory.path(), small()).data_hash();
  };
  EXPECT_EQ(hash(200, "grey number 3"), hash(200, "grey number 3"));
  EXPECT_NE(hash(200, "grey number 3"), hash(201, "grey number 3"));
  EXPECT_NE(hash(200, "grey number 3"), hash(200, "grey grey 3"));
}

TEST(PictureTask, LeavesNoSplitEmpty) {
  for (int count = 2; count < 6; ++count) {
    const TemporaryDirectory directory;
    write_greys(directory, count);
    const PictureTask task(directory.path(), small());
    EXPECT_GE(task.count(Split::test).value(), 1);
    EXPECT_GE(task.count(Split::train).value(), 1);
  }
}

TEST(PictureTask, KeepsTheCaptionsOfAPictureTogether) {
  for (std::uint8_t level = 0; level < 8; ++level) {
    const TemporaryDirectory directory;
    write_picture(directory, "a", plain(4, 4, level), "one");
    write_picture(directory, "b", plain(4, 4, level), "two");
    write_picture(directory, "c", plain(4, 4, 99), "three");
    const PictureTask task(directory.path(), small());
    std::set<double> trained;
    for (std::int64_t n = 0; n < task.count(Split::train).value(); ++n) {
      trained.insert(task.example(Split::train, n).image.at({0, 0, 0}));
    }
    EXPECT_FALSE(trained.contains(task.example(Split::test, 0).image.at({0, 0, 0})));
  }
}

TEST(PictureTask, SaysWhichFileIsWrong) {
  const TemporaryDirectory directory;
  const auto refusal = [&] { return error_message<Error>([&] { PictureTask task(directory.path(), small()); }); };
  write_picture(directory, "a", plain(4, 4, 7), "a fox");
  EXPECT_EQ(refusal(), directory.path() +
                           ": expected two different pictures or more, to learn from and to be examined with, got 1");
  write_picture(directory, "b", plain(4, 4, 8), " ... ");
  EXPECT_EQ(refusal(), directory / "b.txt" + ": expected a caption with a word in it, got \"...\"");
  write_file(directory / "b.txt", std::string_view("a bird"));
  const std::vector<std::byte> whole = encode_png(noise(1, 9, 9));
  write_file(directory / "b.png", std::span(whole).first(100));
  EXPECT_EQ(refusal(), directory / "b.png" + ": damaged or truncated PNG: read beyond end of data");
  std::filesystem::remove(directory / "b.txt");
  EXPECT_EQ(refusal(), directory / "b.png" + ": expected its caption in " + directory / "b.txt" + ", got no such file");
}

TEST(PictureTask, RefusesSidesThatDoNotFit) {
  const auto message = [](const PictureTaskOptions& options) {
    return error_message([&] { PictureTask task("anywhere", options); });
  };
  EXPECT_EQ(message({.image_side = 0}), "PictureTask: image_side: expected more than 0, got 0");
  EXPECT_EQ(message({.patch_side = 0}), "PictureTask: patch_side: expected more than 0, got 0");
  EXPECT_EQ(message({.image_side = 48, .patch_side = 7}),
            "PictureTask: patch_side: expected a divisor of `image_side`, 48, got 7");
  const TemporaryDirectory directory;
  write_greys(directory, 3);
  EXPECT_EQ(error_message([&] { static_cast<void>(PictureTask(directory.path(), small()).example(Split::train, -1)); }),
            "Task::example: n: expected 0 or more, got -1");
}

}  // namespace
}  // namespace qkv::picture_task_test
