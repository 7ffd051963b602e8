// The matrices from the inputs to the output, made by the engine in f64.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/exact_math.h"
#include "explain/bench/matrices.h"
#include "explain/formula.h"
#include "explain/plain.h"
#include "explain/words.h"
#include "qkv/probe.h"

namespace qkv::explain_detail {
namespace {

/// One head's matrix of [1, H, T, D], as f64.
Tensor head_of(const Tensor& tensor, std::int64_t head) {
  return {tensor.view().select(0, 0).select(0, head), DType::f64};
}

class Forward {
 public:
  explicit Forward(const BenchInputs& inputs)
      : inputs_(inputs),
        queries_(distinct_names(inputs.queries)),
        keys_(distinct_names(inputs.keys)),
        rows_(rows_of_pairs(inputs)) {}

  std::vector<BenchMatrix> all() {
    add_inputs();
    add_scores();
    add_softmax();
    add_output();
    return std::move(matrices_);
  }

 private:
  void add_inputs() {
    const std::int64_t key_head = inputs_.head / (inputs_.q.dim(1) / inputs_.k.dim(1));
    if (!inputs_.x.empty()) {
      if (!inputs_.embedded.empty()) {
        add("embedded", inputs_.embedded, queries_);
        add("encoding", inputs_.encoding, queries_);
      }
      add("x", inputs_.x, queries_);
      if (!inputs_.source.empty()) add("source", inputs_.source, keys_);
      add("w_q", inputs_.w_q, counted(inputs_.w_q.dim(0)));
      add("w_k", inputs_.w_k, counted(inputs_.w_k.dim(0)));
      add("w_v", inputs_.w_v, counted(inputs_.w_v.dim(0)));
    }
    add("q", head_of(inputs_.q, inputs_.head), queries_);
    add("k", head_of(inputs_.k, key_head), keys_);
    add("v", head_of(inputs_.v, key_head), keys_);
    for (BenchMatrix& matrix : matrices_) {
      if (matrix.name != "q" && matrix.name != "k" && matrix.name != "v") continue;
      matrix.role = inputs_.x.empty() ? "input" : "forward";
      if (inputs_.x.empty()) matrix.formula = math::name(matrix.title);
    }
  }

  void add_scores() {
    const Probe probe(inputs_.q, inputs_.k, inputs_.options);
    const Tile tile{
        .b = 0, .h = inputs_.head, .i_begin = rows_.from, .i_end = rows_.to, .j_begin = 0, .j_end = inputs_.k.dim(2)};
    const auto stage = [&](Stage which) { return probe.tile(tile, which).to(DType::f64); };
    masked_ = stage(Stage::masked);
    weights_ = stage(Stage::weights);
    hidden_ = hidden_pairs();
    add_pairs("raw", stage(Stage::raw));
    add_pairs("scaled", stage(Stage::scaled));
    if (inputs_.options.softcap) add_pairs("softcapped", stage(Stage::softcapped));
    if (!inputs_.options.bias.terms().empty()) add_pairs("biased", stage(Stage::biased));
    if (!inputs_.options.mask.is_all()) add_pairs("masked", masked_);
  }

  // The maximum is taken out first: e to the power of a large score has no number.
  void add_softmax() {
    const std::int64_t rows = masked_.dim(0);
    const std::int64_t columns = masked_.dim(1);
    Tensor largest(DType::f64, {rows, 1});
    Tensor powers(DType::f64, {rows, columns});
    Tensor sums(DType::f64, {rows, 1});
    const auto scores = masked_.values<double>();
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto row = scores.subspan(static_cast<std::size_t>(i * columns), static_cast<std::size_t>(columns));
      const double top = *std::ranges::max_element(row);
      double sum = 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        const double power = std::isinf(top) ? 0.0 : core::exp(row[static_cast<std::size_t>(j)] - top);
        powers.values<double>()[static_cast<std::size_t>(i * columns + j)] = power;
        sum += power;
      }
      largest.values<double>()[static_cast<std::size_t>(i)] = top;
      sums.values<double>()[static_cast<std::size_t>(i)] = sum;
    }
    add_pairs("max", std::move(largest));
    add_pairs("exp", std::move(powers));
    add_pairs("sum", std::move(sums));
    add_pairs("weights", weights_);
  }

  void add_output() {
    const BenchMatrix& v = matrix("v");
    const std::int64_t width = v.values.dim(1);
    const std::int64_t count = v.values.dim(0);
    Tensor parts(DType::f64, {count, width});
    Tensor path(DType::f64, {count, width});
    for (std::int64_t j = 0; j < count; ++j) {
      const double weight = weights_.at({inputs_.query - rows_.from, j});
      for (std::int64_t d = 0; d < width; ++d) {
        const auto at = static_cast<std::size_t>(j * width + d);
        // A hidden key's value is not read: NaN there does not leak.
        parts.values<double>()[at] = weight == 0 ? 0.0 : weight * v.values.at({j, d});
        path.values<double>()[at] =
            parts.values<double>()[at] + (j == 0 ? 0.0 : path.values<double>()[at - static_cast<std::size_t>(width)]);
      }
    }
    add("parts", std::move(parts), keys_);
    add("path", std::move(path), keys_);
    const Tensor out = attention(inputs_.q, inputs_.k, inputs_.v, inputs_.options).out;
    add("out", head_of(out, inputs_.head), queries_);
    if (inputs_.concat.empty()) return;
    add("concat", inputs_.concat, queries_);
    add("w_o", inputs_.w_o, counted(inputs_.w_o.dim(0)));
    add("output", matmul(inputs_.concat, inputs_.w_o), queries_);
  }

  Tensor hidden_pairs() const {
    Tensor hidden(DType::b8, masked_.shape());
    const MaskShape shape{.B = 1, .H = inputs_.q.dim(1), .Tq = inputs_.q.dim(2), .Tk = inputs_.k.dim(2)};
    auto out = hidden.values<bool>().begin();
    for (std::int64_t i = rows_.from; i < rows_.to; ++i) {
      for (std::int64_t j = 0; j < shape.Tk; ++j) {
        *out++ = !inputs_.options.mask.allows({.b = 0, .h = inputs_.head, .i = i, .j = j}, shape);
      }
    }
    return hidden;
  }

  void add(const std::string& name, Tensor values, std::vector<std::string> row_names) {
    std::vector<std::string> columns = counted(values.dim(1));
    matrices_.push_back(named_matrix(name, std::move(values), std::move(row_names), std::move(columns)));
  }

  // A matrix with a row for each query that is kept, and a column for each key, or one.
  void add_pairs(const std::string& name, Tensor values) {
    const auto from = queries_.begin() + static_cast<std::ptrdiff_t>(rows_.from);
    std::vector<std::string> row_names(from, from + static_cast<std::ptrdiff_t>(rows_.to - rows_.from));
    const bool is_column = values.dim(1) == 1 && keys_.size() != 1;
    BenchMatrix matrix =
        named_matrix(name, std::move(values), std::move(row_names),
                     is_column || name == "max" || name == "sum" ? std::vector<std::string>{""} : keys_);
    matrix.first_row = rows_.from;
    if (matrix.values.shape() == hidden_.shape()) matrix.hidden = hidden_;
    matrices_.push_back(std::move(matrix));
  }

  const BenchMatrix& matrix(std::string_view name) const {
    return *std::ranges::find(matrices_, name, &BenchMatrix::name);
  }

  const BenchInputs& inputs_;
  std::vector<std::string> queries_, keys_;
  BenchRows rows_;
  Tensor masked_, weights_, hidden_;
  std::vector<BenchMatrix> matrices_;
};

}  // namespace

BenchRows rows_of_pairs(const BenchInputs& inputs) {
  const std::int64_t queries = inputs.q.dim(2);
  if (queries * inputs.k.dim(2) <= kBenchPairs) return {.from = 0, .to = queries};
  return {.from = inputs.query, .to = inputs.query + 1};
}

std::vector<BenchMatrix> forward_matrices(const BenchInputs& inputs) { return Forward(inputs).all(); }

}  // namespace qkv::explain_detail
