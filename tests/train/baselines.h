// What answers without attention would get right.
#pragma once

#include "qkv/train/task.h"

namespace qkv {

/// Shares of the scored labels of the test split, after learning from the train split.
struct Baselines {
  double constant = 0;  // the same answer always
  double by_place = 0;  // the answer that is most frequent at this query's place
  double by_token = 0;  // the answer that is most frequent at this query's token
};

[[nodiscard]] Baselines baselines_of(const Task& task);

/// The weight that uniform attention puts on a relation's keys: over the keys that a query sees.
[[nodiscard]] double uniform_weight(const Task& task, std::size_t relation);

}  // namespace qkv
