// The captions of the task "shapes", held against what the pixels show.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "qkv/train/task.h"

namespace qkv::shapes_test {
namespace {

constexpr std::int64_t kScenes = 2000;
constexpr std::int64_t kSide = 48;
constexpr std::int64_t kPatch = 8;
constexpr std::size_t kFirst = 3;  // the place of the first "a", after "<s> top left"

// The pixels of one colour: a thing, as no two of a scene have the same.
struct Seen {
  std::set<std::pair<std::int64_t, std::int64_t>> pixels;  // y, x
  std::string colour;
  std::string shape;
  double y = 0;  // the middle of its bounding box
  double x = 0;
  std::vector<std::int64_t> patches;
};

std::string colour_name(const std::array<double, 3>& rgb) {
  const std::map<std::string, std::array<double, 3>> names = {{"red", {1, 0, 0}},      {"green", {0, 0.75, 0}},
                                                              {"blue", {0, 0, 1}},     {"yellow", {1, 1, 0}},
                                                              {"orange", {1, 0.5, 0}}, {"purple", {0.5, 0, 0.75}}};
  for (const auto& [name, value] : names) {
    if (value == rgb) return name;
  }
  return "no colour";
}

// A square fills the corners of its box, a triangle the lower ones; a circle fills most of the rest, a cross little.
void recognise(Seen& seen) {
  std::int64_t top = kSide;
  std::int64_t bottom = 0;
  std::int64_t left = kSide;
  std::int64_t right = 0;
  std::set<std::int64_t> patches;
  for (const auto& [y, x] : seen.pixels) {
    top = std::min(top, y);
    bottom = std::max(bottom, y);
    left = std::min(left, x);
    right = std::max(right, x);
    patches.insert(y / kPatch * (kSide / kPatch) + x / kPatch);
  }
  seen.patches.assign(patches.begin(), patches.end());
  seen.y = static_cast<double>(top + bottom) / 2;
  seen.x = static_cast<double>(left + right) / 2;
  const bool upper = seen.pixels.contains({top, left}) && seen.pixels.contains({top, right});
  const bool lower = seen.pixels.contains({bottom, left}) && seen.pixels.contains({bottom, right});
  const auto box = static_cast<double>((bottom - top + 1) * (right - left + 1));
  const bool full = static_cast<double>(seen.pixels.size()) > 0.65 * box;
  if (lower) {
    seen.shape = upper ? "square" : "triangle";
  } else {
    seen.shape = full ? "circle" : "cross";
  }
}

std::vector<Seen> look_at(const Tensor& image) {
  std::map<std::array<double, 3>, Seen> things;
  for (std::int64_t y = 0; y < kSide; ++y) {
    for (std::int64_t x = 0; x < kSide; ++x) {
      const std::array<double, 3> rgb = {image.at({0, y, x}), image.at({1, y, x}), image.at({2, y, x})};
      if (rgb != std::array<double, 3>{1, 1, 1}) things[rgb].pixels.insert({y, x});
    }
  }
  std::vector<Seen> all;
  all.reserve(things.size());
  for (auto& [rgb, seen] : things) {
    seen.colour = colour_name(rgb);
    recognise(seen);
    all.push_back(seen);
  }
  return all;
}

// True of the middles, which lie within two pixels of those of their cells.
bool holds(const std::string& relation, const Seen& first, const Seen& second) {
  const bool column = std::abs(first.x - second.x) <= 3;
  const bool row = std::abs(first.y - second.y) <= 3;
  if (relation == "above") return column && first.y < second.y - 8;
  if (relation == "below") return column && first.y > second.y + 8;
  if (relation == "left") return row && first.x < second.x - 8;
  return relation == "right" && row && first.x > second.x + 8;
}

// Of nine cells.
bool stands(const Seen& seen, const std::string& row, const std::string& column) {
  const std::array<std::string, 3> rows = {"top", "middle", "bottom"};
  const std::array<std::string, 3> columns = {"left", "centre", "right"};
  return rows.at(static_cast<std::size_t>(seen.y / 16)) == row &&
         columns.at(static_cast<std::size_t>(seen.x / 16)) == column;
}

class Scenes : public testing::Test {
 protected:
  void for_each(const std::function<void(const Example&, const std::vector<std::string>&)>& check) const {
    for (std::int64_t n = 0; n < kScenes && !HasFailure(); ++n) {
      const Example example = task_->example(n % 4 == 0 ? Split::test : Split::train, n);
      std::vector<std::string> words;
      words.reserve(example.tokens.size());
      for (const std::int32_t token : example.tokens) words.push_back(task_->vocabulary().piece(token));
      SCOPED_TRACE(show(*task_, example));
      check(example, words);
    }
  }

  static const Seen* find(const std::vector<Seen>& things, const std::string& colour) {
    const auto found = std::ranges::find(things, colour, &Seen::colour);
    return found == things.end() ? nullptr : &*found;
  }

  std::unique_ptr<const Task> task_ = make_task("shapes");
};

// "<s> ROW COLUMN a C S R a C S", then perhaps "and R a C S"; R is one word, or two of which the second is "of".
TEST_F(Scenes, AreAsTheirCaptionsSay) {
  std::map<std::string, int> counts;
  for_each([&](const Example& example, const std::vector<std::string>& words) {
    const std::vector<Seen> things = look_at(example.image);
    const Seen* first = nullptr;
    std::size_t named = 0;
    std::string relation;
    for (std::size_t p = kFirst; p < words.size(); ++p) {
      if (words[p] == "and" || words[p] == "of") continue;
      if (words[p] != "a") {
        relation = words[p];
        EXPECT_EQ(p + 1 < words.size() && words[p + 1] == "of", relation == "left" || relation == "right");
        ++counts[relation];
        continue;
      }
      ASSERT_LT(p + 2, words.size());
      const Seen* thing = find(things, words[p + 1]);
      ASSERT_NE(thing, nullptr) << words[p + 1];
      EXPECT_EQ(thing->shape, words[p + 2]);
      ++counts[thing->shape];
      ++counts[thing->colour];
      if (first != nullptr) {
        EXPECT_TRUE(holds(relation, *first, *thing)) << relation;
      }
      if (first == nullptr) {
        EXPECT_TRUE(stands(*thing, words[1], words[2]));
        ++counts[words[1] + " " + words[2]];
        first = thing;
      }
      ++named;
      p += 2;
    }
    EXPECT_EQ(named, things.size());
    ++counts[std::to_string(named)];
  });
  EXPECT_EQ(counts.size(), 9U + 4U + 4U + 6U + 2U);
  for (const auto& [word, count] : counts) EXPECT_GT(count, kScenes / 12) << word;
}

// A word that is asked for follows from the picture and the words before it: no other thing or relation would do.
TEST_F(Scenes, AskForWhatCannotBeOtherwise) {
  for_each([&](const Example& example, const std::vector<std::string>& words) {
    const std::vector<Seen> things = look_at(example.image);
    for (std::size_t p = 0; p < words.size(); ++p) {
      ASSERT_TRUE(example.labels[p]);
      const std::string next = task_->vocabulary().piece(*example.labels[p]);
      if (p + 1 < words.size()) {
        EXPECT_EQ(next, words[p + 1]);
      }
      if (p + 1 == words.size()) {
        EXPECT_EQ(next, "</s>");
      }
      if (!example.scored[p]) continue;
      EXPECT_NE(next, "a");
      EXPECT_NE(next, "of");
      const Seen* first = find(things, words[kFirst + 1]);
      ASSERT_NE(first, nullptr);
      if (p == kFirst) {
        EXPECT_TRUE(stands(*find(things, next), words[1], words[2]));
      } else if (find(things, next) != nullptr) {  // a colour: of the one thing that stands so to the first
        const std::string relation = words[p - 1] == "of" ? words[p - 2] : words[p - 1];
        EXPECT_EQ(std::ranges::count_if(things, [&](const Seen& one) { return holds(relation, *first, one); }), 1);
        EXPECT_TRUE(holds(relation, *first, *find(things, next)));
      }
      if (next == "and" || next == "</s>") {
        EXPECT_EQ(p > 10 || things.size() == 2, next == "</s>");
      }
    }
  });
}

TEST_F(Scenes, ShowWhichPatchesAWordMeans) {
  for_each([&](const Example& example, const std::vector<std::string>& words) {
    const std::vector<Seen> things = look_at(example.image);
    const Seen* first = find(things, words[kFirst + 1]);
    ASSERT_NE(first, nullptr);
    std::size_t rows = 0;
    std::size_t relations = 0;
    for (std::size_t p = kFirst; p < words.size(); ++p) {
      const auto query = static_cast<std::int64_t>(p);
      if (!example.scored[p]) continue;
      const std::string next = task_->vocabulary().piece(*example.labels[p]);
      const Seen* thing = find(things, next) != nullptr ? find(things, next) : find(things, words[p]);
      if (thing != nullptr) {  // this word or the next is a colour
        ASSERT_LT(rows, example.patterns[0].size());
        EXPECT_EQ(example.patterns[0][rows].query, query);
        EXPECT_EQ(example.patterns[0][rows++].keys, thing->patches);
      }
      if (!std::set<std::string>{"above", "below", "left", "right"}.contains(next)) continue;
      const std::size_t at = p + (words[p + 2] == "of" ? 4 : 3);
      std::vector<std::int64_t> both = first->patches;
      const Seen* second = find(things, words[at]);
      ASSERT_NE(second, nullptr);
      both.insert(both.end(), second->patches.begin(), second->patches.end());
      std::ranges::sort(both);
      EXPECT_EQ(example.patterns[1][relations].query, query);
      EXPECT_EQ(example.patterns[1][relations++].keys, both);
    }
    EXPECT_EQ(rows, example.patterns[0].size());
    EXPECT_EQ(relations, example.patterns[1].size());
    EXPECT_EQ(relations, 1U);
  });
}

}  // namespace
}  // namespace qkv::shapes_test
