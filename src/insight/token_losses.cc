#include "insight/token_losses.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "autograd/node.h"
#include "autograd/rows.h"
#include "autograd/special.h"
#include "core/parallel.h"
#include "kernels/product/known_product.h"
#include "qkv/autograd/matmul.h"
#include "qkv/model/decoder.h"
#include "qkv/nn/parameters.h"
#include "qkv/threads.h"

namespace qkv::insight {
namespace {

constexpr std::int64_t kLargeVocabulary = 16'384;
constexpr std::int64_t kTokensAtOnce = 2048;

// A place that is asked for a token, and the sum over the vocabulary so far.
struct AskedPlace {
  std::int64_t text = 0;
  std::int64_t target = 0;
  double most = -std::numeric_limits<double>::infinity();
  double sum = 0;  // of exp(score - most)
  double score = 0;

  void add(double largest, double sum_below) {
    if (sum_below == 0) return;  // of scores that are all -inf
    const double next = std::max(most, largest);
    sum = sum * std::exp(most - next) + sum_below * std::exp(largest - next);
    most = next;
  }
};

// The places that ask, with their states as rows.
struct AskedStates {
  std::vector<AskedPlace> places;
  Tensor rows;
};

AskedStates asked_in(const TensorView& states, const TensorView& targets, double factor) {
  AskedStates asked;
  const std::int64_t T = states.dim(1), width = states.dim(2);
  const std::vector<double> ids = targets.to_vector();
  std::vector<float> numbers;
  for (std::int64_t n = 0; n < states.dim(0); ++n) {
    for (std::int64_t t = 0; t < T; ++t) {
      const auto target = static_cast<std::int64_t>(ids[static_cast<std::size_t>((n % targets.dim(0)) * T + t)]);
      if (target < 0) continue;
      asked.places.push_back({.text = n, .target = target});
      for (const double x : states.select(0, n).select(0, t).to_vector()) {
        numbers.push_back(static_cast<float>(x * factor));
      }
    }
  }
  asked.rows = Tensor(numbers, {std::ssize(asked.places), width});
  return asked;
}

autograd::RowSum<float> sum_of_scores(const float* scores, std::int64_t count) {
  autograd::RowSum<float> found;
  autograd::vectorised<float>([&]() QKV_INLINED { found = autograd::row_sum(scores, count); });
  return found;
}

const Parameter* map_of(const Parameters& all) {
  for (const char* const name : {"output.weight", "embedding.weight"}) {
    const auto found = std::ranges::find(all, name, &Parameter::name);
    if (found != all.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

std::optional<TokenLosses> TokenLosses::of(const Model& model) {
  const Decoder* decoder = model.traits().goes_on ? model.parts().decoder : nullptr;
  if (decoder == nullptr || model.dtype() != DType::f32) return std::nullopt;
  const DecoderOptions& options = decoder->options();
  const bool is_product = options.scores && !options.output_bias && !options.logit_softcap;
  if (!is_product || options.vocabulary < kLargeVocabulary || options.order == NormOrder::post) return std::nullopt;
  const Parameters all = model.parameters();
  const Parameter* const map = map_of(all);
  const bool is_plain = map != nullptr && map->value.quantised() == nullptr && map->value.dtype() == DType::f32 &&
                        map->value.value().is_contiguous();
  if (!is_plain || map->value.dim(0) != options.vocabulary) return std::nullopt;
  return TokenLosses("ln_final", map->value, options.output_scale.value_or(1));
}

TokenLosses::TokenLosses(std::string states_name, const Variable& map, double factor)
    : states_name_(std::move(states_name)), factor_(factor) {
  const auto owner = std::make_shared<const Variable>(map);
  for (std::int64_t first = 0; first < map.dim(0); first += kTokensAtOnce) {
    const std::int64_t end = std::min(first + kTokensAtOnce, map.dim(0));
    pieces_.emplace_back(Tensor::borrow(map.value().slice(0, first, end), owner));
  }
}

TokenLosses::Known TokenLosses::known(const TensorView& states, const TensorView& targets) {
  const NoGradient constant;
  for (std::size_t n = rounded_.size(); n < pieces_.size(); ++n) {
    rounded_.push_back(kernels::PackedWeight::of(pieces_[n].value(), DType::bf16));
  }
  Known all{.rows = asked_in(states, targets, factor_).rows, .scores = {}};
  if (all.rows.size() == 0) return all;
  const Variable rows(all.rows);
  for (const Variable& piece : pieces_) all.scores.emplace_back(linear(rows, piece).value());
  return all;
}

std::vector<double> TokenLosses::sums(const TensorView& states, const TensorView& targets) const {
  return sums_of(states, targets, [&](const Variable& rows, std::size_t n) { return linear(rows, pieces_[n]); });
}

std::vector<double> TokenLosses::sums(const TensorView& states, const TensorView& targets, const Known& known) const {
  std::optional<kernels::RowDifferences> differences;
  Variable far;
  return sums_of(states, targets, [&](const Variable& rows, std::size_t n) {
    if (rounded_[n] == nullptr) return linear(rows, pieces_[n]);
    if (!differences) {
      differences.emplace(rows.value(), known.rows.view());
      far = Variable(kernels::rows_at(rows.value(), differences->far()));
    }
    autograd::Value scores = autograd::new_value(DType::f32, {rows.dim(0), known.scores[n].dim(1)});
    differences->multiply(scores.writable(), known.scores[n].view(), *rounded_[n]);
    if (far.size() > 0) kernels::put_rows(linear(far, pieces_[n]).value(), differences->far(), scores.writable());
    return autograd::recorded("linear", std::move(scores), {&rows}, {});
  });
}

std::vector<double> TokenLosses::sums_of(const TensorView& states, const TensorView& targets,
                                         const ScoresOf& scores_of) const {
  const NoGradient constant;
  AskedStates asked = asked_in(states, targets, factor_);
  std::vector<double> sums(static_cast<std::size_t>(states.dim(0)), 0);
  if (asked.places.empty()) return sums;
  const Variable rows(asked.rows);
  std::int64_t first = 0;
  for (std::size_t n = 0; n < pieces_.size(); ++n) {
    const Variable scores = scores_of(rows, n);
    const TensorView all = scores.value();
    const std::int64_t count = pieces_[n].dim(0);
    core::parallel_for(threads(), std::ssize(asked.places), [&](int /*worker*/, std::int64_t row) {
      AskedPlace& place = asked.places[static_cast<std::size_t>(row)];
      const auto* const own = all.select(0, row).data_as<float>();
      const autograd::RowSum<float> sum = sum_of_scores(own, count);
      place.add(sum.most, sum.sum);
      const std::int64_t at = place.target - first;
      if (at >= 0 && at < count) place.score = own[at];
    });
    first += count;
  }
  for (const AskedPlace& place : asked.places) {
    sums[static_cast<std::size_t>(place.text)] += std::log(place.sum) + place.most - place.score;
  }
  return sums;
}

}  // namespace qkv::insight
