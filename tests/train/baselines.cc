#include "train/baselines.h"

#include <algorithm>
#include <map>

namespace qkv {
namespace {

constexpr std::int64_t kLearn = 8000;
constexpr std::int64_t kExamine = 2000;

class MostFrequent {
 public:
  void see(std::int64_t condition, std::int32_t answer) { ++counts_[condition][answer]; }

  [[nodiscard]] std::int32_t answer(std::int64_t condition) const {
    const auto found = counts_.find(condition);
    if (found == counts_.end()) return -1;
    const auto count = [](const auto& entry) { return entry.second; };
    return std::ranges::max_element(found->second, {}, count)->first;
  }

 private:
  std::map<std::int64_t, std::map<std::int32_t, std::int64_t>> counts_;
};

}  // namespace

Baselines baselines_of(const Task& task) {
  MostFrequent always;
  MostFrequent at_place;
  MostFrequent at_token;
  for (std::int64_t n = 0; n < kLearn; ++n) {
    const Example example = task.example(Split::train, n);
    for (std::size_t p = 0; p < example.tokens.size(); ++p) {
      if (!example.scored[p]) continue;
      always.see(0, *example.labels[p]);
      at_place.see(static_cast<std::int64_t>(p), *example.labels[p]);
      at_token.see(example.tokens[p], *example.labels[p]);
    }
  }
  Baselines right;
  double scored = 0;
  for (std::int64_t n = 0; n < kExamine; ++n) {
    const Example example = task.example(Split::test, n);
    for (std::size_t p = 0; p < example.tokens.size(); ++p) {
      if (!example.scored[p]) continue;
      ++scored;
      right.constant += always.answer(0) == example.labels[p] ? 1 : 0;
      right.by_place += at_place.answer(static_cast<std::int64_t>(p)) == example.labels[p] ? 1 : 0;
      right.by_token += at_token.answer(example.tokens[p]) == example.labels[p] ? 1 : 0;
    }
  }
  return {right.constant / scored, right.by_place / scored, right.by_token / scored};
}

double uniform_weight(const Task& task, std::size_t relation) {
  const bool causal = task.info().kind == TaskKind::decoder;
  double sum = 0;
  double rows = 0;
  for (std::int64_t n = 0; n < kExamine; ++n) {
    const Example example = task.example(Split::test, n);
    const std::size_t cross =
        example.source.empty() ? static_cast<std::size_t>(task.lengths().patches()) : example.source.size();
    const bool within = task.relations()[relation].site == AttentionSite::tokens;
    for (const PatternRow& row : example.patterns[relation]) {
      const double seen =
          causal ? static_cast<double>(row.query + 1) : static_cast<double>(within ? example.tokens.size() : cross);
      sum += static_cast<double>(row.keys.size()) / seen;
      ++rows;
    }
  }
  return sum / rows;
}

}  // namespace qkv
