#include "qkv/model/greedy.h"

#include <algorithm>
#include <array>
#include <string>

namespace qkv {
namespace {

constexpr const char* kFunction = "greedy";

// The best token after the last one of each text.
std::vector<std::int64_t> best_tokens(const TensorView& scores) {
  std::vector<std::int64_t> best;
  std::vector<double> row(static_cast<std::size_t>(scores.dim(2)));
  for (std::int64_t b = 0; b < scores.dim(0); ++b) {
    scores.load_row(std::array<std::int64_t, 2>{b, scores.dim(1) - 1}, row);
    best.push_back(std::ranges::max_element(row) - row.begin());
  }
  return best;
}

}  // namespace

std::vector<std::vector<std::int64_t>> greedy(const TensorView& prompt, const GreedyOptions& options,
                                              const NextScores& scores) {
  if (prompt.rank() != 2 || prompt.dim(1) == 0 || prompt.dtype() != DType::i64) {
    throw InvalidArgument(kFunction, "prompt", "i64 [B, T] of one token or more",
                          std::string(name_of(prompt.dtype())) + " " + prompt.shape().to_string());
  }
  if (options.most < 0) throw InvalidArgument(kFunction, "most", "0 or more", std::to_string(options.most));
  const NoGradient constant;
  Tensor ids(prompt);
  const auto texts = static_cast<std::size_t>(prompt.dim(0));
  std::vector<std::vector<std::int64_t>> said(texts);
  std::vector<bool> has_ended(texts);
  for (std::int64_t n = 0; n < options.most && std::ranges::count(has_ended, false) > 0; ++n) {
    const std::vector<std::int64_t> best = best_tokens(scores(ids).value());
    for (std::size_t b = 0; b < texts; ++b) {
      has_ended[b] = has_ended[b] || best[b] == options.last;
      if (!has_ended[b]) said[b].push_back(best[b]);
    }
    ids = Tensor(best, {prompt.dim(0), 1});
  }
  return said;
}

}  // namespace qkv
