#include "model/beams.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/next_token.h"

namespace qkv::generation {
namespace {

using Tokens = std::vector<std::int64_t>;

/// A text that is followed.
struct Beam {
  double score = 0;  // the sum of its logarithms
  Tokens tokens;     // that were written
  std::size_t row = 0;
};

struct WholeText {
  double score = 0;  // by its length
  Tokens tokens;
};

// One more token for a beam.
struct Step {
  double score = 0;
  std::size_t beam = 0;
  std::int64_t token = 0;
};

void to_logarithms(std::span<double> scores) {
  const double top = *std::ranges::max_element(scores);
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - top);
  for (double& score : scores) score -= top + std::log(sum);
}

/// The search of one text.
class Search {
 public:
  Search(Tokens prompt, std::size_t row, const GenerateOptions& options)
      : prompt_(std::move(prompt)), options_(options), open_{{.score = 0, .tokens = {}, .row = row}} {}

  [[nodiscard]] bool is_done() const noexcept { return done_; }
  [[nodiscard]] const std::vector<Beam>& open() const noexcept { return open_; }
  void stand_at(std::size_t first_row) {
    for (std::size_t n = 0; n < open_.size(); ++n) open_[n].row = first_row + n;
  }

  // `row_of` loads the scores of a row of the last call.
  template <class RowOf>
  void go_on(std::size_t vocabulary, const RowOf& row_of) {
    const std::vector<Step> steps = best_steps(vocabulary, row_of);
    const auto beams = static_cast<std::size_t>(options_.beams);
    const bool is_last = length() + 1 == options_.most;
    std::vector<Beam> next;
    for (std::size_t n = 0; n < steps.size(); ++n) {
      const Step& step = steps[n];
      const bool ends = std::ranges::find(options_.ends, step.token) != options_.ends.end();
      if ((ends || is_last) && n < beams) finish(step, ends);
      if (ends || is_last || next.size() == beams) continue;
      Tokens tokens = open_[step.beam].tokens;
      tokens.push_back(step.token);
      next.push_back({.score = step.score, .tokens = std::move(tokens), .row = open_[step.beam].row});
    }
    open_ = std::move(next);
    done_ =
        open_.empty() || (whole_.size() == beams && by_length(open_.front().score, length()) <= whole_.back().score);
  }

  [[nodiscard]] Tokens best() && { return whole_.empty() ? Tokens() : std::move(whole_.front().tokens); }

 private:
  [[nodiscard]] std::int64_t length() const {
    return open_.empty() ? 0 : static_cast<std::int64_t>(open_.front().tokens.size());
  }
  [[nodiscard]] double by_length(double score, std::int64_t tokens) const {
    return score / std::pow(static_cast<double>(tokens), options_.length_penalty);
  }

  template <class RowOf>
  std::vector<Step> best_steps(std::size_t vocabulary, const RowOf& row_of) const {
    std::vector<Step> all;
    std::vector<double> scores(vocabulary);
    for (std::size_t beam = 0; beam < open_.size(); ++beam) {
      row_of(open_[beam].row, scores);
      require_numbers(scores);
      to_logarithms(scores);
      Tokens text = prompt_;
      text.insert(text.end(), open_[beam].tokens.begin(), open_[beam].tokens.end());
      change_scores(scores, text, open_[beam].tokens.empty(), options_);
      for (std::size_t token = 0; token < vocabulary; ++token) {
        if (scores[token] == -std::numeric_limits<double>::infinity()) continue;
        all.push_back(
            {.score = open_[beam].score + scores[token], .beam = beam, .token = static_cast<std::int64_t>(token)});
      }
    }
    const std::size_t wanted =
        std::max<std::size_t>(2, 1 + options_.ends.size()) * static_cast<std::size_t>(options_.beams);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, all.size()));
    std::ranges::partial_sort(all, middle, [](const Step& a, const Step& b) {
      return a.score != b.score ? a.score > b.score : std::pair(a.beam, a.token) < std::pair(b.beam, b.token);
    });
    all.erase(middle, all.end());
    return all;
  }

  void finish(const Step& step, bool ends) {
    Tokens tokens = open_[step.beam].tokens;
    if (!ends) tokens.push_back(step.token);
    whole_.push_back({.score = by_length(step.score, length() + 1), .tokens = std::move(tokens)});
    std::ranges::sort(whole_, [](const WholeText& a, const WholeText& b) { return a.score > b.score; });
    if (whole_.size() > static_cast<std::size_t>(options_.beams)) whole_.pop_back();
  }

  Tokens prompt_;
  const GenerateOptions& options_;
  std::vector<Beam> open_;        // the best first
  std::vector<WholeText> whole_;  // likewise, at most as many as there are beams
  bool done_ = false;
};

std::vector<Search> searches_of(const TensorView& prompt, const GenerateOptions& options) {
  const Tensor ids(prompt, DType::i64);
  const auto length = static_cast<std::size_t>(prompt.dim(1));
  std::vector<Search> all;
  for (std::size_t b = 0; b < static_cast<std::size_t>(prompt.dim(0)); ++b) {
    const auto row = ids.values<std::int64_t>().subspan(b * length, length);
    all.emplace_back(Tokens(row.begin(), row.end()), b, options);
  }
  return all;
}

}  // namespace

NewTokens search_beams(const TensorView& prompt, const GenerateOptions& options, const NextScores& scores,
                       const KeepRows& keep) {
  std::vector<Search> searches = searches_of(prompt, options);
  Tensor ids(prompt);
  for (std::int64_t n = 0; n < options.most; ++n) {
    const Variable said = scores(ids);
    const TensorView next = said.value();
    require_tokens(options, next.dim(2));
    Tokens rows;
    Tokens tokens;
    for (Search& search : searches) {
      if (search.is_done()) continue;
      search.go_on(static_cast<std::size_t>(next.dim(2)), [&](std::size_t row, std::span<double> to) {
        next.load_row(std::array{static_cast<std::int64_t>(row), next.dim(1) - 1}, to);
      });
      if (search.is_done()) continue;
      for (const Beam& beam : search.open()) {
        rows.push_back(static_cast<std::int64_t>(beam.row));
        tokens.push_back(beam.tokens.back());
      }
      search.stand_at(rows.size() - search.open().size());
    }
    if (rows.empty()) break;
    keep(rows);
    ids = Tensor(tokens, {static_cast<std::int64_t>(tokens.size()), 1});
  }
  NewTokens written;
  for (Search& search : searches) written.push_back(std::move(search).best());
  return written;
}

}  // namespace qkv::generation
