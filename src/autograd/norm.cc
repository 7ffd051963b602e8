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
template <Centred kCentred, class T, class P>
void forward_rows(const T* x, const P* weight, const P* bias, double epsilon, Rows rows, T* out,
                  Computed<T>* statistics) {
  using Real = Computed<T>;
  const std::int64_t N = rows.width;
  for_rows(rows.count, N, [&](std::int64_t begin, std::int64_t end) {
    vectorised<T>([&]() QKV_INLINED {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* from = x + row * N;
        T* to = out + row * N;
        Real mean = 0;
        if (kCentred == Centred::yes) {
          mean = sum_of<Real>(N, [&](std::int64_t i) QKV_INLINED { return load(from[i]); }) / static_cast<Real>(N);
        }
        const Real squares = sum_of<Real>(N, [&](std::int64_t i) QKV_INLINED {
          const Real centred = load(from[i]) - mean;
          return centred * centred;
        });
        const Real inverse = 1 / std::sqrt(squares / static_cast<Real>(N) + static_cast<Real>(epsilon));
        for (std::int64_t i = 0; i < N; ++i) {
          const Real normal = (load(from[i]) - mean) * inverse * static_cast<Real>(load(weight[i]));
          store(to[i], bias == nullptr ? normal : normal + static_cast<Real>(load(bias[i])));
        }
        statistics[2 * row] = mean;
        statistics[2 * row + 1] = inverse;
      }
    });
  });
}

template <class T, class P>
struct BackwardRows {
  const T* x;
  const P* weight;
  const T* d_out;
  const Computed<T>* statistics;
  T* d_x;                // null where not wanted
  Computed<T>* partial;  // [pieces, 2, width]: sums of d_out * normal and of d_out
};

template <Centred kCentred, class T, class P>
QKV_INLINED inline void backward_row(const BackwardRows<T, P>& run, std::int64_t row, std::int64_t N,
                                     Computed<T>* d_weight, Computed<T>* d_bias) {
  using Real = Computed<T>;
  const T* x = run.x + row * N;
  const T* d = run.d_out + row * N;
  const Real mean = run.statistics[2 * row];
  const Real inverse = run.statistics[2 * row + 1];
  QKV_SAME_INDEX
  for (std::int64_t i = 0; i < N; ++i) {
    const Real along = load(d[i]);
    d_weight[i] += along * ((load(x[i]) - mean) * inverse);
    d_bias[i] += along;
  }
  if (run.d_x == nullptr) return;
  const auto [sum, sum_with_normal] = sums_of<Real>(N, [&](std::int64_t i, Real& plain, Real& with_normal) QKV_INLINED {
    const Real along = load(d[i]) * static_cast<Real>(load(run.weight[i]));
    plain += along;
    with_normal += along * ((load(x[i]) - mean) * inverse);
  });
  const Real shift = kCentred == Centred::yes ? sum / static_cast<Real>(N) : 0;
  const Real slope = sum_with_normal / static_cast<Real>(N);
  T* d_x = run.d_x + row * N;
  QKV_SAME_INDEX
  for (std::int64_t i = 0; i < N; ++i) {
    const Real normal = (load(x[i]) - mean) * inverse;
    const Real along = load(d[i]) * static_cast<Real>(load(run.weight[i]));
    store(d_x[i], inverse * (along - shift - normal * slope));
  }
}

std::int64_t rows_of_piece(std::int64_t width) {
  return std::max<std::int64_t>(16, 2 * kPiece / std::max<std::int64_t>(1, width));
}

template <Centred kCentred, class T, class P>
void backward_rows(const BackwardRows<T, P>& run, Rows rows) {
  const std::int64_t size = rows_of_piece(rows.width);
  for_pieces(rows.count, size, [&](std::int64_t begin, std::int64_t end) {
    vectorised<T>([&]() QKV_INLINED {
      Computed<T>* d_weight = run.partial + begin / size * 2 * rows.width;
      for (std::int64_t row = begin; row < end; ++row) {
        backward_row<kCentred>(run, row, rows.width, d_weight, d_weight + rows.width);
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
  with_real(from.dtype(), [&]<class T>(T) {
    with_parameter<T>(factor.dtype(), [&]<class P>(P) {
      forward_rows<kCentred>(from.data<T>(), factor.data<P>(), bias == nullptr ? nullptr : shift.data<P>(), epsilon,
                             rows, out.data<T>(), statistics.data<Computed<T>>());
    });
  });
  auto walk = [kept_x = Kept(operation, "x", from), kept = Kept(operation, "weight", factor), statistics, rows](
                  Value d_out, Gradients& gradients) {
    d_out = dense(d_out);
    const Value& row = kept.value();
    const std::int64_t size = rows_of_piece(rows.width);
    const std::int64_t pieces = (rows.count + size - 1) / size;
    Value partial = zero_value(statistics.dtype(), {pieces, 2, rows.width});
    Value d_x = gradients.wanted(0) ? place_like(d_out) : Value{};
    with_real(d_out.dtype(), [&]<class T>(T) {
      with_parameter<T>(row.dtype(), [&]<class P>(P) {
        backward_rows<kCentred>(BackwardRows<T, P>{.x = kept_x.value().template data<T>(),
                                                   .weight = row.data<P>(),
                                                   .d_out = std::as_const(d_out).data<T>(),
                                                   .statistics = statistics.data<Computed<T>>(),
                                                   .d_x = d_x.empty() ? nullptr : d_x.data<T>(),
                                                   .partial = partial.data<Computed<T>>()},
                                rows);
      });
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

Variable rms_norm(const Variable& x, const Variable& weight, double epsilon) {
  return autograd::normalised<autograd::Centred::no>("rms_norm", x, weight, nullptr, epsilon);
}

}  // namespace qkv
