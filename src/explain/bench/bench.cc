#include "qkv/explain/bench.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/listed.h"
#include "explain/bench/matrices.h"
#include "explain/plain.h"

namespace qkv {
namespace {

[[noreturn]] void refuse(std::string_view argument, const std::string& expected, const std::string& got) {
  throw InvalidArgument("bench", argument, expected, got);
}

void require_matrix(std::string_view argument, const Tensor& tensor, const Shape& shape) {
  if (tensor.dtype() != DType::f64 || !(tensor.shape() == shape)) {
    refuse(argument, shape.to_string() + " of f64",
           tensor.shape().to_string() + " of " + std::string(name_of(tensor.dtype())));
  }
}

Tensor as_head(const Tensor& x, const Tensor& w) {
  return explain_detail::matmul(x, w).reshape({1, 1, x.dim(0), w.dim(1)});
}

void project(BenchInputs& inputs) {
  const std::int64_t width = inputs.x.dim(1);
  const Tensor& source = inputs.source.empty() ? inputs.x : inputs.source;
  require_matrix("source", source, {source.dim(0), width});
  require_matrix("w_q", inputs.w_q, {width, inputs.w_q.dim(1)});
  require_matrix("w_k", inputs.w_k, {width, inputs.w_q.dim(1)});
  require_matrix("w_v", inputs.w_v, {width, inputs.w_v.dim(1)});
  inputs.q = as_head(inputs.x, inputs.w_q);
  inputs.k = as_head(source, inputs.w_k);
  inputs.v = as_head(source, inputs.w_v);
}

void require_places(const BenchInputs& inputs) {
  const auto in_range = [](std::string_view argument, std::int64_t at, std::int64_t count) {
    if (at < 0 || at >= count) refuse(argument, "0 to " + std::to_string(count - 1), std::to_string(at));
  };
  in_range("head", inputs.head, inputs.q.dim(1));
  in_range("query", inputs.query, inputs.q.dim(2));
  const auto named = [](std::string_view argument, const std::vector<std::string>& names, std::int64_t count) {
    if (std::ssize(names) == count) return;
    refuse(argument, std::to_string(count) + " words, one for each row", std::to_string(names.size()));
  };
  named("tokens", inputs.queries, inputs.q.dim(2));
  named("context", inputs.keys, inputs.k.dim(2));
  if (!inputs.d_out.empty()) require_matrix("d_out", inputs.d_out, {inputs.q.dim(2), inputs.v.dim(3)});
}

}  // namespace

Bench::Bench(BenchInputs inputs) : inputs_(std::move(inputs)) {
  if (!inputs_.x.empty() && inputs_.concat.empty()) project(inputs_);
  for (Tensor* tensor : {&inputs_.q, &inputs_.k, &inputs_.v}) *tensor = Tensor(tensor->view(), DType::f64);
  require_places(inputs_);
  matrices_ = explain_detail::forward_matrices(inputs_);
  for (BenchMatrix& matrix : explain_detail::backward_matrices(inputs_, matrices_)) {
    matrices_.push_back(std::move(matrix));
  }
}

double Bench::scale() const {
  return inputs_.options.scale.value_or(1 / std::sqrt(static_cast<double>(inputs_.q.dim(3))));
}

const BenchMatrix* Bench::find(std::string_view name) const {
  const auto found = std::ranges::find(matrices_, name, &BenchMatrix::name);
  return found == matrices_.end() ? nullptr : &*found;
}

const BenchMatrix& Bench::matrix(std::string_view name) const {
  if (const BenchMatrix* found = find(name)) return *found;
  refuse("of", "a matrix of the bench: " + core::joined(matrices_, &BenchMatrix::name),
         "\"" + std::string(name) + "\"");
}

}  // namespace qkv
