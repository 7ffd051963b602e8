// The matrices from the output's gradient to those of the inputs, made by the engine in f64.
#include "qkv/backward.h"

#include <algorithm>
#include <utility>

#include "explain/bench/matrices.h"
#include "explain/plain.h"
#include "explain/words.h"
#include "qkv/gradient_probe.h"

namespace qkv::explain_detail {
namespace {

const BenchMatrix& matrix_named(const std::vector<BenchMatrix>& matrices, std::string_view name) {
  return *std::ranges::find(matrices, name, &BenchMatrix::name);
}

class Backward {
 public:
  Backward(const BenchInputs& inputs, const std::vector<BenchMatrix>& forward)
      : inputs_(inputs),
        forward_(forward),
        queries_(distinct_names(inputs.queries)),
        keys_(distinct_names(inputs.keys)),
        d_out_(DType::f64, {1, inputs.q.dim(1), inputs.q.dim(2), inputs.v.dim(3)}) {
    std::ranges::fill(d_out_.values<double>(), 0.0);
    const auto from = inputs.d_out.values<double>();
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(inputs.head) * std::ssize(from);
    std::ranges::copy(from, d_out_.values<double>().begin() + at);
  }

  std::vector<BenchMatrix> all() {
    const AttentionResult result = attention(inputs_.q, inputs_.k, inputs_.v, inputs_.options);
    const AttentionGradients gradients =
        attention_backward(d_out_, inputs_.q, inputs_.k, inputs_.v, result.out, result.lse, inputs_.options);
    const std::int64_t key_head = inputs_.head / (inputs_.q.dim(1) / inputs_.k.dim(1));
    add("d_out", inputs_.d_out, queries_);
    add("d_v", of_head(gradients.d_v, key_head), keys_);
    add_pairs(result);
    const Tensor d_q = of_head(gradients.d_q, inputs_.head);
    const Tensor d_k = of_head(gradients.d_k, key_head);
    add("d_q", d_q, queries_);
    add("d_k", d_k, keys_);
    if (!inputs_.x.empty()) add_weights(d_q, d_k, of_head(gradients.d_v, key_head));
    return std::move(matrices_);
  }

 private:
  static Tensor of_head(const Tensor& gradient, std::int64_t head) {
    return {gradient.view().select(0, 0).select(0, head), DType::f64};
  }

  void add_pairs(const AttentionResult& result) {
    const GradientProbe probe(d_out_, inputs_.q, inputs_.k, inputs_.v, result.out, result.lse, inputs_.options);
    const BenchRows rows = rows_of_pairs(inputs_);
    const Tile tile{
        .b = 0, .h = inputs_.head, .i_begin = rows.from, .i_end = rows.to, .j_begin = 0, .j_end = inputs_.k.dim(2)};
    const auto stage = [&](std::string_view name, Stage which) {
      BenchMatrix matrix = named_matrix(name, probe.tile(tile, which).to(DType::f64), weights().rows, keys_);
      matrix.first_row = rows.from;
      matrix.hidden = weights().hidden;
      matrices_.push_back(std::move(matrix));
    };
    stage("d_weights", Stage::weights);
    add_delta();
    stage("d_scores", Stage::biased);
    stage("d_raw", Stage::raw);
  }

  // The sum of weights times dP, which the engine takes as that of dY times Y: the same number.
  void add_delta() {
    const Tensor& weight = weights().values;
    const Tensor& d_weight = matrix_named(matrices_, "d_weights").values;
    Tensor delta(DType::f64, {weight.dim(0), 1});
    for (std::int64_t i = 0; i < weight.dim(0); ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < weight.dim(1); ++j) sum += weight.at({i, j}) * d_weight.at({i, j});
      delta.values<double>()[static_cast<std::size_t>(i)] = sum;
    }
    BenchMatrix matrix = named_matrix("delta", std::move(delta), weights().rows, {""});
    matrix.first_row = weights().first_row;
    matrices_.push_back(std::move(matrix));
  }

  void add_weights(const Tensor& d_q, const Tensor& d_k, const Tensor& d_v) {
    const bool is_cross = !inputs_.source.empty();
    const Tensor& source = is_cross ? inputs_.source : inputs_.x;
    const auto weight = [&](const std::string& name, const Tensor& x, const Tensor& gradient) {
      add(name, matmul(x.view().transpose(0, 1), gradient), counted(x.dim(1)));
    };
    weight("d_w_q", inputs_.x, d_q);
    weight("d_w_k", source, d_k);
    weight("d_w_v", source, d_v);
    const auto through = [](const Tensor& gradient, const Tensor& w) {
      return matmul(gradient, w.view().transpose(0, 1));
    };
    const Tensor of_queries = through(d_q, inputs_.w_q);
    const Tensor of_keys = sum_of(through(d_k, inputs_.w_k), through(d_v, inputs_.w_v));
    add("d_x", is_cross ? of_queries : sum_of(of_queries, of_keys), queries_);
    if (is_cross) add("d_source", of_keys, keys_);
  }

  static Tensor sum_of(Tensor a, const Tensor& b) {
    Tensor sum(a.view(), DType::f64);
    std::ranges::transform(a.values<double>(), b.values<double>(), sum.values<double>().begin(), std::plus<>());
    return sum;
  }

  void add(const std::string& name, Tensor values, std::vector<std::string> rows) {
    std::vector<std::string> columns = counted(values.dim(1));
    matrices_.push_back(named_matrix(name, std::move(values), std::move(rows), std::move(columns)));
  }

  const BenchMatrix& weights() const { return matrix_named(forward_, "weights"); }

  const BenchInputs& inputs_;
  const std::vector<BenchMatrix>& forward_;
  std::vector<std::string> queries_, keys_;
  Tensor d_out_;
  std::vector<BenchMatrix> matrices_;
};

}  // namespace

std::vector<BenchMatrix> backward_matrices(const BenchInputs& inputs, const std::vector<BenchMatrix>& forward) {
  if (inputs.d_out.empty()) return {};
  return Backward(inputs, forward).all();
}

}  // namespace qkv::explain_detail
