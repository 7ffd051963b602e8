#include "cache/shared_prefixes.h"

#include <algorithm>
#include <span>

namespace qkv {
namespace {

// Shorter runs cost more in merging than they save in reading.
constexpr std::int64_t kFewestColumns = 4;

class Grouping {
 public:
  Grouping(const DecodeCall& call, const SequencePlans& plans) : call_(call), plans_(plans) {}

  // Divides sequences that share all that lies before a column.
  void divide(std::vector<std::int64_t> sequences, std::int64_t begin) {
    const auto before = [&](std::int64_t a, std::int64_t b) {
      return std::ranges::lexicographical_compare(entries(a, begin, begin + kFewestColumns),
                                                  entries(b, begin, begin + kFewestColumns));
    };
    std::erase_if(sequences,
                  [&](std::int64_t b) { return call_.cache.length(b) < (begin + kFewestColumns) * kernels::kTile; });
    // libstdc++'s stable_sort calls what Clang calls deprecated.
    std::ranges::sort(sequences,
                      [&](std::int64_t a, std::int64_t b) { return before(a, b) || (!before(b, a) && a < b); });
    for (auto first = sequences.begin(); first != sequences.end();) {
      const auto end = std::find_if(first, sequences.end(), [&](std::int64_t b) { return before(*first, b); });
      if (end - first > 1) share(std::vector<std::int64_t>(first, end), begin);
      first = end;
    }
  }

  [[nodiscard]] std::vector<SharedRun> take() { return std::move(runs_); }

 private:
  // Sequences that share at least the columns which are worth it.
  void share(const std::vector<std::int64_t>& sequences, std::int64_t begin) {
    std::int64_t end = full_columns(sequences.front());
    for (const std::int64_t b : sequences) end = std::min({end, full_columns(b), common_columns(sequences.front(), b)});
    if (end - begin < kFewestColumns) return;
    runs_.push_back({.columns = {begin, end}, .sequences = sequences});
    divide(sequences, end);
  }

  // The table's entries of these columns.
  [[nodiscard]] std::span<const std::int32_t> entries(std::int64_t b, std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = begin * kernels::kTile / page_tokens();
    const std::int64_t last = (end * kernels::kTile - 1) / page_tokens();
    return {call_.cache.pages(b) + first, static_cast<std::size_t>(last - first + 1)};
  }

  [[nodiscard]] std::int64_t common_columns(std::int64_t a, std::int64_t b) const {
    const std::int64_t columns = std::min(call_.cache.length(a), call_.cache.length(b)) / kernels::kTile;
    if (a == b || columns == 0) return columns;
    const auto of_a = entries(a, 0, columns);
    const auto of_b = entries(b, 0, columns);
    const auto pages = std::ranges::mismatch(of_a, of_b).in1 - of_a.begin();
    return std::min(columns, pages * page_tokens() / kernels::kTile);
  }

  // The leading columns of 64 keys that every query of a sequence sees.
  [[nodiscard]] std::int64_t full_columns(std::int64_t b) const {
    const TilePlan& plan = plans_[b];
    const std::int64_t heads = call_.problem.mask.varies_by_head() ? plan.shape().H : 1;
    std::int64_t columns = call_.cache.length(b) / kernels::kTile;
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t row = 0; row < plan.rows(); ++row) {
        std::int64_t full = 0;
        while (full < columns && plan.tile(0, h, row, full) == TileClass::full) ++full;
        columns = full;
      }
    }
    return columns;
  }

  [[nodiscard]] std::int64_t page_tokens() const { return call_.cache.buffers().k.dim(2); }

  const DecodeCall& call_;
  const SequencePlans& plans_;
  std::vector<SharedRun> runs_;
};

}  // namespace

std::vector<SharedRun> shared_runs(const DecodeCall& call, const SequencePlans& plans) {
  const KvCacheView& cache = call.cache;
  if (call.q.dim(2) == 0 || !call.options.bias.is_zero() || call.options.dropout) return {};
  std::vector<std::int64_t> sequences;
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    if (cache.pages(b) != nullptr) sequences.push_back(b);
  }
  Grouping grouping(call, plans);
  grouping.divide(std::move(sequences), 0);
  return grouping.take();
}

}  // namespace qkv
