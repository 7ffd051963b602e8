// From the states of a text's tokens to its vector.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/listed.h"
#include "core/shortened.h"
#include "qkv/error.h"
#include "qkv/model/embed.h"

namespace qkv {
namespace {

constexpr std::array<std::string_view, 6> kPoolings = {"mean", "first",        "last",
                                                       "max",  "weightedmean", "mean_sqrt_len_tokens"};
constexpr std::string_view kPoolingNames =
    "mean, first (cls), last (lasttoken), max, weightedmean, mean_sqrt_len_tokens";

void bring_to_length_one(std::vector<double>& vector) {
  constexpr double kLeast = 1e-12;  // as torch.nn.functional.normalize has it
  const double length = std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
  for (double& number : vector) number /= std::max(length, kLeast);
}

// What row t counts, before the sum is divided.
double weight_of_row(Pooling pooling, std::int64_t t) {
  return pooling == Pooling::weightedmean ? static_cast<double>(t + 1) : 1;
}

double divisor_of(Pooling pooling, std::int64_t begin, std::int64_t T) {
  const auto count = static_cast<double>(T - begin);
  if (pooling == Pooling::mean_sqrt_len_tokens) return std::sqrt(count);
  return pooling == Pooling::weightedmean ? count * static_cast<double>(begin + 1 + T) / 2 : count;
}

std::vector<double> pooled_one(const TensorView& states, Pooling pooling, std::int64_t begin) {
  const std::int64_t T = states.dim(0);
  if (pooling == Pooling::first || pooling == Pooling::last) {
    return states.select(0, pooling == Pooling::first ? begin : T - 1).to_vector();
  }
  const bool is_max = pooling == Pooling::max;
  std::vector<double> row(static_cast<std::size_t>(states.dim(1)));
  std::vector<double> all(row.size(), is_max ? -std::numeric_limits<double>::infinity() : 0);
  for (std::int64_t t = begin; t < T; ++t) {
    states.load_row(std::array{t}, row);
    const double weight = weight_of_row(pooling, t);
    for (std::size_t n = 0; n < row.size(); ++n) {
      // A NaN stays one, as the comparison with it is false.
      all[n] = is_max ? (all[n] > row[n] ? all[n] : row[n]) : all[n] + weight * row[n];
    }
  }
  if (!is_max) {
    const double divisor = divisor_of(pooling, begin, T);
    for (double& number : all) number /= divisor;
  }
  return all;
}

}  // namespace

std::string_view name_of(Pooling pooling) noexcept { return kPoolings[static_cast<std::size_t>(pooling)]; }

Pooling pooling_named(std::string_view name) {
  if (name == "cls") return Pooling::first;
  if (name == "lasttoken") return Pooling::last;
  const auto found = std::ranges::find(kPoolings, name);
  if (found != kPoolings.end()) return static_cast<Pooling>(found - kPoolings.begin());
  throw InvalidArgument("pooling_named", "pooling", "one of " + std::string(kPoolingNames),
                        "\"" + std::string(name) + "\"");
}

std::vector<Pooling> poolings_named(std::string_view names) {
  std::vector<Pooling> all;
  for (std::size_t end = 0; end != std::string_view::npos; names.remove_prefix(end == names.npos ? 0 : end + 1)) {
    end = names.find(',');
    all.push_back(pooling_named(names.substr(0, end)));
  }
  return all;
}

std::vector<double> pooled_states(const TensorView& states, std::span<const Pooling> pooling, std::int64_t begin) {
  if (begin < 0 || begin >= states.dim(0)) {
    throw InvalidArgument("pooled_states", "begin", "a token that is pooled, or more",
                          "none: all " + std::to_string(states.dim(0)) + " are the prompt's");
  }
  std::vector<double> all;
  for (const Pooling one : pooling) {
    const std::vector<double> vector = pooled_one(states, one, begin);
    all.insert(all.end(), vector.begin(), vector.end());
  }
  return all;
}

std::vector<double> vector_of_states(const TensorView& states, const EmbedOptions& options, std::int64_t begin) {
  std::vector<double> vector = pooled_states(states, options.pooling, begin);
  for (const VectorStep& step : options.steps) {
    if (step.normalises) {
      bring_to_length_one(vector);
    } else {
      vector = step.apply(vector);
    }
  }
  if (options.width) vector.resize(std::min(vector.size(), static_cast<std::size_t>(*options.width)));
  if (options.normalised) bring_to_length_one(vector);
  return vector;
}

const std::string& prompt_named(const EmbedOptions& options, const std::string& name) {
  const auto found = options.prompts.find(name);
  if (found != options.prompts.end()) return found->second;
  const std::string names =
      core::joined(options.prompts, [](const auto& prompt) { return core::among_words(prompt.first); });
  throw InvalidArgument("embed_texts", "prompt_name",
                        names.empty() ? "none: the folder has no prompts" : "one of " + names, "\"" + name + "\"");
}

}  // namespace qkv
