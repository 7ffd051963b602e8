#include "attention/ragged.h"

#include "attention/validate.h"

namespace qkv {

std::int64_t documents_of(const Ragged& ragged) { return static_cast<std::int64_t>(ragged.q_offsets.size()) - 1; }

Document document_of(const Ragged& ragged, std::int64_t n) {
  const auto place = static_cast<std::size_t>(n);
  return {.queries = {ragged.q_offsets[place], ragged.q_offsets[place + 1]},
          .keys = {ragged.k_offsets[place], ragged.k_offsets[place + 1]}};
}

MaskShape document_shape(const kernels::Problem& whole, const Ragged& ragged, std::int64_t n) {
  const auto [queries, keys] = document_of(ragged, n);
  return {
      .B = documents_of(ragged), .H = whole.shape.H, .Tq = queries.end - queries.begin, .Tk = keys.end - keys.begin};
}

kernels::Problem document_problem(const kernels::Problem& whole, const AttentionOptions& options, std::int64_t n) {
  const auto [queries, keys] = document_of(*options.ragged, n);
  kernels::Problem problem = whole;
  problem.q = whole.q.slice(2, queries.begin, queries.end);
  problem.k = whole.k.slice(2, keys.begin, keys.end);
  problem.v = whole.v.slice(2, keys.begin, keys.end);
  problem.shape = document_shape(whole, *options.ragged, n);
  problem.first_b = n;
  problem.window = window_of(options, n, problem.shape);
  return problem;
}

}  // namespace qkv
