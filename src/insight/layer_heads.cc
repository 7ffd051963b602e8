#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/parallel.h"
#include "core/watched.h"
#include "insight/likeness.h"
#include "qkv/insight/heads.h"
#include "qkv/threads.h"

namespace qkv {

// What the heads of a layer make of one query.
struct LayerHeads::Row {
  std::size_t query = 0;
  double place = 0;                            // of the query among the keys
  bool has_distance = false;                   // a text attends to itself
  std::vector<std::size_t> visible = {};       // keys
  std::vector<std::vector<double>> weights;    // [H][Tk]
  std::vector<double> entropies;               // [H], in nats
  std::vector<std::vector<std::size_t>> keys;  // of each pattern, those that are visible
  std::vector<std::size_t> words = {};         // visible keys that are other words, where it is known …
  std::vector<double> cosines = {};            // … how alike they are to the query
};

namespace {

constexpr const char* kAdd = "LayerHeads::add";
constexpr std::size_t kWorthThreads = std::size_t{1} << 15;  // numbers, below which threads cost more than they save

// `first` is the query of the first row; none: the rows are those of the whole text.
void require_shapes(std::optional<std::int64_t> first, const TensorView& weights, std::size_t heads,
                    const PatternTokens& tokens, const TensorView& hidden, const TensorView& cosines) {
  if (weights.rank() != 3 || weights.dim(0) != static_cast<std::int64_t>(heads)) {
    throw InvalidArgument(kAdd, "weights", "[" + std::to_string(heads) + ", Tq, Tk]", weights.shape().to_string());
  }
  const std::int64_t rows = weights.dim(1);
  const std::int64_t Tk = weights.dim(2);
  const auto fits = [](std::size_t count, std::int64_t extent) { return static_cast<std::int64_t>(count) == extent; };
  const bool is_text = !tokens.queries.empty();
  const std::int64_t begin = first.value_or(0);
  const std::int64_t queries = std::ssize(tokens.queries);
  const bool has_rows = first ? begin >= 0 && begin + rows <= queries : queries == rows;
  if (is_text &&
      (!has_rows || !fits(tokens.keys.size(), Tk) || (!tokens.roles.empty() && !fits(tokens.roles.size(), Tk)))) {
    throw InvalidArgument(kAdd, "tokens", std::to_string(begin + rows) + " queries and " + std::to_string(Tk) + " keys",
                          std::to_string(tokens.queries.size()) + " and " + std::to_string(tokens.keys.size()));
  }
  for (const auto& [name, view] : {std::pair("hidden", &hidden), std::pair("cosines", &cosines)}) {
    if (view->data() == nullptr || view->shape() == Shape{rows, Tk}) continue;
    throw InvalidArgument(kAdd, name, Shape({rows, Tk}).to_string(), view->shape().to_string());
  }
}

std::vector<bool> visible_keys(const TensorView& hidden, std::int64_t row, std::int64_t Tk) {
  std::vector<bool> visible(static_cast<std::size_t>(Tk), true);
  if (hidden.data() == nullptr) return visible;
  for (std::int64_t j = 0; j < Tk; ++j) visible[static_cast<std::size_t>(j)] = hidden.at({row, j}) == 0;
  return visible;
}

double entropy_of(const std::vector<double>& row) {
  double entropy = 0;
  for (const double weight : row) {
    if (!(weight <= 0)) entropy -= weight * std::log(weight);  // of NaN it is NaN
  }
  return entropy;
}

// The entropy of the mean of two rows, over the keys that they see.
double entropy_between(const std::vector<double>& a, const std::vector<double>& b,
                       const std::vector<std::size_t>& keys) {
  double entropy = 0;
  for (const std::size_t key : keys) {
    const double mean = 0.5 * (a[key] + b[key]);
    if (mean > 0) entropy -= mean * std::log(mean);
  }
  return entropy;
}

}  // namespace

LayerHeads::LayerHeads(std::int64_t heads)
    : sums_(static_cast<std::size_t>(heads)), distances_(static_cast<std::size_t>(heads * heads)) {
  for (std::size_t h = 0; h < sums_.size(); ++h) {
    sums_[h].head = static_cast<std::int64_t>(h);
    sums_[h].shares.resize(text_patterns().size());
    sums_[h].distance = 0;
  }
}

void LayerHeads::add(const TensorView& weights, const PatternTokens& tokens, const TensorView& hidden,
                     const TensorView& cosines) {
  require_shapes(std::nullopt, weights, sums_.size(), tokens, hidden, cosines);
  sum_rows(0, weights, tokens, hidden, cosines);
}

void LayerHeads::add_rows(std::int64_t first, const TensorView& weights, const PatternTokens& tokens,
                          const TensorView& hidden, const TensorView& cosines) {
  require_shapes(first, weights, sums_.size(), tokens, hidden, cosines);
  sum_rows(first, weights, tokens, hidden, cosines);
}

void LayerHeads::sum_rows(std::int64_t first, const TensorView& weights, const PatternTokens& tokens,
                          const TensorView& hidden, const TensorView& cosines) {
  const std::int64_t Tk = weights.dim(2);
  const std::int64_t before = Tk - std::ssize(tokens.queries);  // keys that stand before the first query
  const auto patterns = text_patterns();
  const bool is_text = !tokens.queries.empty();
  for (std::int64_t i = 0; i < weights.dim(1); ++i) {
    core::look();
    const std::vector<bool> visible = visible_keys(hidden, i, Tk);
    const auto query = static_cast<std::size_t>(first + i);
    Row row{.query = query,
            .place = static_cast<double>(first + i + before),
            .has_distance = is_text && tokens.is_self,
            .weights = std::vector(sums_.size(), std::vector<double>(static_cast<std::size_t>(Tk))),
            .entropies = {},
            .keys = std::vector<std::vector<std::size_t>>(patterns.size())};
    for (std::size_t key = 0; key < visible.size(); ++key) {
      if (visible[key]) row.visible.push_back(key);
    }
    if (row.visible.size() < 2) continue;
    for (std::size_t p = 0; is_text && p < patterns.size(); ++p) {
      if (!(tokens.is_self ? patterns[p].of_self : patterns[p].of_cross)) continue;
      row.keys[p] = patterns[p].keys(tokens, query);
      std::erase_if(row.keys[p], [&](std::size_t key) { return !visible[key]; });
    }
    for (std::size_t h = 0; h < sums_.size(); ++h) {
      weights.load_row(std::array{static_cast<std::int64_t>(h), i}, row.weights[h]);
      row.entropies.push_back(entropy_of(row.weights[h]));
    }
    const auto is_word = [&](std::size_t place) {
      return tokens.roles.empty() || tokens.roles[place] == TokenRole::word;
    };
    for (const std::size_t key : row.visible) {
      if (cosines.data() == nullptr || !row.has_distance || key == query || !is_word(key) || !is_word(query)) continue;
      row.words.push_back(key);
      row.cosines.push_back(cosines.at({i, static_cast<std::int64_t>(key)}));
    }
    add_row(row);
    add_distances(row);
    add_similarities(row);
  }
}

void LayerHeads::add_row(const Row& row) {
  for (std::size_t h = 0; h < sums_.size(); ++h) {
    HeadStatistics& sum = sums_[h];
    ++sum.rows;
    sum.entropy += row.entropies[h];
    sum.evenness += row.entropies[h] / std::log(static_cast<double>(row.visible.size()));
    for (const std::size_t key : row.visible) {
      if (row.has_distance) *sum.distance += row.weights[h][key] * std::abs(row.place - static_cast<double>(key));
    }
    for (std::size_t p = 0; p < row.keys.size(); ++p) {
      if (row.keys[p].empty()) continue;
      ++sum.shares[p].rows;
      sum.shares[p].even_sum += static_cast<double>(row.keys[p].size()) / static_cast<double>(row.visible.size());
      for (const std::size_t key : row.keys[p]) sum.shares[p].weight_sum += row.weights[h][key];
    }
  }
  if (row.has_distance) ++distance_rows_;
}

void LayerHeads::add_similarities(const Row& row) {
  constexpr std::size_t kFewestWords = 3;
  if (row.words.size() < kFewestWords) return;
  ++similarity_rows_;
  const std::vector<double> cosines = insight::ranks_of(row.cosines);  // once for all heads
  const bool is_long = sums_.size() * row.words.size() >= kWorthThreads;
  core::parallel_for(is_long ? threads() : 1, std::ssize(sums_), [&](int, std::int64_t task) {
    const auto h = static_cast<std::size_t>(task);
    std::vector<double> weights;
    weights.reserve(row.words.size());
    for (const std::size_t key : row.words) weights.push_back(row.weights[h][key]);
    const double likeness = insight::correlation_of_ranks(insight::ranks_of(weights), cosines);
    sums_[h].similarity = sums_[h].similarity.value_or(0) + likeness;
  });
}

// Divergence: the entropy of the mean less the mean of the entropies.
void LayerHeads::add_distances(const Row& row) {
  const std::size_t heads = sums_.size();
  const bool is_long = heads * heads * row.visible.size() >= kWorthThreads;
  core::parallel_for(is_long ? threads() : 1, static_cast<std::int64_t>(heads), [&](int, std::int64_t task) {
    const auto a = static_cast<std::size_t>(task);
    for (std::size_t b = a + 1; b < heads; ++b) {
      const double nats =
          entropy_between(row.weights[a], row.weights[b], row.visible) - 0.5 * (row.entropies[a] + row.entropies[b]);
      distances_[a * heads + b] += std::sqrt(std::clamp(nats / std::numbers::ln2, 0.0, 1.0));
    }
  });
}

Tensor LayerHeads::distances() const {
  const auto heads = static_cast<std::int64_t>(sums_.size());
  const double rows = std::max<double>(1, sums_.empty() ? 0 : static_cast<double>(sums_.front().rows));
  Tensor all(DType::f64, {heads, heads});
  for (std::int64_t a = 0; a < heads; ++a) {
    for (std::int64_t b = a + 1; b < heads; ++b) {
      const double mean = distances_[static_cast<std::size_t>(a * heads + b)] / rows;
      all.set({a, b}, mean);
      all.set({b, a}, mean);
    }
  }
  return all;
}

std::vector<HeadStatistics> LayerHeads::statistics() const {
  std::vector<HeadStatistics> all = sums_;
  const Tensor between = distances();
  for (HeadStatistics& head : all) {
    const double rows = std::max<double>(1, static_cast<double>(head.rows));
    head.entropy /= rows;
    head.evenness /= rows;
    if (head.similarity) *head.similarity /= static_cast<double>(similarity_rows_);
    head.distance =
        distance_rows_ > 0 ? std::optional(*head.distance / static_cast<double>(distance_rows_)) : std::nullopt;
    for (std::int64_t other = 0; head.rows > 0 && other < between.dim(0); ++other) {
      if (other == head.head) continue;
      const double distance = between.at({head.head, other});
      if (head.nearest && distance >= head.nearest_distance) continue;
      head.nearest = other;
      head.nearest_distance = distance;
    }
  }
  return all;
}

}  // namespace qkv
