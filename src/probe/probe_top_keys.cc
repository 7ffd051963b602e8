#include <algorithm>
#include <cmath>
#include <vector>

#include "probe/probe_state.h"

namespace qkv {
namespace {

using kernels::kTile;

template <class Real>
struct Entry {
  std::int64_t key;
  Real weight;

  // NaN comes before every number.
  [[nodiscard]] bool before(const Entry& other) const {
    if (std::isnan(weight) || std::isnan(other.weight)) {
      return std::isnan(weight) && (!std::isnan(other.weight) || key < other.key);
    }
    return weight > other.weight || (weight == other.weight && key < other.key);
  }
};

// The best keys of one query among those offered so far: a heap whose front is the worst of them.
template <class Real>
class Best {
 public:
  explicit Best(std::size_t count) : count_(count) { entries_.reserve(count); }

  [[nodiscard]] bool full() const { return entries_.size() == count_; }
  [[nodiscard]] Real least() const { return entries_.front().weight; }
  [[nodiscard]] const std::vector<Entry<Real>>& entries() const { return entries_; }

  void offer(const Entry<Real>& entry) {
    if (full()) {
      if (!entry.before(entries_.front())) return;
      std::ranges::pop_heap(entries_, kBefore);
      entries_.pop_back();
    }
    entries_.push_back(entry);
    std::ranges::push_heap(entries_, kBefore);
  }

  // After the last offer: puts the best first.
  void sort() { std::ranges::sort_heap(entries_, kBefore); }

  // Keys of hidden tiles were not offered. The lowest of them follow with weight 0.
  void fill(std::int64_t Tk) {
    std::vector<std::int64_t> taken;
    taken.reserve(entries_.size());
    for (const Entry<Real>& entry : entries_) taken.push_back(entry.key);
    std::ranges::sort(taken);
    auto next = taken.begin();
    for (std::int64_t j = 0; j < Tk && !full(); ++j) {
      if (next != taken.end() && *next == j) {
        ++next;
      } else {
        entries_.push_back({j, 0});
      }
    }
  }

 private:
  static constexpr auto kBefore = [](const Entry<Real>& a, const Entry<Real>& b) { return a.before(b); };

  std::size_t count_;
  std::vector<Entry<Real>> entries_;
};

// Offers the keys with a weight above 0; fill() adds keys of weight 0, lowest first.
template <class Real>
void offer_tile(const probe_detail::WeightTiles<Real>& tiles, const KeyRange& keys, std::vector<Best<Real>>& best) {
  for (std::int64_t n = 0; n < tiles.queries(); ++n) {
    Best<Real>& mine = best[static_cast<std::size_t>(n)];
    Real bar = mine.full() ? mine.least() : Real{0};
    for (std::int64_t c = 0; c < tiles.keys(); ++c) {
      const Real weight = tiles.weights()[static_cast<std::size_t>(c * kTile + n)];
      if (weight <= bar) continue;
      mine.offer({keys.begin + c, weight});
      if (mine.full()) bar = mine.least();
    }
  }
}

}  // namespace

TopKeys Probe::top_keys(HeadPlace head, std::int64_t count, const ProbeWatch& watch) const {
  state_->require_head("Probe::top_keys", head);
  const auto [B, H, Tq, Tk] = shape();
  if (count < 0 || count > Tk) {
    throw InvalidArgument("Probe::top_keys", "count", "0 to Tk = " + std::to_string(Tk), std::to_string(count));
  }
  TopKeys top{.keys = Tensor(DType::i64, {Tq, count}),
              .weights = Tensor(state_->in_f64() ? DType::f64 : DType::f32, {Tq, count})};
  if (count == 0) return top;
  probe_detail::each_block_of_head(*state_, head, watch, [&](auto& tiles, std::span<const double>, std::int64_t i) {
    using Real = typename std::remove_cvref_t<decltype(tiles)>::Number;
    std::vector<Best<Real>> best(static_cast<std::size_t>(tiles.queries()),
                                 Best<Real>(static_cast<std::size_t>(count)));
    tiles.each_weighed([&](const KeyRange& keys) { offer_tile(tiles, keys, best); });
    auto place = static_cast<std::size_t>(i * count);
    for (Best<Real>& mine : best) {
      mine.sort();
      mine.fill(Tk);
      for (const auto& [key, weight] : mine.entries()) {
        top.keys.values<std::int64_t>()[place] = key;
        top.weights.values<Real>()[place] = weight;
        ++place;
      }
    }
  });
  return top;
}

}  // namespace qkv
