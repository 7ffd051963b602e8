#include "cases/covering.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <random>
#include <span>

namespace qkv::cases {
namespace {

constexpr std::array kDtypesOfTable = {DType::f32, DType::f16, DType::bf16};
constexpr std::array<std::int64_t, 10> kWidthsOfTable = {1, 7, 16, 64, 80, 96, 128, 192, 256, 512};
constexpr std::array<std::int64_t, 7> kValueWidths = {0, 1, 7, 33, 64, 128, 0};  // 0: as wide as D
constexpr std::array<std::int64_t, 18> kLengths = {1,  2,  15, 16,  17,  31,  32,  33,  63,
                                                   64, 65, 80, 127, 128, 129, 191, 192, 193};
// Few queries share vectors with others of their group up to 16, and blocks up to 64; keys are cut from 1,024 on.
constexpr std::array<std::int64_t, 6> kFewQueries = {1, 2, 3, 8, 16, 17};
constexpr std::array<std::int64_t, 3> kManyKeys = {1024, 1089, 1500};
constexpr std::array<std::array<std::int64_t, 2>, 6> kHeads = {{{2, 1}, {2, 2}, {1, 4}, {1, 7}, {1, 1}, {2, 3}}};
constexpr std::array<std::array<Layout, 4>, 5> kLayoutsOfTable = {{
    {Layout::dense, Layout::dense, Layout::dense, Layout::dense},
    {Layout::token_major, Layout::token_major, Layout::token_major, Layout::token_major},
    {Layout::gapped, Layout::one_head, Layout::gapped, Layout::gapped},
    {Layout::columns, Layout::page_rows, Layout::reversed, Layout::dense},
    {Layout::one_batch, Layout::columns, Layout::page_rows, Layout::token_major},
}};

// A column of the table: how many choices, and what one does to a case.
struct Factor {
  std::size_t choices;
  std::function<void(Case&, std::size_t)> choose;
};

using Lengths = std::span<const std::int64_t>;

std::vector<Factor> factors(Lengths queries, Lengths keys) {
  return {
      {queries.size(), [queries](Case& one, std::size_t n) { one.Tq = queries[n]; }},
      {keys.size(), [keys](Case& one, std::size_t n) { one.Tk = keys[n]; }},
      {masks().size(), [](Case& one, std::size_t n) { one.mask = masks()[n].name; }},
      {biases().size(), [](Case& one, std::size_t n) { one.bias = biases()[n].name; }},
      {kWidthsOfTable.size(), [](Case& one, std::size_t n) { one.D = kWidthsOfTable[n]; }},
      {kValueWidths.size(), [](Case& one, std::size_t n) { one.Dv = kValueWidths[n]; }},
      {kHeads.size(),
       [](Case& one, std::size_t n) {
         one.Hk = kHeads[n][0];
         one.group = kHeads[n][1];
       }},
      {kLayoutsOfTable.size(),
       [](Case& one, std::size_t n) {
         one.q = kLayoutsOfTable[n][0];
         one.k = kLayoutsOfTable[n][1];
         one.v = kLayoutsOfTable[n][2];
         one.out = kLayoutsOfTable[n][3];
       }},
      {kDtypesOfTable.size(), [](Case& one, std::size_t n) { one.dtype = kDtypesOfTable[n]; }},
      {4, [](Case& one, std::size_t n) { one.scale = static_cast<Scale>(n); }},
      {3, [](Case& one, std::size_t n) { one.softcap = std::array{0.0, 2.0, 30.0}[n]; }},
      {3, [](Case& one, std::size_t n) { one.dropout = std::array{0.0, 0.1, 0.75}[n]; }},
      {3, [](Case& one, std::size_t n) { one.sinks = static_cast<Sinks>(n); }},
      {3, [](Case& one, std::size_t n) { one.threads = static_cast<int>(n) + 1; }},
      {2, [](Case& one, std::size_t n) { one.B = static_cast<std::int64_t>(n) + 1; }},
      {2, [](Case& one, std::size_t n) { one.poison = n == 1; }},
  };
}

using Choices = std::vector<std::size_t>;

// Which pairs of choices have not met yet.
class Pairs {
 public:
  explicit Pairs(const std::vector<Factor>& factors) : factors_(factors) {
    for (const Factor& factor : factors) {
      starts_.push_back(all_);
      all_ += factor.choices;
    }
    unmet_.assign(all_ * all_, 0);
    for (std::size_t a = 0; a < factors.size(); ++a) {
      for (std::size_t b = 0; b < factors.size(); ++b) {
        for (std::size_t x = 0; a != b && x < factors[a].choices; ++x) {
          for (std::size_t y = 0; y < factors[b].choices; ++y) at(a, x, b, y) = 1;
          left_ += factors[b].choices;
        }
      }
    }
  }

  [[nodiscard]] bool any() const { return left_ > 0; }
  [[nodiscard]] std::size_t factors() const { return factors_.size(); }
  [[nodiscard]] std::size_t choices(std::size_t a) const { return factors_[a].choices; }
  char& at(std::size_t a, std::size_t x, std::size_t b, std::size_t y) {
    return unmet_[(starts_[a] + x) * all_ + starts_[b] + y];
  }

  void meet(const Choices& row) {
    for (std::size_t a = 0; a < row.size(); ++a) {
      for (std::size_t b = 0; b < row.size(); ++b) {
        if (a == b) continue;
        left_ -= static_cast<std::size_t>(at(a, row[a], b, row[b]));
        at(a, row[a], b, row[b]) = 0;
      }
    }
  }

  /// A pair that has not met, with the factor of the first choice and of the second.
  [[nodiscard]] std::array<std::size_t, 4> unmet(std::size_t from) {
    for (std::size_t a = 0; a < factors_.size(); ++a) {
      for (std::size_t b = a + 1; b < factors_.size(); ++b) {
        const std::size_t pairs = choices(a) * choices(b);
        for (std::size_t n = 0; n < pairs; ++n) {
          const std::size_t x = (from + n) % pairs / choices(b);
          const std::size_t y = (from + n) % choices(b);
          if (at(a, x, b, y) != 0) return {a, x, b, y};
        }
      }
    }
    return {};
  }

 private:
  const std::vector<Factor>& factors_;
  std::vector<std::size_t> starts_;
  std::size_t all_ = 0;
  std::size_t left_ = 0;
  std::vector<char> unmet_;
};

constexpr std::size_t kOpen = ~std::size_t{0};

// Begins with a pair that has not met, then takes factor after factor, in random order, the choice with most new pairs.
Choices candidate(Pairs& pairs, std::mt19937_64& engine, std::size_t& gain) {
  Choices row(pairs.factors(), kOpen);
  const auto [a, x, b, y] = pairs.unmet(engine() % 4096);
  row[a] = x;
  row[b] = y;
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), engine);
  gain = 1;
  for (const std::size_t factor : order) {
    if (row[factor] != kOpen) continue;
    std::size_t best = 0;
    std::size_t most = 0;
    const std::size_t first = engine() % pairs.choices(factor);
    for (std::size_t n = 0; n < pairs.choices(factor); ++n) {
      const std::size_t choice = (first + n) % pairs.choices(factor);
      std::size_t met = 0;
      for (std::size_t other = 0; other < row.size(); ++other) {
        if (row[other] != kOpen) met += static_cast<std::size_t>(pairs.at(factor, choice, other, row[other]));
      }
      if (n == 0 || met > most) {
        best = choice;
        most = met;
      }
    }
    row[factor] = best;
    gain += most;
  }
  return row;
}

std::vector<Case> covering_rows(Lengths queries, Lengths keys) {
  const std::vector<Factor> columns = factors(queries, keys);
  Pairs pairs(columns);
  std::mt19937_64 engine(20);
  std::vector<Case> rows;
  while (pairs.any()) {
    Choices best;
    std::size_t most = 0;
    for (int n = 0; n < 20; ++n) {
      std::size_t gain = 0;
      Choices row = candidate(pairs, engine, gain);
      if (best.empty() || gain > most) {
        best = std::move(row);
        most = gain;
      }
    }
    pairs.meet(best);
    Case one;
    for (std::size_t n = 0; n < columns.size(); ++n) columns[n].choose(one, best[n]);
    if (one.Dv == 0) one.Dv = one.D;
    one.seed = rows.size();
    rows.push_back(one);
  }
  return rows;
}

}  // namespace

const std::vector<Case>& table() {
  static const std::vector<Case> kRows = covering_rows(kLengths, kLengths);
  return kRows;
}

const std::vector<Case>& decode_table() {
  static const std::vector<Case> kRows = covering_rows(kFewQueries, kManyKeys);
  return kRows;
}

}  // namespace qkv::cases
