#include "api/heads/head_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "core/exact_math.h"
#include "explain/numbers.h"

namespace qkv::api_detail {
namespace {

constexpr std::string_view kSpecial = "separator";

std::string_view name_of_role(TokenRole role) {
  constexpr std::string_view kNames[] = {"word", "punctuation", kSpecial};
  return kNames[static_cast<std::size_t>(role)];
}

std::span<const float> row_of(const Tensor& weights, std::int64_t row) {
  const auto columns = static_cast<std::size_t>(weights.dim(1));
  return weights.values<float>().subspan(static_cast<std::size_t>(row) * columns, columns);
}

/// "<s>", "[CLS] and [SEP]".
std::string names_of_special(const std::vector<std::string>& roles, const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  for (std::size_t key = 0; key < keys.size(); ++key) {
    if (roles[key] == kSpecial && std::ranges::find(names, keys[key]) == names.end()) names.push_back(keys[key]);
  }
  if (names.size() == 1) return names.front();
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", fmt::join(first, ", "), names.back());
}

/// Returns how much weight of the row the hidden keys had.
double renormalise(std::span<float> row, std::span<const std::string> roles) {
  double left = 0;
  double taken = 0;
  for (std::size_t key = 0; key < row.size(); ++key) (roles[key] == kSpecial ? taken : left) += row[key];
  for (std::size_t key = 0; key < row.size(); ++key) {
    const bool stays = roles[key] != kSpecial && left > 0;
    row[key] = stays ? static_cast<float>(row[key] / left) : 0.0F;
  }
  return taken;
}

}  // namespace

std::vector<std::string> roles_of_keys(const ModelRun& run, const RunSite& site) {
  const auto& roles = site.site == AttentionSite::tokens ? run.text().roles : run.text().source_roles;
  std::vector<std::string> names(site.keys.size(), "word");
  for (std::size_t key = 0; key < std::min(names.size(), roles.size()); ++key) names[key] = name_of_role(roles[key]);
  return names;
}

HeadWeights head_weights(const Tensor& all, std::int64_t head, const Tensor& hidden) {
  HeadWeights shown{.weights = Tensor(all.view().select(0, head), DType::f32)};
  if (!hidden.empty()) shown.hidden = Tensor(hidden.view(), DType::b8);
  return shown;
}

void hide_special(HeadWeights& shown, const std::vector<std::string>& roles, const std::vector<std::string>& keys) {
  const auto count = std::ranges::count(roles, kSpecial);
  if (count == 0) {
    shown.hidden_special = "This text has no special tokens: nothing is left out.";
    return;
  }
  const std::int64_t Tq = shown.weights.dim(0);
  const std::int64_t Tk = shown.weights.dim(1);
  if (!shown.hidden) {
    shown.hidden = Tensor(DType::b8, {Tq, Tk});
    std::ranges::fill(shown.hidden->values<bool>(), false);
  }
  double taken = 0;
  for (std::int64_t i = 0; i < Tq; ++i) {
    const auto from = static_cast<std::size_t>(i * Tk);
    taken += renormalise(shown.weights.values<float>().subspan(from, static_cast<std::size_t>(Tk)), roles);
    for (std::size_t key = 0; key < keys.size(); ++key) {
      if (roles[key] == kSpecial) shown.hidden->values<bool>()[from + key] = true;
    }
  }
  shown.hidden_special = fmt::format(
      "{} had {} of a query’s weight on average and {} left out: what the other keys have is divided by its sum, so "
      "that "
      "each row adds up to 1 again.",
      names_of_special(roles, keys), explain_detail::said(taken / static_cast<double>(Tq), 3),
      count == 1 ? "is" : "are");
}

Tensor row_entropies(const Tensor& weights) {
  Tensor entropies(DType::f64, {weights.dim(0)});
  for (std::int64_t i = 0; i < weights.dim(0); ++i) {
    double entropy = 0;
    for (const double weight : row_of(weights, i)) {
      if (weight > 0) entropy -= weight * core::log(weight);
    }
    entropies.values<double>()[static_cast<std::size_t>(i)] = std::max(entropy, 0.0);  // rounding, at a weight of 1
  }
  return entropies;
}

Tensor totals_of_keys(const Tensor& weights) {
  Tensor totals(DType::f64, {weights.dim(1)});
  std::ranges::fill(totals.values<double>(), 0.0);
  for (std::int64_t i = 0; i < weights.dim(0); ++i) {
    std::ranges::transform(totals.values<double>(), row_of(weights, i), totals.values<double>().begin(), std::plus<>());
  }
  return totals;
}

Tensor totals_of_queries(const Tensor& weights) {
  Tensor totals(DType::f64, {weights.dim(0)});
  for (std::int64_t i = 0; i < weights.dim(0); ++i) {
    const auto row = row_of(weights, i);
    totals.values<double>()[static_cast<std::size_t>(i)] = std::accumulate(row.begin(), row.end(), 0.0);
  }
  return totals;
}

Tensor keys_seen(const HeadWeights& shown) {
  const std::int64_t Tk = shown.weights.dim(1);
  Tensor seen(DType::i64, {shown.weights.dim(0)});
  std::ranges::fill(seen.values<std::int64_t>(), Tk);
  if (!shown.hidden) return seen;
  const auto hidden = std::as_const(*shown.hidden).values<bool>();
  for (std::int64_t i = 0; i < shown.weights.dim(0); ++i) {
    const auto row = hidden.subspan(static_cast<std::size_t>(i * Tk), static_cast<std::size_t>(Tk));
    seen.values<std::int64_t>()[static_cast<std::size_t>(i)] -= std::ranges::count(row, true);
  }
  return seen;
}

Tensor times_uniform(const HeadWeights& shown) {
  Tensor times(shown.weights.view(), DType::f32);
  const Tensor seen = keys_seen(shown);
  const auto columns = static_cast<std::size_t>(times.dim(1));
  for (std::int64_t i = 0; i < times.dim(0); ++i) {
    const auto keys = static_cast<float>(seen.at({i}));
    for (float& weight : times.values<float>().subspan(static_cast<std::size_t>(i) * columns, columns)) weight *= keys;
  }
  return times;
}

}  // namespace qkv::api_detail
