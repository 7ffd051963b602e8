// A head of the drawn model that `qkv explain` shows, on the bench.
#include "explain/drawn_model.h"
#include "qkv/explain/bench.h"

namespace qkv {
namespace {

Tensor columns(const Tensor& matrix, std::int64_t head, std::int64_t width) {
  return Tensor(matrix.view().slice(1, head * width, (head + 1) * width), DType::f64);
}

}  // namespace

BenchInputs drawn_bench(const ExplainOptions& options, std::int64_t head) {
  const explain_detail::DrawnModel model(options);
  const explain_detail::Run run = model.run();
  if (head < 0 || head >= run.heads) {
    throw InvalidArgument("bench", "head", "0 to " + std::to_string(run.heads - 1), std::to_string(head));
  }
  const std::int64_t key_head = head / (run.heads / run.kv_heads);
  const explain_detail::DrawnParameters& drawn = model.parameters();
  BenchInputs inputs;
  inputs.queries = run.queries.tokens;
  inputs.keys = run.keys.tokens;
  inputs.q = run.q;
  inputs.k = run.k;
  inputs.v = run.v;
  inputs.options = run.attention;
  inputs.head = head;
  inputs.concat = run.concat;
  inputs.w_o = drawn.w_o;
  if (!run.q_plain.empty()) return inputs;  // turned by their place, q and k are no products of x
  inputs.embedded = run.queries.encoding.empty() ? Tensor() : run.queries.embedded;
  inputs.encoding = run.queries.encoding;
  inputs.x = run.queries.x;
  if (options.context) inputs.source = run.keys.x;
  inputs.w_q = columns(drawn.w_q, head, run.d_k);
  inputs.w_k = columns(drawn.w_k, key_head, run.d_k);
  inputs.w_v = columns(drawn.w_v, key_head, run.d_v);
  return inputs;
}

}  // namespace qkv
