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

template <class Real>
inline constexpr Real kLowest = -std::numeric_limits<Real>::infinity();

/// The maximum of a row and the sum of exp(x - maximum); a row of -inf alone has sum 0.
template <class Real>
struct RowSum {
  Real most;
  Real sum;
};

template <class T>
QKV_INLINED inline RowSum<Computed<T>> row_sum(const T* x, std::int64_t width) {
  using Real = Computed<T>;
  const Real most = largest_of(width, kLowest<Real>, [&](std::int64_t i) QKV_INLINED { return load(x[i]); });
  const Real taken = most == kLowest<Real> ? 0 : most;
  const Real sum = sum_of<Real>(width, [&](std::int64_t i) QKV_INLINED { return exponential(load(x[i]) - taken); });
  return {taken, sum};
}

template <class T, class Body>
void for_each_row(const Value& x, const Body& body) {
  const std::int64_t width = x.view.dim(-1);
  const std::int64_t rows = width == 0 ? 0 : x.size() / width;
  for_rows(rows, width, [&](std::int64_t begin, std::int64_t end) {
    vectorised<T>([&]() QKV_INLINED {
      for (std::int64_t row = begin; row < end; ++row) body(row * width, width);
    });
  });
}

Variable softmax_of_rows(const Variable& x) {
  const Value from = dense(x.body()->value);
  Value out = new_value(from.dtype(), from.shape());
  with_real(from.dtype(), [&]<class T>(T) {
    const T* read = from.data<T>();
    T* write = out.data<T>();
    for_each_row<T>(from, [&](std::int64_t start, std::int64_t width) QKV_INLINED {
      const auto [most, sum] = row_sum(read + start, width);
      const Computed<T> inverse = sum == 0 ? Computed<T>{0} : 1 / sum;
      for (std::int64_t i = start; i < start + width; ++i) store(write[i], exponential(load(read[i]) - most) * inverse);
    });
  });
  const Kept kept("softmax", "the result", out);
  return recorded("softmax", std::move(out), {&x}, [kept](Value d_out, Gradients& gradients) {
    d_out = dense(d_out);
    Value d_x = place_like(d_out);
    with_real(d_x.dtype(), [&]<class T>(T) {
      const T* weights = kept.value().template data<T>();
      const T* d = std::as_const(d_out).data<T>();
      T* write = d_x.data<T>();
      for_each_row<T>(d_x, [&](std::int64_t start, std::int64_t width) QKV_INLINED {
        const auto dot = sum_of<Computed<T>>(
            width, [&](std::int64_t i) QKV_INLINED { return load(d[start + i]) * load(weights[start + i]); });
        QKV_SAME_INDEX
        for (std::int64_t i = start; i < start + width; ++i) store(write[i], load(weights[i]) * (load(d[i]) - dot));
      });
    });
    gradients.give(0, std::move(d_x));
  });
}

Variable log_softmax_of_rows(const Variable& x) {
  const Value from = dense(x.body()->value);
  Value out = new_value(from.dtype(), from.shape());
  with_real(from.dtype(), [&]<class T>(T) {
    const T* read = from.data<T>();
    T* write = out.data<T>();
    for_each_row<T>(from, [&](std::int64_t start, std::int64_t width) QKV_INLINED {
      const auto [most, sum] = row_sum(read + start, width);
      const Computed<T> log = sum == 0 ? Computed<T>{0} : logarithm(sum);
      for (std::int64_t i = start; i < start + width; ++i) store(write[i], load(read[i]) - most - log);
    });
  });
  const Kept kept("log_softmax", "the result", out);
  return recorded("log_softmax", std::move(out), {&x}, [kept](Value d_out, Gradients& gradients) {
    d_out = dense(d_out);
    Value d_x = place_like(d_out);
    with_real(d_x.dtype(), [&]<class T>(T) {
      const T* logs = kept.value().template data<T>();
      const T* d = std::as_const(d_out).data<T>();
      T* write = d_x.data<T>();
      for_each_row<T>(d_x, [&](std::int64_t start, std::int64_t width) QKV_INLINED {
        const auto sum = sum_of<Computed<T>>(width, [&](std::int64_t i) QKV_INLINED { return load(d[start + i]); });
        QKV_SAME_INDEX
        for (std::int64_t i = start; i < start + width; ++i) {
          store(write[i], load(d[i]) - exponential(load(logs[i])) * sum);
        }
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
template <class T>
double losses(const Value& logits, const Targets& targets, Computed<T>* sums) {
  using Real = Computed<T>;
  const T* read = logits.data<T>();
  std::vector<double> loss(targets.classes.size());
  for_each_row<T>(logits, [&](std::int64_t start, std::int64_t width) QKV_INLINED {
    const auto row = static_cast<std::size_t>(start / width);
    const auto [most, sum] = row_sum(read + start, width);
    sums[2 * row] = most;
    sums[2 * row + 1] = sum;
    if (targets.classes[row] == kIgnored) return;
    const auto log = static_cast<double>(most) + logarithm(static_cast<double>(sum));
    const double of_target = log - static_cast<double>(load(read[start + targets.classes[row]]));
    loss[row] = of_target;
    if (targets.smoothing == 0) return;
    const Real all = sum_of<Real>(width, [&](std::int64_t i) QKV_INLINED { return load(read[start + i]); });
    const double of_all = log - static_cast<double>(all) / static_cast<double>(width);
    loss[row] = (1 - targets.smoothing) * of_target + targets.smoothing * of_all;
  });
  double total = 0;
  for (const double one : loss) total += one;
  return total;
}

template <class T>
void d_losses(const Value& logits, const Targets& targets, const Computed<T>* sums, double d_loss, Value& d_logits) {
  using Real = Computed<T>;
  const T* read = logits.data<T>();
  T* write = d_logits.data<T>();
  const auto share = static_cast<Real>(d_loss / targets.counted);
  for_each_row<T>(logits, [&](std::int64_t start, std::int64_t width) QKV_INLINED {
    const auto row = static_cast<std::size_t>(start / width);
    const std::int64_t target = targets.classes[row];
    if (target == kIgnored) {
      for (std::int64_t i = start; i < start + width; ++i) store(write[i], 0);
      return;
    }
    const Real spread = static_cast<Real>(targets.smoothing) / static_cast<Real>(width);
    // Keeps maximum and sum apart: lse in one f32 would add its own rounding error to every weight of the row.
    const Real most = sums[2 * row];
    const Real inverse = 1 / sums[2 * row + 1];
    for (std::int64_t i = start; i < start + width; ++i) {
      store(write[i], share * (exponential(load(read[i]) - most) * inverse - spread));
    }
    const Real at_target = exponential(load(read[start + target]) - most) * inverse - spread;
    store(write[start + target], share * (at_target - static_cast<Real>(1 - targets.smoothing)));
  });
}

}  // namespace
}  // namespace autograd

Variable softmax(const Variable& x, int axis) { return autograd::along("softmax", x, axis, autograd::softmax_of_rows); }

Variable log_softmax(const Variable& x, int axis) {
  return autograd::along("log_softmax", x, axis, autograd::log_softmax_of_rows);
}

Variable cross_entropy(const Variable& logits, const TensorView& targets, const CrossEntropyOptions& options) {
  using autograd::Computed;
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
  autograd::with_real(from.dtype(), [&]<class T>(T) {
    const double total = autograd::losses<T>(from, wanted, sums.data<Computed<T>>());
    *out.data<Computed<T>>() = static_cast<Computed<T>>(total / wanted.counted);
  });
  return autograd::recorded("cross_entropy", std::move(out), {&logits},
                            [kept = autograd::Kept("cross_entropy", "logits", from), wanted = std::move(wanted), sums](
                                const Value& d_out, autograd::Gradients& gradients) {
                              const Value& read = kept.value();
                              Value d_logits = autograd::new_value(read.dtype(), read.shape());
                              autograd::with_real(read.dtype(), [&]<class T>(T) {
                                autograd::d_losses<T>(read, wanted, sums.data<Computed<T>>(), d_out.view.at({}),
                                                      d_logits);
                              });
                              gradients.give(0, std::move(d_logits));
                            });
}

}  // namespace qkv
