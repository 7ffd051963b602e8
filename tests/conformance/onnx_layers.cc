#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "conformance/onnx_operator.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/norm.h"
#include "qkv/autograd/rotary.h"
#include "qkv/autograd/shape.h"
#include "qkv/nn/activation.h"

namespace qkv::conformance {
namespace {

// ONNX names the first normalised axis; a negative one counts from the end.
int first_axis(const OnnxCase& onnx) {
  const auto axis = static_cast<int>(onnx.integer("axis", -1));
  return axis < 0 ? axis + onnx.inputs.at(0).rank() : axis;
}

// Elements of a row: of all normalised axes together, which are one axis for the norms here.
std::int64_t row_width(const OnnxCase& onnx) {
  const Shape& shape = onnx.inputs.at(0).shape();
  std::int64_t width = 1;
  for (int axis = first_axis(onnx); axis < shape.rank(); ++axis) width *= shape[axis];
  return width;
}

Variable rows_of(const OnnxCase& onnx) {
  const Tensor& x = onnx.inputs.at(0);
  const std::int64_t width = row_width(onnx);
  return reshape(Variable(x), {x.size() / width, width});
}

Variable row_input(const OnnxCase& onnx, std::size_t place) {
  const std::int64_t width = row_width(onnx);
  if (!onnx.has_input(place)) return Variable(Tensor(onnx.inputs.at(0).dtype(), {width}));
  return reshape(Variable(onnx.inputs[place]), {width});
}

struct Statistics {
  Tensor mean;
  Tensor inv_std;
};

// What the operator gives beside its result, one number a row, in f64.
Statistics statistics_of(const OnnxCase& onnx, double epsilon) {
  const std::vector<double> values = onnx.inputs.at(0).to_vector();
  const auto width = static_cast<std::size_t>(row_width(onnx));
  std::vector<double> means;
  std::vector<double> inv_stds;
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = begin; i < begin + width; ++i) sum += values[i];
    const double mean = sum / static_cast<double>(width);
    for (std::size_t i = begin; i < begin + width; ++i) squares += (values[i] - mean) * (values[i] - mean);
    means.push_back(mean);
    inv_stds.push_back(1 / std::sqrt(squares / static_cast<double>(width) + epsilon));
  }
  Shape shape = onnx.inputs[0].shape();
  for (int axis = first_axis(onnx); axis < shape.rank(); ++axis) shape[axis] = 1;
  const DType dtype = onnx.inputs[0].dtype() == DType::f64 ? DType::f64 : DType::f32;
  return {.mean = Tensor(means, shape).to(dtype), .inv_std = Tensor(inv_stds, shape).to(dtype)};
}

// With positions the cache is [positions, pairs] and looked up; without it is [B, T, pairs] already.
Tensor rotary_table(const OnnxCase& onnx, std::size_t place) {
  const Tensor& cache = onnx.inputs.at(place);
  return onnx.has_input(3) ? Tensor(embedding(Variable(cache), onnx.inputs[3]).value()) : cache;
}

}  // namespace

std::vector<Tensor> run_gelu(const OnnxCase& onnx) {
  const bool tanh = onnx.text("approximate", "none") == "tanh";
  return {Tensor(activate(tanh ? Activation::gelu_tanh : Activation::gelu, Variable(onnx.inputs.at(0))).value())};
}

std::vector<Tensor> run_layer_normalization(const OnnxCase& onnx) {
  const double epsilon = onnx.number("epsilon", 1e-5);
  const Variable out = layer_norm(rows_of(onnx), row_input(onnx, 1), row_input(onnx, 2), epsilon);
  Statistics statistics = statistics_of(onnx, epsilon);
  return {Tensor(reshape(out, onnx.inputs[0].shape()).value()), std::move(statistics.mean),
          std::move(statistics.inv_std)};
}

std::vector<Tensor> run_rms_normalization(const OnnxCase& onnx) {
  const Variable out = rms_norm(rows_of(onnx), row_input(onnx, 1), onnx.number("epsilon", 1e-5));
  return {Tensor(reshape(out, onnx.inputs[0].shape()).value())};
}

std::vector<Tensor> run_rotary_embedding(const OnnxCase& onnx) {
  const bool interleaved = onnx.integer("interleaved", 0) != 0;
  const RotaryTables tables{.cos = rotary_table(onnx, 1),
                            .sin = rotary_table(onnx, 2),
                            .layout = interleaved ? RotaryLayout::interleaved : RotaryLayout::half_split};
  const Variable x(onnx.inputs.at(0));
  if (x.rank() == 4) return {Tensor(rotary(x, tables).value())};
  return {Tensor(merge_heads(rotary(split_heads(x, onnx.integer("num_heads", 0)), tables)).value())};
}

}  // namespace qkv::conformance
