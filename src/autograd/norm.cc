#include "qkv/autograd/norm.h"

#include <cmath>
#include <string>
#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "autograd/reduce.h"
#include "autograd/rows.h"
#include "core/plain_number.h"

namespace qkv {
namespace autograd {
namespace {

enum class Centred : std::uint8_t { yes, no };

struct Rows {
  std::int64_t count;
  std::int64_t width;
};

Rows rows_of(const Value& x) {
  const std::int64_t width = x.view.dim(-1);
  return {width == 0 ? 0 : x.size() / width, width};
}

// [rows, 2]: mean and 1 / standard deviation.
template <Centred kCentred, class Real>
void forward_rows(const Value& x, const Real* weight, const Real* bias, double epsilon, Rows rows, Value& out,
                  Real* statistics) {
  const std::int64_t N = rows.width;
  for_rows(rows.count, N, [&](std::int64_t begin, std::int64_t end) {
    StagedRows<Real, 1> staged_rows({&x}, &out, N);
    vectorised<Real>([&]() QKV_INLINED {
      for (std::int64_t row = begin; row < end; ++row) {
        staged_rows.take(row);
        const Real* from = staged_rows.in(0);
        Real* to = staged_rows.out();
        Real mean = 0;
        if (kCentred == Centred::yes) {
          mean = sum_of<Real>(N, [&](std::int64_t i) QKV_INLINED { return from[i]; }) / static_cast<Real>(N);
        }
        const Real squares = sum_of<Real>(N, [&](std::int64_t i) QKV_INLINED {
          const Real centred = from[i] - mean;
          return centred * centred;
        });
        const Real inverse = 1 / std::sqrt(squares / static_cast<Real>(N) + static_cast<Real>(epsilon));
        QKV_SAME_INDEX
        for (std::int64_t i = 0; i < N; ++i) {
          const Real normal = (from[i] - mean) * inverse * weight[i];
          to[i] = bias == nullptr ? normal : normal + bias[i];
        }
        staged_rows.give();
        statistics[2 * row] = mean;
        statistics[2 * row + 1] = inverse;
      }
    });
  });
}

template <class Real>
struct BackwardRows {
  const Value& x;
  const Value& d_out;
  const Real* weight;
  const Real* statistics;
  Value* d_x;     // null where not wanted
  Real* partial;  // [pieces, 2, width]: sums of d_out * normal and of d_out
};

template <Centred kCentred, class Real>
QKV_INLINED inline void backward_row(const BackwardRows<Real>& run, const StagedRows<Real, 2>& staged_rows,
                                     std::int64_t row, std::int64_t N, Real* d_weight, Real* d_bias) {
  const Real* x = staged_rows.in(0);
  const Real* d = staged_rows.in(1);
  const Real mean = run.statistics[2 * row];
  const Real inverse = run.statistics[2 * row + 1];
  QKV_SAME_INDEX
  for (std::int64_t i = 0; i < N; ++i) {
    const Real along = d[i];
    d_weight[i] += along * ((x[i] - mean) * inverse);
    d_bias[i] += along;
  }
  if (run.d_x == nullptr) return;
  const auto [sum, sum_with_normal] = sums_of<Real>(N, [&](std::int64_t i, Real& plain, Real& with_normal) QKV_INLINED {
    const Real along = d[i] * run.weight[i];
    plain += along;
    with_normal += along * ((x[i] - mean) * inverse);
  });
  const Real shift = kCentred == Centred::yes ? sum / static_cast<Real>(N) : 0;
  const Real slope = sum_with_normal / static_cast<Real>(N);
  Real* d_x = staged_rows.out();
  QKV_SAME_INDEX
  for (std::int64_t i = 0; i < N; ++i) {
    const Real normal = (x[i] - mean) * inverse;
    const Real along = d[i] * run.weight[i];
    d_x[i] = inverse * (along - shift - normal * slope);
  }
}

std::int64_t rows_of_piece(std::int64_t width) {
  return std::max<std::int64_t>(16, 2 * kPiece / std::max<std::int64_t>(1, width));
}

template <Centred kCentred, class Real>
void backward_rows(const BackwardRows<Real>& run, Rows rows) {
  const std::int64_t size = rows_of_piece(rows.width);
  for_pieces(rows.count, size, [&](std::int64_t begin, std::int64_t end) {
    StagedRows<Real, 2> staged_rows({&run.x, &run.d_out}, run.d_x, rows.width);
    vectorised<Real>([&]() QKV_INLINED {
      Real* d_weight = run.partial + begin / size * 2 * rows.width;
      for (std::int64_t row = begin; row < end; ++row) {
        staged_rows.take(row);
        backward_row<kCentred>(run, staged_rows, row, rows.width, d_weight, d_weight + rows.width);
        staged_rows.give();
      }
    });
  });
}

void require_row(std::string_view operation, std::string_view argument, const Value& x, const Value& row) {
  const Shape wanted = {x.view.dim(-1)};
  if (!(row.shape() == wanted)) {
    throw InvalidArgument(operation, argument, wanted.to_string() + " for x " + x.shape().to_string(),
                          row.shape().to_string());
  }
  if (!may_serve(row.dtype(), x.dtype())) require_dtype(operation, argument, x.dtype(), "x", row.dtype());
}

template <Centred kCentred>
Variable normalised(std::string_view operation, const Variable& x, const Variable& weight, const Variable* bias,
                    double epsilon) {
  const Value from = dense(value_of(operation, "x", x));
  if (from.view.rank() < 1) throw InvalidArgument(operation, "x", "one axis or more", from.shape().to_string());
  const Value factor = dense(value_of(operation, "weight", weight));
  require_row(operation, "weight", from, factor);
  const Value shift = bias == nullptr ? Value{} : dense(value_of(operation, "bias", *bias));
  if (bias != nullptr) {
    require_row(operation, "bias", from, shift);
    require_dtype(operation, "bias", factor.dtype(), "weight", shift.dtype());
  }
  if (!(epsilon >= 0)) throw InvalidArgument(operation, "epsilon", "0 or more", core::plain_number(epsilon));
  const Rows rows = rows_of(from);
  Value out = new_value(from.dtype(), from.shape());
  Value statistics = new_value(from.dtype() == DType::f64 ? DType::f64 : DType::f32, {rows.count, 2});
  const Value own_factor = in_dtype(factor, statistics.dtype());
  const Value own_shift = bias == nullptr ? Value{} : in_dtype(shift, statistics.dtype());
  with_computed(from.dtype(), [&]<class Real>(Real) {
    forward_rows<kCentred>(from, own_factor.data<Real>(), bias == nullptr ? nullptr : own_shift.data<Real>(), epsilon,
                           rows, out, statistics.data<Real>());
  });
  auto walk = [kept_x = Kept(operation, "x", from), kept = Kept(operation, "weight", factor), statistics, rows](
                  Value d_out, Gradients& gradients) {
    d_out = dense(d_out);
    const Value& row = kept.value();
    const std::int64_t size = rows_of_piece(rows.width);
    const std::int64_t pieces = (rows.count + size - 1) / size;
    Value partial = zero_value(statistics.dtype(), {pieces, 2, rows.width});
    Value d_x = gradients.wanted(0) ? place_like(d_out) : Value{};
    const Value own_row = in_dtype(row, statistics.dtype());
    with_computed(d_out.dtype(), [&]<class Real>(Real) {
      backward_rows<kCentred>(BackwardRows<Real>{.x = kept_x.value(),
                                                 .d_out = d_out,
                                                 .weight = own_row.data<Real>(),
                                                 .statistics = statistics.data<Real>(),
                                                 .d_x = d_x.empty() ? nullptr : &d_x,
                                                 .partial = partial.data<Real>()},
                              rows);
    });
    if (!d_x.empty()) gradients.give(0, std::move(d_x));
    const Value sums = sum_middle(partial, {1, pieces, 2 * rows.width}, {.dtype = row.dtype()});
    for (std::size_t n = 1; n < gradients.inputs(); ++n) {
      Value d_row = sums;
      const auto first = static_cast<std::int64_t>(n - 1) * rows.width;
      d_row.view = sums.view.reshape({2 * rows.width}).slice(0, first, first + rows.width);
      gradients.give(n, std::move(d_row));
    }
  };
  if (bias == nullptr) return recorded(operation, std::move(out), {&x, &weight}, std::move(walk));
  return recorded(operation, std::move(out), {&x, &weight, bias}, std::move(walk));
}

}  // namespace
}  // namespace autograd

Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, double epsilon) {
  return autograd::normalised<autograd::Centred::yes>("layer_norm", x, weight, &bias, epsilon);
}

Variable layer_norm(const Variable& x, const Variable& weight, double epsilon) {
  return autograd::normalised<autograd::Centred::yes>("layer_norm", x, weight, nullptr, epsilon);
}

Variable rms_norm(const Variable& x, const Variable& weight, double epsilon) {
  return autograd::normalised<autograd::Centred::no>("rms_norm", x, weight, nullptr, epsilon);
}

}  // namespace qkv
