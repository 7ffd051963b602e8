// The examples of a test split, some at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "qkv/model/batch.h"
#include "qkv/model/relation_scores.h"

namespace qkv {

[[nodiscard]] inline std::vector<Example> examples_of(const Examples& from, Split split, std::int64_t first,
                                                      std::int64_t count) {
  std::vector<Example> examples;
  for (std::int64_t n = first; n < first + count; ++n) examples.push_back(from.example(split, n));
  return examples;
}

/// body(examples, batch) for the first of the test split, at most `wanted`.
template <class Body>
void for_test_batches(const Examples& from, const Model& model, std::int64_t wanted, const Body& body) {
  constexpr std::int64_t kTogether = 64;
  if (wanted < 1) throw InvalidArgument("examine", "count", "1 or more", std::to_string(wanted));
  const std::int64_t count = held_out_examples(from, wanted);
  for (std::int64_t n = 0; n < count; n += kTogether) {
    const std::vector<Example> examples = examples_of(from, Split::test, n, std::min(kTogether, count - n));
    body(examples, batch_of(from, examples, layout_for(model.kind())));
  }
}

}  // namespace qkv
