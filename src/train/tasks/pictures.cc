#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "qkv/captions.h"
#include "qkv/files.h"
#include "qkv/image.h"
#include "qkv/png.h"
#include "qkv/train/picture_task.h"
#include "train/tasks/generated_task.h"

namespace qkv {
namespace {

constexpr const char* kPictureTask = "PictureTask";
constexpr std::size_t kWords = 8188;
constexpr float kLevels = 255;

void require(bool holds, std::string_view argument, const std::string& expected, std::int64_t got) {
  if (!holds) throw InvalidArgument(kPictureTask, argument, expected, std::to_string(got));
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

std::vector<std::uint8_t> bytes_of(const Tensor& image) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(image.size()));
  for (const float value : image.values<float>()) {
    bytes.push_back(static_cast<std::uint8_t>(std::lround(value * kLevels)));
  }
  return bytes;
}

}  // namespace

struct PictureTask::Loaded {
  std::vector<std::uint8_t> pixels;
  std::vector<std::string> words;
  std::uint64_t hash = 0;  // of the file
  Split split = Split::train;
};

namespace {

// The most frequent first; of equals the one that comes first in the alphabet.
template <class Examples>
Vocabulary vocabulary_of(const Examples& examples) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& example : examples) {
    if (example.split == Split::test) continue;
    for (const std::string& word : example.words) ++counts[word];
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, {}, [](const auto& counted) { return std::pair(-counted.second, counted.first); });
  sorted.resize(std::min(sorted.size(), kWords));
  std::vector<std::string> tokens = {"<pad>", "<s>", "</s>", "<unknown>"};
  for (const auto& [word, count] : sorted) tokens.push_back(word);
  return {std::move(tokens), TextForm::words};
}

template <class Examples>
std::int64_t longest(const Examples& examples) {
  std::size_t most = 0;
  for (const auto& example : examples) most = std::max(most, example.words.size());
  return static_cast<std::int64_t>(most) + 1;
}

// By their hash, which is an order without meaning; whoever has the same picture is in the same split.
template <class Examples>
void split(Examples& examples, const std::string& directory) {
  std::ranges::sort(examples, {}, [](const auto& example) { return std::tie(example.hash, example.words); });
  const std::uint64_t first = examples.front().hash;
  if (first == examples.back().hash) {
    throw FileError(directory, "expected two different pictures or more, to learn from and to be examined with, got 1");
  }
  std::size_t held_out = 0;
  for (auto& example : examples) {
    example.split = training::split_of_hash(example.hash);
    held_out += example.split == Split::test ? 1 : 0;
  }
  if (held_out != 0 && held_out != examples.size()) return;
  const Split missing = held_out == 0 ? Split::test : Split::train;
  for (auto& example : examples) {
    if (example.hash == first) example.split = missing;
  }
}

}  // namespace

std::vector<std::string> caption_words(std::string_view caption) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < caption.size();) {
    while (at < caption.size() && (is_space(caption[at]) || is_punctuation(caption[at]))) ++at;
    std::size_t end = at;
    while (end < caption.size() && !is_space(caption[end])) ++end;
    std::size_t last = end;
    while (last > at && is_punctuation(caption[last - 1])) --last;
    std::string word;
    for (; at < last; ++at) {
      word += small(caption[at]);
      if (caption[at] == '\'') words.push_back(std::exchange(word, {}));
    }
    if (!word.empty()) words.push_back(std::move(word));
    at = end;
  }
  return words;
}

std::vector<PictureTask::Loaded> PictureTask::load(const std::string& directory, const PictureTaskOptions& options) {
  require(options.image_side > 0, "image_side", "more than 0", options.image_side);
  require(options.patch_side > 0, "patch_side", "more than 0", options.patch_side);
  require(options.image_side % options.patch_side == 0, "patch_side",
          "a divisor of `image_side`, " + std::to_string(options.image_side), options.patch_side);
  std::vector<Loaded> loaded;
  for (const CaptionedPicture& picture : read_captions(directory)) {
    const std::vector<std::byte> file = read_file(picture.file);
    Loaded example{.pixels = bytes_of(image_of(decode_png(file, picture.file), options.image_side)),
                   .words = caption_words(picture.caption),
                   .hash = training::hash_of(file)};
    if (example.words.empty()) {
      throw FileError(picture.source, "expected a caption with a word in it, got \"" + picture.caption + "\"");
    }
    loaded.push_back(std::move(example));
  }
  split(loaded, directory);
  return loaded;
}

PictureTask::PictureTask(const std::string& directory, const PictureTaskOptions& options)
    : PictureTask(load(directory, options), directory, options) {}

PictureTask::PictureTask(const std::vector<Loaded>& loaded, const std::string& directory,
                         const PictureTaskOptions& options)
    : info_{.name = "pictures",
            .description = "Say what the pictures of " + directory + " show",
            .kind = TaskKind::image_text,
            .accuracy = 0,
            .length = std::nullopt},
      lengths_{
          .tokens = longest(loaded), .source = 0, .image_side = options.image_side, .patch_side = options.patch_side},
      vocabulary_(vocabulary_of(loaded)),
      seed_(options.seed) {
  const std::int32_t unknown = vocabulary_.id("<unknown>");
  for (const Loaded& example : loaded) {
    Entry entry{.pixels = example.pixels, .words = {}};
    for (const std::string& word : example.words) entry.words.push_back(vocabulary_.find(word).value_or(unknown));
    (example.split == Split::train ? train_ : test_).push_back(std::move(entry));
  }
}

const std::vector<PictureTask::Entry>& PictureTask::entries(Split split) const noexcept {
  return split == Split::train ? train_ : test_;
}

std::optional<std::int64_t> PictureTask::count(Split split) const noexcept {
  return static_cast<std::int64_t>(entries(split).size());
}

std::optional<std::uint64_t> PictureTask::data_hash() const {
  std::vector<std::uint64_t> hashes;
  for (const Split split : {Split::train, Split::test}) {
    for (const Entry& entry : entries(split)) {
      hashes.push_back(training::hash_of(std::as_bytes(std::span(entry.pixels))));
      hashes.push_back(training::hash_of(std::span<const std::int32_t>(entry.words)));
    }
    hashes.push_back(entries(split).size());
  }
  return training::hash_of(std::as_bytes(std::span(hashes)));
}

Example PictureTask::example(Split split, std::int64_t n) const {
  if (n < 0) throw InvalidArgument("Task::example", "n", "0 or more", std::to_string(n));
  const auto count = static_cast<std::int64_t>(entries(split).size());
  std::int64_t place = n % count;
  if (split == Split::train) {
    // Steps of a width that has no divisor with the count come to each place once.
    training::TaskRandom random({.seed = seed_, .task = training::task_number(info_.name), .n = n / count});
    const std::int64_t start = random.between(0, count - 1);
    std::int64_t width = random.between(1, count);
    while (std::gcd(width, count) != 1) width = random.between(1, count);
    place = (start + place * width) % count;
  }
  const Entry& entry = entries(split)[static_cast<std::size_t>(place)];
  Example example;
  example.image = Tensor(DType::f32, {3, lengths_.image_side, lengths_.image_side});
  std::ranges::transform(entry.pixels, example.image.values<float>().begin(),
                         [](std::uint8_t level) { return static_cast<float>(level) / kLevels; });
  example.tokens.push_back(vocabulary_.id("<s>"));
  example.tokens.insert(example.tokens.end(), entry.words.begin(), entry.words.end());
  example.labels.assign(entry.words.begin(), entry.words.end());
  example.labels.emplace_back(vocabulary_.id("</s>"));
  example.scored.assign(example.tokens.size(), true);
  return example;
}

}  // namespace qkv
