#include "api/learn/model_examples.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace qkv::api_detail {
namespace {

struct Place {
  std::string_view site;
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::int64_t query = 0;
  std::int64_t key = 0;
};

struct BoxExample {
  std::string_view model;
  std::string_view text;
  std::int64_t example = -1;  // where there is no text
  Place place;
  std::string_view look = {};
};

constexpr auto kExamples = std::to_array<BoxExample>({
    {"addition",
     "0123+0456=",
     -1,
     {"tokens", 0, 1, 10, 7},
     "Sums are written from the ones up. After the 9 come the tens, 2 + 5: this head reads the 5, head 0 the 2."},
    {"brackets", {}, 0, {"tokens", 2, 1, 4, 2}},
    {"copy", "hello", -1, {"cross", 0, 0, 0, 0}, "To write the first letter, the decoder reads the first letter."},
    {"english",
     "the nun near the men <be> tired",
     -1,
     {"tokens", 1, 5, 5, 1},
     "<be> hides is or are. To tell which, this head finds the subject: nun, not the nearer men."},
    {"english", {}, 1, {"tokens", 0, 3, 6, 4}, "Who are they? This head reads kings."},
    {"gpt",
     "The cat sat down because it was tired",
     -1,
     {"tokens", 1, 3, 7, 5},
     "Who was tired? This head looks for the last noun or pronoun: “tired” reads “it”."},
    {"gpt", "The queen gave the king her crown", -1, {"tokens", 1, 4, 5, 4}, "Every word reads the one before it."},
    {"induction",
     "abcxyzab",
     -1,
     {"tokens", 1, 0, 7, 2},
     "Where b stood before, c came next. This head reads that c, and so the model says c."},
    {"induction",
     "theorythe",
     -1,
     {"tokens", 1, 0, 8, 3},
     "After the came o when it stood before: this head reads that o."},
    {"induction3",
     "abcxyzab",
     -1,
     {"tokens", 1, 0, 7, 2},
     "Where b stood before, c came next. This head reads that c, and so the model says c."},
    {"previous", "abcdef", -1, {"tokens", 0, 0, 5, 4}, "Every letter reads the one before it."},
    {"reverse", "studio", -1, {"cross", 0, 0, 0, 5}, "The last letter is to be written first: the decoder reads it."},
    {"shapes",
     {},
     0,
     {"cross", 0, 0, 4, 11},
     "A purple what? The decoder reads patch 11, at the top right, where the triangle lies."},
    {"sort",
     "studio",
     -1,
     {"cross", 1, 0, 0, 3},
     "The first in the alphabet is d: the decoder finds it where it stands."},
    {"towers", {}, 0, {"tokens", 1, 0, 4, 4}},
    {"translation",
     "the strange men sleep",
     -1,
     {"cross", 1, 0, 2, 1},
     "French puts étranges after hommes: to write it, the decoder goes back to strange."},
    {"translation", {}, 0, {"cross", 1, 0, 5, 4}, "After ce comes chien: to write it, the decoder reads dog."},
});

}  // namespace

std::vector<AboutExample> examples_of_model(std::string_view model) {
  std::vector<AboutExample> examples;
  for (const BoxExample& one : kExamples) {
    if (one.model != model) continue;
    AboutExample shown{.text = std::string(one.text),
                       .example = {},
                       .site = std::string(one.place.site),
                       .layer = one.place.layer,
                       .head = one.place.head,
                       .query = one.place.query,
                       .key = one.place.key,
                       .look = std::string(one.look)};
    if (one.example >= 0) shown.example = one.example;
    examples.push_back(std::move(shown));
  }
  return examples;
}

}  // namespace qkv::api_detail
