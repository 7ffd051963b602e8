#include "qkv/autograd/softmax.h"

#include <limits>
#include <string>
#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "autograd/rows.h"
#include "autograd/special.h"
#include "core/bytes.h"
#include "core/plain_number.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace autograd {
namespace {

/// body(row, width, in, out) for each row of the values `in`, one of the rows of `out`; null where that is null.
template <class Real, std::size_t kInputs, class Body>
void for_each_row(const std::array<const Value*, kInputs>& in, Value* out, const Body& body) {
  const std::int64_t width = in[0]->view.dim(-1);
  const std::int64_t rows = width == 0 ? 0 : in[0]->size() / width;
  for_rows(rows, width, [&](std::int64_t begin, std::int64_t end) {
    StagedRows<Real, kInputs> staged_rows(in, out, width);
    vectorised<Real>([&]() QKV_INLINED {
      for (std::int64_t row = begin; row < end; ++row) {
        staged_rows.take(row);
        body(row, width, staged_rows, staged_rows.out());
        staged_rows.give();
      }
    });
  });
}

Variable softmax_of_rows(const Variable& x) {
  const Value from = dense(plain(x.body()->value));
  Value out = new_value(from.dtype(), from.shape());
  with_computed(from.dtype(), [&]<class Real>(Real) {
    for_each_row<Real, 1>(
        {&from}, &out, [&](std::int64_t, std::int64_t width, const StagedRows<Real, 1>& rows, Real* write) QKV_INLINED {
          const Real* read = rows.in(0);
          const auto [most, sum] = row_sum(read, width);
          const Real inverse = sum == 0 ? Real{0} : 1 / sum;
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < width; ++i) write[i] = exponential(read[i] - most) * inverse;
        });
  });
  const Kept kept("softmax", "the result", out);
  return recorded("softmax", std::move(out), {&x}, [kept](Value d_out, Gradients& gradients) {
    d_out = dense(d_out);
    Value d_x = place_like(d_out);
    with_computed(d_x.dtype(), [&]<class Real>(Real) {
      for_each_row<Real, 2>(
          {&kept.value(), &d_out}, &d_x,
          [&](std::int64_t, std::int64_t width, const StagedRows<Real, 2>& rows, Real* write) QKV_INLINED {
            const Real* weights = rows.in(0);
            const Real* d = rows.in(1);
            const Real dot = sum_of<Real>(width, [&](std::int64_t i) QKV_INLINED { return d[i] * weights[i]; });
            QKV_SAME_INDEX
            for (std::int64_t i = 0; i < width; ++i) write[i] = weights[i] * (d[i] - dot);
          });
    });
    gradients.give(0, std::move(d_x));
  });
}

Variable log_softmax_of_rows(const Variable& x) {
  const Value from = dense(plain(x.body()->value));
  Value out = new_value(from.dtype(), from.shape());
  with_computed(from.dtype(), [&]<class Real>(Real) {
    for_each_row<Real, 1>(
        {&from}, &out, [&](std::int64_t, std::int64_t width, const StagedRows<Real, 1>& rows, Real* write) QKV_INLINED {
          const Real* read = rows.in(0);
          const auto [most, sum] = row_sum(read, width);
          const Real log = sum == 0 ? Real{0} : logarithm(sum);
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < width; ++i) write[i] = read[i] - most - log;
        });
  });
  const Kept kept("log_softmax", "the result", out);
  return recorded("log_softmax", std::move(out), {&x}, [kept](Value d_out, Gradients& gradients) {
    d_out = dense(d_out);
    Value d_x = place_like(d_out);
    with_computed(d_x.dtype(), [&]<class Real>(Real) {
      for_each_row<Real, 2>(
          {&kept.value(), &d_out}, &d_x,
          [&](std::int64_t, std::int64_t width, const StagedRows<Real, 2>& rows, Real* write) QKV_INLINED {
            const Real* logs = rows.in(0);
            const Real* d = rows.in(1);
            const Real sum = sum_of<Real>(width, [&](std::int64_t i) QKV_INLINED { return d[i]; });
            QKV_SAME_INDEX
            for (std::int64_t i = 0; i < width; ++i) write[i] = d[i] - exponential(logs[i]) * sum;
          });
    });
    gradients.give(0, std::move(d_x));
  });
}

Variable along(std::string_view operation, const Variable& x, int axis, Variable (*of_rows)(const Variable&)) {
  const Shape& shape = value_of(operation, "x", x).shape();
  const int place = axis < 0 ? axis + shape.rank() : axis;
  if (place < 0 || place >= shape.rank()) {
    throw InvalidArgument(operation, "axis", "an axis of " + shape.to_string(), std::to_string(axis));
  }
  if (place == shape.rank() - 1) return of_rows(x);
  return transpose(of_rows(transpose(x, place, -1)), place, -1);
}

// The class of each position; none if the position is ignored.
constexpr std::int64_t kIgnored = std::numeric_limits<std::int64_t>::min();

std::vector<std::int64_t> classes_of(const TensorView& targets, std::int64_t classes,
                                     const CrossEntropyOptions& options) {
  std::vector<std::int64_t> result;
  result.reserve(core::checked_count<std::int64_t>("cross_entropy", targets.shape()));
  for (const double target : targets.to_vector()) {
    const auto id = static_cast<std::int64_t>(target);
    if (options.ignored && id == *options.ignored) {
      result.push_back(kIgnored);
    } else if (id >= 0 && id < classes) {
      result.push_back(id);
    } else {
      throw InvalidArgument("cross_entropy", "targets", "classes from 0 to " + std::to_string(classes - 1),
                            std::to_string(id));
    }
  }
  return result;
}

void require_targets(const Value& logits, const TensorView& targets, const CrossEntropyOptions& options) {
  if (logits.view.rank() < 1) {
    throw InvalidArgument("cross_entropy", "logits", "[..., C]", logits.shape().to_string());
  }
  if (targets.dtype() != DType::i64 && targets.dtype() != DType::i32) {
    throw InvalidArgument("cross_entropy", "targets", "i64 or i32", name_of(targets.dtype()));
  }
  const Shape wanted = logits.shape().without(logits.view.rank() - 1);
  if (!(targets.shape() == wanted)) {
    throw InvalidArgument("cross_entropy", "targets", wanted.to_string() + " for logits " + logits.shape().to_string(),
                          targets.shape().to_string());
  }
  if (options.label_smoothing >= 0 && options.label_smoothing < 1) return;
  throw InvalidArgument("cross_entropy", "label_smoothing", "a number in [0, 1)",
                        core::plain_number(options.label_smoothing));
}

struct Targets {
  std::vector<std::int64_t> classes;
  double counted;
  double smoothing;
};

// Maximum and sum of exp of each row into `sums`, [rows, 2]; returns the sum of the losses.
template <class Real>
double losses(const Value& logits, const Targets& targets, Real* sums) {
  std::vector<double> loss(targets.classes.size());
  for_each_row<Real, 1>({&logits}, nullptr,
                        [&](std::int64_t n, std::int64_t width, const StagedRows<Real, 1>& rows, Real*) QKV_INLINED {
                          const Real* read = rows.in(0);
                          const auto row = static_cast<std::size_t>(n);
                          const auto [most, sum] = row_sum(read, width);
                          sums[2 * row] = most;
                          sums[2 * row + 1] = sum;
                          if (targets.classes[row] == kIgnored) return;
                          const auto log = static_cast<double>(most) + logarithm(static_cast<double>(sum));
                          const double of_target = log - static_cast<double>(read[targets.classes[row]]);
                          loss[row] = of_target;
                          if (targets.smoothing == 0) return;
                          const Real all = sum_of<Real>(width, [&](std::int64_t i) QKV_INLINED { return read[i]; });
                          const double of_all = log - static_cast<double>(all) / static_cast<double>(width);
                          loss[row] = (1 - targets.smoothing) * of_target + targets.smoothing * of_all;
                        });
  double total = 0;
  for (const double one : loss) total += one;
  return total;
}

template <class Real>
void d_losses(const Value& logits, const Targets& targets, const Real* sums, double d_loss, Value& d_logits) {
  const auto share = static_cast<Real>(d_loss / targets.counted);
  for_each_row<Real, 1>({&logits}, &d_logits,
                        [&](std::int64_t n, std::int64_t width, const StagedRows<Real, 1>& rows, Real* write)
                            QKV_INLINED {
                              const Real* read = rows.in(0);
                              const auto row = static_cast<std::size_t>(n);
                              const std::int64_t target = targets.classes[row];
                              if (target == kIgnored) {
                                for (std::int64_t i = 0; i < width; ++i) write[i] = 0;
                                return;
                              }
                              const Real spread = static_cast<Real>(targets.smoothing) / static_cast<Real>(width);
                              // Keeps maximum and sum apart: lse in one f32 would add its own rounding error to every
                              // weight of the row.
                              const Real most = sums[2 * row];
                              const Real inverse = 1 / sums[2 * row + 1];
                              QKV_SAME_INDEX
                              for (std::int64_t i = 0; i < width; ++i)
                                write[i] = share * (exponential(read[i] - most) * inverse - spread);
                              const Real at_target = exponential(read[target] - most) * inverse - spread;
                              write[target] = share * (at_target - static_cast<Real>(1 - targets.smoothing));
                            });
}

}  // namespace
}  // namespace autograd

Variable softmax(const Variable& x, int axis) { return autograd::along("softmax", x, axis, autograd::softmax_of_rows); }

Variable log_softmax(const Variable& x, int axis) {
  return autograd::along("log_softmax", x, axis, autograd::log_softmax_of_rows);
}

Variable cross_entropy(const Variable& logits, const TensorView& targets, const CrossEntropyOptions& options) {
  using autograd::Value;
  const Value from = autograd::dense(autograd::value_of("cross_entropy", "logits", logits));
  autograd::require_targets(from, targets, options);
  autograd::Targets wanted{.classes = autograd::classes_of(targets, from.view.dim(-1), options),
                           .counted = 0,
                           .smoothing = options.label_smoothing};
  for (const std::int64_t target : wanted.classes) wanted.counted += target == autograd::kIgnored ? 0 : 1;
  const DType computed = from.dtype() == DType::f64 ? DType::f64 : DType::f32;
  Value sums = autograd::new_value(computed, {static_cast<std::int64_t>(wanted.classes.size()), 2});
  Value out = autograd::new_value(computed, {});
  autograd::with_computed(from.dtype(), [&]<class Real>(Real) {
    const double total = autograd::losses(from, wanted, sums.data<Real>());
    *out.data<Real>() = static_cast<Real>(total / wanted.counted);
  });
  return autograd::recorded("cross_entropy", std::move(out), {&logits},
                            [kept = autograd::Kept("cross_entropy", "logits", from), wanted = std::move(wanted), sums](
                                const Value& d_out, autograd::Gradients& gradients) {
                              const Value& read = kept.value();
                              Value d_logits = autograd::new_value(read.dtype(), read.shape());
                              autograd::with_computed(read.dtype(), [&]<class Real>(Real) {
                                autograd::d_losses(read, wanted, sums.data<Real>(), d_out.view.at({}), d_logits);
                              });
                              gradients.give(0, std::move(d_logits));
                            });
}

}  // namespace qkv
