#include "model/next_token.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "model/require_finite.h"
#include "qkv/error.h"

namespace qkv::generation {
namespace {

constexpr double kOut = -std::numeric_limits<double>::infinity();

void require_token(const char* argument, std::int64_t token, std::int64_t vocabulary) {
  if (token >= 0 && token < vocabulary) return;
  throw InvalidArgument(kGenerate, argument, "a token from 0 to " + std::to_string(vocabulary - 1),
                        std::to_string(token));
}

struct Candidate {
  std::size_t token = 0;
  double share = 0;  // of the likeliest one's
};

std::vector<Candidate> all_shares(std::span<const double> scores, double temperature) {
  const double top = *std::ranges::max_element(scores);
  std::vector<Candidate> all;
  all.reserve(scores.size());
  for (std::size_t token = 0; token < scores.size(); ++token) {
    all.push_back({.token = token, .share = std::exp((scores[token] - top) / temperature)});
  }
  return all;
}

// Of equals the token with the lower number is the likelier.
bool is_less_likely(const Candidate& a, const Candidate& b) {
  return a.share != b.share ? a.share < b.share : a.token > b.token;
}
// Of equals the token with the higher number: a stable sort from the least likely on, as `transformers` has it.
bool is_less_likely_backwards(const Candidate& a, const Candidate& b) {
  return a.share != b.share ? a.share < b.share : a.token < b.token;
}

double sum_of(std::span<const Candidate> all) {
  return std::accumulate(all.begin(), all.end(), 0.0, [](double sum, const Candidate& c) { return sum + c.share; });
}

// The likeliest, one after the other, for as long as `wants(kept, next)` says so.
template <class Wants>
std::vector<Candidate> likeliest_of(std::vector<Candidate> all, bool (*is_less)(const Candidate&, const Candidate&),
                                    const Wants& wants) {
  std::vector<Candidate> kept;
  std::ranges::make_heap(all, is_less);
  while (!all.empty() && wants(kept, all.front())) {
    std::ranges::pop_heap(all, is_less);
    kept.push_back(all.back());
    all.pop_back();
  }
  return kept;
}

std::vector<Candidate> what_is_left(std::vector<Candidate> all, const GenerateOptions& options) {
  const auto k = static_cast<std::size_t>(options.top_k);
  if (k > 0 && k < all.size()) {
    // What is as likely as the k-th stays, too.
    all = likeliest_of(std::move(all), is_less_likely, [&](const std::vector<Candidate>& kept, const Candidate& next) {
      return kept.size() < k || next.share == kept.back().share;
    });
  }
  if (options.top_p < 1) {
    const double wanted = options.top_p * sum_of(all);
    double reached = 0;
    all = likeliest_of(std::move(all), is_less_likely_backwards,
                       [&](const std::vector<Candidate>& kept, const Candidate& /*next*/) {
                         reached += kept.empty() ? 0 : kept.back().share;
                         return kept.empty() || reached < wanted;
                       });
  }
  std::erase_if(all, [&](const Candidate& candidate) { return candidate.share < options.min_p; });
  return all;
}

}  // namespace

void require_tokens(const GenerateOptions& options, std::int64_t vocabulary) {
  for (const std::int64_t token : options.ends) require_token("ends", token, vocabulary);
  for (const std::int64_t token : options.never) require_token("never", token, vocabulary);
  for (const std::int64_t token : options.never_first) require_token("never_first", token, vocabulary);
}

void require_numbers(std::span<const double> scores) {
  if (!can_be_answers(scores)) throw NotNumbers(std::string(kGenerate) + ": the scores of the next token are NaN");
}

void change_scores(std::span<double> scores, std::span<const std::int64_t> text, bool is_first,
                   const GenerateOptions& options) {
  if (options.repetition_penalty != 1) {
    std::vector<std::int64_t> had(text.begin(), text.end());
    std::ranges::sort(had);
    had.erase(std::ranges::unique(had).begin(), had.end());
    for (const std::int64_t token : had) {
      double& score = scores[static_cast<std::size_t>(token)];
      score = score > 0 ? score / options.repetition_penalty : score * options.repetition_penalty;
    }
  }
  for (const std::int64_t token : options.never) scores[static_cast<std::size_t>(token)] = kOut;
  if (is_first) {
    for (const std::int64_t token : options.never_first) scores[static_cast<std::size_t>(token)] = kOut;
  }
  if (std::ranges::max(scores) == kOut) {
    throw InvalidArgument(kGenerate, "never", "a token that may be written", "all " + std::to_string(scores.size()));
  }
}

std::int64_t likeliest(std::span<const double> scores) noexcept {
  return std::ranges::max_element(scores) - scores.begin();
}

std::int64_t drawn(std::span<const double> scores, const GenerateOptions& options, double draw) {
  const std::vector<Candidate> left = what_is_left(all_shares(scores, options.temperature), options);
  double missing = draw * sum_of(left);
  std::size_t n = 0;
  while (n + 1 < left.size() && missing >= left[n].share) missing -= left[n++].share;
  return static_cast<std::int64_t>(left[n].token);
}

}  // namespace qkv::generation
