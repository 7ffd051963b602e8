#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/check.h"
#include "attention/outputs.h"
#include "core/element.h"
#include "core/exact_math.h"
#include "core/parallel.h"
#include "kernels/lse_rounding.h"
#include "qkv/attention.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kRowsATask = 64;

struct Merge {
  const MutableTensorView& out;
  const MutableTensorView& lse;
  std::span<const PartialAttention> parts;
};

// One row of the result.
struct RowPlace {
  std::int64_t b;
  std::int64_t h;
  std::int64_t i;

  [[nodiscard]] std::int64_t in(const TensorView& rows) const {
    return b * rows.strides()[0] + h * rows.strides()[1] + i * rows.strides()[2];
  }
};

double lse_at(const TensorView& lse, const RowPlace& place) {
  if (lse.dtype() == DType::f64) return static_cast<const double*>(lse.data())[place.in(lse)];
  return static_cast<double>(static_cast<const float*>(lse.data())[place.in(lse)]);
}

// Merges rows, with the sums of one in f64.
class RowMerger {
 public:
  explicit RowMerger(const Merge& merge)
      : merge_(merge), factors_(merge.parts.size()), sums_(static_cast<std::size_t>(merge.out.dim(3))) {}

  void run(const RowPlace& place) {
    const double lse = weigh(place);
    std::ranges::fill(sums_, std::isnan(lse) ? lse : 0.0);
    for (std::size_t n = 0; n < factors_.size(); ++n) {
      if (factors_[n]) add(merge_.parts[n].out, place, *factors_[n]);
    }
    store(place, lse);
  }

 private:
  // The share of each part in the row, none of one that saw nothing. Returns the row's lse.
  double weigh(const RowPlace& place) {
    double top = -kInfinity;
    for (std::size_t n = 0; n < factors_.size(); ++n) {
      const double lse = lse_at(merge_.parts[n].lse, place);
      factors_[n] = lse == -kInfinity ? std::nullopt : std::optional(lse);
      top = std::isnan(top) || lse <= top ? top : lse;
    }
    if (top == -kInfinity || std::isnan(top)) return top;
    double sum = 0;
    for (std::optional<double>& factor : factors_) {
      if (factor) sum += *(factor = core::exp(*factor - top));
    }
    for (std::optional<double>& factor : factors_) {
      if (factor) *factor /= sum;
    }
    return top + core::log(sum);
  }

  void add(const TensorView& out, const RowPlace& place, double factor) {
    core::with_type(out.dtype(), [&]<class T>(T) {
      const T* row = static_cast<const T*>(out.data()) + place.in(out);
      const std::int64_t step = out.strides()[3];
      for (std::size_t d = 0; d < sums_.size(); ++d) {
        sums_[d] += factor * core::to_double(row[static_cast<std::int64_t>(d) * step]);
      }
    });
  }

  void store(const RowPlace& place, double lse) const {
    core::with_type(merge_.out.dtype(), [&]<class T>(T) {
      T* row = static_cast<T*>(merge_.out.data()) + place.in(merge_.out);
      for (std::size_t d = 0; d < sums_.size(); ++d) row[d] = core::from_double<T>(sums_[d]);
    });
    if (merge_.lse.dtype() == DType::f64) {
      static_cast<double*>(merge_.lse.data())[place.in(merge_.lse)] = lse;
    } else {
      static_cast<float*>(merge_.lse.data())[place.in(merge_.lse)] = kernels::stored_lse(lse);
    }
  }

  const Merge& merge_;
  std::vector<std::optional<double>> factors_;
  std::vector<double> sums_;
};

void run(const Merge& merge, std::optional<int> threads) {
  const std::int64_t H = merge.out.dim(1);
  const std::int64_t Tq = merge.out.dim(2);
  const std::int64_t rows = merge.out.dim(0) * H * Tq;
  core::parallel_for(threads.value_or(qkv::threads()), (rows + kRowsATask - 1) / kRowsATask,
                     [&](int, std::int64_t task) {
                       RowMerger merger(merge);
                       const std::int64_t end = std::min((task + 1) * kRowsATask, rows);
                       for (std::int64_t row = task * kRowsATask; row < end; ++row) {
                         merger.run({.b = row / Tq / H, .h = row / Tq % H, .i = row % Tq});
                       }
                     });
}

void validate(std::string_view function, std::span<const PartialAttention> parts, std::optional<int> threads) {
  const Check check(function);
  check.that(!parts.empty(), "parts", "one part or more", "none");
  const TensorView& first = parts.front().out;
  check.that(first.rank() == 4, "parts", "out of a shape [B, Hq, Tq, Dv]", first.shape());
  check.that(is_floating(first.dtype()), "parts", "out of f64, f32, f16 or bf16", first.dtype());
  const Shape rows = first.shape().without(3);
  for (const PartialAttention& part : parts) {
    check.that(
        part.out.shape() == first.shape(), "parts", [&] { return "every out " + first.shape().to_string(); },
        part.out.shape());
    check.that(
        part.out.dtype() == first.dtype(), "parts", [&] { return fmt::format("every out {}", name_of(first.dtype())); },
        part.out.dtype());
    check.that(part.lse.shape() == rows, "parts", [&] { return "every lse " + rows.to_string(); }, part.lse.shape());
    check.that(
        part.lse.dtype() == DType::f64 || part.lse.dtype() == lse_dtype(first.dtype()), "parts",
        [&] { return fmt::format("every lse {}", first.dtype() == DType::f64 ? "f64" : "f32 or f64"); },
        part.lse.dtype());
  }
  if (threads) check.that(*threads >= 1, "threads", "1 or more", *threads);
}

}  // namespace

AttentionResult merge_attention(std::span<const PartialAttention> parts, std::optional<int> threads) {
  validate("merge_attention", parts, threads);
  const TensorView& first = parts.front().out;
  AttentionResult result = {.out = Tensor(first.dtype(), first.shape()),
                            .lse = Tensor(lse_dtype(first.dtype()), first.shape().without(3))};
  const MutableTensorView out = result.out;
  const MutableTensorView lse = result.lse;
  run({.out = out, .lse = lse, .parts = parts}, threads);
  return result;
}

void merge_attention_into(const MutableTensorView& out, const MutableTensorView& lse,
                          std::span<const PartialAttention> parts, std::optional<int> threads) {
  validate("merge_attention_into", parts, threads);
  validate_merged("merge_attention_into", out, lse, parts);
  run({.out = out, .lse = lse, .parts = parts}, threads);
}

}  // namespace qkv
