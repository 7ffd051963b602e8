#include "qkv/explain/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/exact_math.h"
#include "explain/bench/terms.h"
#include "explain/numbers.h"
#include "explain/words.h"
#include "qkv/heads.h"

namespace qkv {
namespace {

using namespace explain_detail;
using math::Term;

constexpr std::int64_t kMostWords = 12;

Tensor vector_tensor(const std::vector<double>& values) { return {values, {std::ssize(values)}}; }

double length_of(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

Tensor running(const std::vector<double>& terms) {
  std::vector<double> sums(terms.size());
  std::partial_sum(terms.begin(), terms.end(), sums.begin());
  return vector_tensor(sums);
}

std::vector<double> products_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> products(a.size());
  std::ranges::transform(a, b, products.begin(), std::multiplies());
  return products;
}

// Of vectors with a length. Unlike the arc cosine it is exact for nearly equal directions (Kahan 2006, section 12).
double degrees_between(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kFullTurn = 360;
  const double a_length = length_of(a);
  const double b_length = length_of(b);
  double apart = 0;
  double along = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const double x = a[c] / a_length;
    const double y = b[c] / b_length;
    apart += (x - y) * (x - y);
    along += (x + y) * (x + y);
  }
  return std::atan2(std::sqrt(apart), std::sqrt(along)) * kFullTurn / std::numbers::pi;
}

Term length_term(const Term& symbol) { return math::row({math::number("|"), symbol, math::number("|")}); }

std::string angle_sentence(const DotPicture& picture) {
  if (!picture.cosine) return "A vector of zeros has no direction: its dot product with any other is 0.";
  const std::string pair = fmt::format("the query of “{}” and the key of “{}”", picture.query_name, picture.key_name);
  const double cosine = *picture.cosine;
  constexpr double kNearly = 1e-9;
  const std::string angle = fmt::format("{:.1f}°", *picture.degrees);
  if (std::abs(cosine) < kNearly) return fmt::format("At right angles {} have nothing in common: 0.", pair);
  if (cosine > 1 - kNearly) {
    return fmt::format("Pointing the same way, {} give the product of their lengths.", pair);
  }
  return fmt::format("{} {}: the product is {}.", cosine > 0 ? "Less than a right angle," : "More than a right angle,",
                     fmt::format("{}, lies between {}", angle, pair), cosine > 0 ? "positive" : "negative");
}

}  // namespace

std::int64_t heaviest_key(const Bench& bench) {
  const std::vector<double> weights = row_of(bench.matrix("weights"), bench.inputs().query);
  return std::ranges::max_element(weights) - weights.begin();
}

DotPicture dot_picture(const Bench& bench, std::int64_t key) {
  const std::int64_t query = bench.inputs().query;
  const std::int64_t keys = bench.matrix("k").values.dim(0);
  if (key < 0 || key >= keys) {
    throw InvalidArgument("dot_picture", "key", fmt::format("0 to {}", keys - 1), std::to_string(key));
  }
  const std::vector<double> q = row_of(bench.matrix("q"), query);
  const std::vector<double> k = row_of(bench.matrix("k"), key);
  const std::vector<double> products = products_of(q, k);
  DotPicture picture{.key = key,
                     .query_name = distinct_names(bench.inputs().queries)[static_cast<std::size_t>(query)],
                     .key_name = distinct_names(bench.inputs().keys)[static_cast<std::size_t>(key)],
                     .q = vector_tensor(q),
                     .k = vector_tensor(k),
                     .products = vector_tensor(products),
                     .sums = running(products),
                     .dot = std::accumulate(products.begin(), products.end(), 0.0),
                     .q_length = length_of(q),
                     .k_length = length_of(k),
                     .cosine = std::nullopt,
                     .degrees = std::nullopt,
                     .by_numbers = {},
                     .by_angle = {},
                     .sentence = {}};
  const Term q_name = row_symbol("q", query);
  const Term k_name = row_symbol("k", key);
  const Term both = math::row({q_name, math::op("·"), k_name});
  std::vector<std::pair<double, double>> pairs;
  for (std::size_t c = 0; c < q.size(); ++c) pairs.emplace_back(q[c], k[c]);
  picture.by_numbers = equation({both, products_in_numbers(pairs), term_of(picture.dot)});
  if (picture.q_length > 0 && picture.k_length > 0) {
    picture.cosine = std::clamp(picture.dot / picture.q_length / picture.k_length, -1.0, 1.0);
    picture.degrees = degrees_between(q, k);
    const Term angle = math::number(fmt::format("{}°", said(*picture.degrees, 1)));
    picture.by_angle = equation({math::row({length_term(q_name), math::op("·"), length_term(k_name), math::op("·"),
                                            math::call("cos", math::name("θ"))}),
                                 math::row({term_of(picture.q_length), math::op("·"), term_of(picture.k_length),
                                            math::op("·"), math::call("cos", angle)}),
                                 term_of(picture.dot)});
  }
  picture.sentence = angle_sentence(picture);
  return picture;
}

std::optional<ProductPicture> product_picture(const Bench& bench) {
  const Tensor& q = bench.matrix("q").values;
  const Tensor& k = bench.matrix("k").values;
  const std::int64_t width = q.dim(1);
  if (std::max({q.dim(0), k.dim(0), width}) > kPictureExtent) return std::nullopt;
  ProductPicture picture{.queries = distinct_names(bench.inputs().queries),
                         .keys = distinct_names(bench.inputs().keys),
                         .products = Tensor(DType::f64, {q.dim(0), k.dim(0), width}),
                         .sums = Tensor(DType::f64, {q.dim(0), k.dim(0), width}),
                         .sentence = fmt::format("Each cell is a row of Q times a row of K: {} products, one after the "
                                                 "other, {} cells. No cell needs another: all can be done at once.",
                                                 width, q.dim(0) * k.dim(0))};
  auto product = picture.products.values<double>().begin();
  auto sum = picture.sums.values<double>().begin();
  for (std::int64_t i = 0; i < q.dim(0); ++i) {
    for (std::int64_t j = 0; j < k.dim(0); ++j) {
      double so_far = 0;
      for (std::int64_t c = 0; c < width; ++c) {
        *product = q.at({i, c}) * k.at({j, c});
        so_far += *product++;
        *sum++ = so_far;
      }
    }
  }
  return picture;
}

std::optional<MixPicture> mix_picture(const Bench& bench, const Tensor& masses) {
  const Tensor& v = bench.matrix("v").values;
  const std::int64_t keys = v.dim(0);
  if (keys > kMostWords) {
    if (masses.empty()) return std::nullopt;
    throw InvalidArgument("mix_picture", "masses", fmt::format("{} keys at most, whose values are mixed", kMostWords),
                          std::to_string(keys));
  }
  const std::vector<double> given =
      masses.empty() ? row_of(bench.matrix("weights"), bench.inputs().query) : masses.to_vector();
  const bool fits = std::ssize(given) == keys && std::ranges::all_of(given, [](double mass) { return mass >= 0; });
  const double total = std::accumulate(given.begin(), given.end(), 0.0);
  if (masses.empty() && !(total > 0)) return std::nullopt;
  if (!fits || !(total > 0) || !std::isfinite(total)) {
    throw InvalidArgument("mix_picture", "masses", fmt::format("{} numbers from 0 on, not all 0", keys),
                          fmt::format("{} with the sum {}", given.size(), brief(total)));
  }
  MixPicture picture{.masses = vector_tensor(given),
                     .shares = Tensor(DType::f64, {keys}),
                     .path = Tensor(DType::f64, {keys, v.dim(1)}),
                     .mixture = Tensor(DType::f64, {v.dim(1)}),
                     .formula = {},
                     .sentence = {}};
  const auto mixture = picture.mixture.values<double>();
  std::vector<Term> terms;
  double largest = 0;
  for (std::int64_t j = 0; j < keys; ++j) {
    const auto row = static_cast<std::size_t>(j);
    const double share = given[row] / total;
    largest = std::max(largest, share);
    picture.shares.values<double>()[row] = share;
    const std::vector<double> value = row_of(bench.matrix("v"), j);
    for (std::size_t c = 0; c < value.size(); ++c) mixture[c] += share * value[c];
    std::ranges::copy(mixture, picture.path.values<double>().begin() + j * v.dim(1));
    terms.push_back(math::row({factor_of(share), math::op("·"), vector_of(value)}));
  }
  picture.formula = equation({math::name("y"), joined(terms, "+"), vector_of(picture.mixture.to_vector())});
  constexpr double kNearlyAll = 0.95;
  picture.sentence =
      largest > kNearlyAll
          ? "One value has nearly all the weight, and the mixture lies at it."
          : "The shares are at least 0 and make 1 together: the mixture stays inside the values' hull, like the "
            "balance point of such masses.";
  return picture;
}

SplitPicture split_picture(const Bench& bench) {
  constexpr std::int64_t kMostCells = 16;  // of a token
  constexpr std::int64_t kTokens = 4;
  const std::int64_t heads = bench.inputs().q.dim(1);
  const std::int64_t width = bench.inputs().q.dim(3);
  const bool own = heads > 1 && heads * width <= kMostCells;
  SplitPicture picture{.tokens = std::min(kTokens, bench.inputs().q.dim(2)),
                       .heads = own ? heads : 2,
                       .width = own ? width : 2,
                       .places = {},
                       .sentence = {}};
  const std::int64_t row = picture.heads * picture.width;
  std::vector<std::int64_t> counted(static_cast<std::size_t>(picture.tokens * row));
  std::iota(counted.begin(), counted.end(), 0);
  const Tensor packed(counted, {1, picture.tokens, row});
  picture.places = Tensor(split_heads(packed, picture.heads)).reshape({picture.heads, picture.tokens, picture.width});
  picture.sentence = fmt::format(
      "{} {} heads of {} numbers each. No number changes: a head's part of every token comes to lie "
      "together, so that each head is a small attention of its own.",
      own ? "This model has" : "A small example:", picture.heads, picture.width);
  return picture;
}

}  // namespace qkv
