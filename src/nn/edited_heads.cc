#include "nn/edited_heads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "mask/bias_node.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/masked_fill.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/shape.h"
#include "qkv/autograd/softmax.h"

namespace qkv::nn {
namespace {

using trace_detail::HeadsEdit;
using trace_detail::Record;

// One head of a call, with its mask, bias and dropout as matrices [B, 1, Tq, Tk].
class HeadMatrices {
 public:
  HeadMatrices(const AttentionOptions& options, const MaskShape& shape, std::int64_t h)
      : options_(options), shape_(shape), h_(h) {}

  [[nodiscard]] Tensor bias(DType dtype) const {
    return filled(dtype, [&](const Place& first, std::vector<double>& row) {
      options_.bias.add_row(first, row, shape_);
      // hidden() handles -inf; here -inf + inf would give NaN.
      for (double& value : row) value = forbids(value, dtype) ? 0 : value;
    });
  }

  // b8: true where the mask hides the pair, or its bias forbids it.
  [[nodiscard]] Tensor hidden(DType dtype) const {
    return filled(DType::b8, [&](const Place& first, std::vector<double>& row) {
      options_.bias.add_row(first, row, shape_);
      Place place = first;
      for (double& value : row) {
        value = forbids(value, dtype) || !options_.mask.allows(place, shape_) ? 1 : 0;
        ++place.j;
      }
    });
  }

  // The factors by which dropout multiplies the weights.
  [[nodiscard]] Tensor kept(DType dtype) const {
    const Dropout& dropout = *options_.dropout;
    return filled(dtype, [&](const Place& first, std::vector<double>& row) {
      Place place = first;
      for (double& value : row) {
        value = dropout_keeps(dropout.seed, dropout.p, place) ? 1 / (1 - dropout.p) : 0;
        ++place.j;
      }
    });
  }

 private:
  static bool forbids(double bias, DType dtype) {
    return bias_detail::as_taken(bias, dtype) == -std::numeric_limits<double>::infinity();
  }

  template <class Row>
  [[nodiscard]] Tensor filled(DType dtype, const Row& fill_row) const {
    Tensor all(dtype, {shape_.B, 1, shape_.Tq, shape_.Tk});
    const MutableTensorView places = all;
    std::vector<double> row(static_cast<std::size_t>(shape_.Tk));
    for (std::int64_t b = 0; b < shape_.B; ++b) {
      for (std::int64_t i = 0; i < shape_.Tq; ++i) {
        std::ranges::fill(row, 0.0);
        fill_row({.b = b, .h = h_, .i = i, .j = 0}, row);
        places.store_row(std::array{b, std::int64_t{0}, i}, row);
      }
    }
    return all;
  }

  const AttentionOptions& options_;
  MaskShape shape_;
  std::int64_t h_;
};

// The matrix of one head with the edits of this stage.
Variable edited(const Record& record, const std::string& attention, Stage stage, std::int64_t h, Variable matrix) {
  const std::string name = trace_detail::stage_name(attention, stage);
  for (const HeadsEdit& change : record.head_edits) {
    if (!change.means(h) || !trace_detail::matches(change.pattern, name)) continue;
    Variable after = change.edit(matrix);
    if (after.empty() || !(after.shape() == matrix.shape()) || after.dtype() != matrix.dtype()) {
      throw InvalidArgument("Trace::edit_heads", name,
                            std::string(name_of(matrix.dtype())) + " " + matrix.shape().to_string(),
                            after.empty() ? "an empty variable" : after.shape().to_string());
    }
    matrix = std::move(after);
  }
  return matrix;
}

// What an edited head shows from its first stage that an edit can change.
void keep(Record& record, const std::string& attention, Stage stage, std::int64_t h, const Variable& matrix) {
  if (record.attentions.find(attention) == nullptr) return;
  auto& kept = record.attentions.place_of(attention).edited;
  kept[std::string(name_of(stage)) + "." + std::to_string(h)] = matrix.detach();
}

void require_heads(const Record& record, const std::string& attention, std::int64_t Hq) {
  for (const HeadsEdit& change : record.head_edits) {
    for (const std::int64_t h : change.heads) {
      if (!change.means(attention) || (h >= 0 && h < Hq)) continue;
      throw InvalidArgument("Trace::edit_heads", "heads",
                            "0 to " + std::to_string(Hq - 1) + ", the heads of \"" + attention + "\"",
                            std::to_string(h));
    }
  }
}

// The weights with the sink's share left out: softmax over the keys and one more score.
Variable softmax_of(const Variable& scores, const AttentionOptions& options, std::int64_t h) {
  if (options.sinks.empty()) return softmax(scores);
  const Shape& shape = scores.shape();
  Tensor sink(scores.dtype(), {shape[0], 1, shape[2], 1});
  const MutableTensorView places = sink;
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    for (std::int64_t i = 0; i < shape[2]; ++i) places.set({b, 0, i, 0}, options.sinks[static_cast<std::size_t>(h)]);
  }
  return slice(softmax(concat({scores, Variable(std::move(sink))}, 3)), 3, 0, shape[3]);
}

Variable head_out(Record& record, const std::string& attention, const std::array<Variable, 3>& qkv,
                  const AttentionOptions& options, const HeadMatrices& matrices, std::int64_t h) {
  const auto& [q, k, v] = qkv;
  const DType dtype = q.dtype();
  const double factor = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(3))));
  Variable scores = scale(matmul(q, transpose(k, 2, 3)), factor);
  if (options.softcap) scores = scale(tanh(scale(scores, 1 / *options.softcap)), *options.softcap);
  if (!options.bias.is_zero()) scores = scores + Variable(matrices.bias(dtype));
  const Tensor hidden = matrices.hidden(dtype);
  scores = masked_fill(scores, hidden, -std::numeric_limits<double>::infinity());
  scores = edited(record, attention, Stage::masked, h, std::move(scores));
  keep(record, attention, Stage::masked, h, scores);
  Variable weights = edited(record, attention, Stage::weights, h, softmax_of(scores, options, h));
  keep(record, attention, Stage::weights, h, weights);
  if (options.dropout) weights = weights * Variable(matrices.kept(dtype));
  keep(record, attention, Stage::dropped, h, weights);
  return matmul(weights, v);
}

bool is_edited(const Record& record, const std::string& attention, std::int64_t h) {
  return std::ranges::any_of(record.head_edits,
                             [&](const HeadsEdit& change) { return change.means(h) && change.means(attention); });
}

}  // namespace

Variable with_edited_heads(Record& record, const std::string& attention, const Variable& q, const Variable& k,
                           const Variable& v, const AttentionRun& run) {
  if (run.options.ragged) {
    throw InvalidArgument("Trace::edit_heads", "ragged", "a batch that is not ragged, to edit heads", "ragged");
  }
  const std::int64_t Hq = q.dim(1);
  require_heads(record, attention, Hq);
  const std::int64_t group = Hq / k.dim(1);
  const MaskShape shape{.B = q.dim(0), .H = Hq, .Tq = q.dim(2), .Tk = k.dim(2)};
  const DType dtype = q.dtype() == DType::f64 ? DType::f64 : DType::f32;
  std::vector<Variable> parts;
  std::int64_t done = 0;
  for (std::int64_t h = 0; h < Hq; ++h) {
    if (!is_edited(record, attention, h)) continue;
    if (h > done) parts.push_back(slice(run.out, 1, done, h));
    const std::array<Variable, 3> head = {cast(slice(q, 1, h, h + 1), dtype),
                                          cast(slice(k, 1, h / group, h / group + 1), dtype),
                                          cast(slice(v, 1, h / group, h / group + 1), dtype)};
    const HeadMatrices matrices(run.options, shape, h);
    parts.push_back(cast(head_out(record, attention, head, run.options, matrices, h), q.dtype()));
    done = h + 1;
  }
  if (parts.empty()) return run.out;
  if (done < Hq) parts.push_back(slice(run.out, 1, done, Hq));
  return concat(parts, 1);
}

}  // namespace qkv::nn
