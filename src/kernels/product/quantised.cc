#include "kernels/product/quantised.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/block_pool.h"
#include "core/bytes.h"
#include "kernels/elements.h"
#include "kernels/pieces.h"
#include "kernels/product/dense.h"
#include "kernels/product/quantised_loops.h"
#include "kernels/vectorised.h"
#include "qkv/error.h"

namespace qkv::kernels {
namespace {

using core::BlockType;

// Up to here, reading the weight as it lies is faster than laying it side by side first.
constexpr std::int64_t kMostFewRows = 6;
constexpr std::int64_t kColumnsOfTask = 64;  // of many rows: what fits a core's second-level cache

std::int64_t group_of(BlockType type) {
  const bool is_of_16 = type == BlockType::q2_k || type == BlockType::q3_k || type == BlockType::q6_k;
  return is_of_16 ? 16 : 32;
}

enum class For : std::uint8_t { few, many };

// Memory of QuantisedRows.
class Rows {
 public:
  Rows(const TensorView& x, BlockType type, For loop)
      : M_(x.dim(0)),
        K_(x.dim(1)),
        group_(group_of(type)),
        stride_((K_ / group_ + 8 + 15) / 16 * 16),
        rows_(loop == For::few ? M_ : (M_ + kMostQuantisedRows - 1) / kMostQuantisedRows * kMostQuantisedRows),
        of_halves_(loop == For::few && is_of_halves(type)),
        numbers_(core::checked_bytes("product", {rows_, K_}, 1)),
        scales_(DType::f32, {2, rows_, stride_}) {
    const auto* from = x.data_as<float>();
    for_rows(rows_, K_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) quantise(row, row < M_ ? from + row * K_ : nullptr);
    });
  }

  [[nodiscard]] QuantisedRows view() const {
    return {.numbers = numbers(), .scales = scales(), .sums = sums(), .M = M_, .stride = stride_};
  }

 private:
  [[nodiscard]] std::int8_t* numbers() const { return static_cast<std::int8_t*>(numbers_.data()); }
  [[nodiscard]] float* scales() const { return static_cast<float*>(scales_.writable().data()); }
  [[nodiscard]] float* sums() const { return scales() + rows_ * stride_; }

  // A row of zeros where there is none.
  void quantise(std::int64_t row, const float* x) const {
    float* const scale = scales() + row * stride_;
    float* const sum = sums() + row * stride_;
    std::memset(scale, 0, static_cast<std::size_t>(stride_) * sizeof(float));
    std::memset(sum, 0, static_cast<std::size_t>(stride_) * sizeof(float));
    std::int8_t* to = numbers() + row * K_;
    if (x == nullptr) {
      std::memset(to, 0, static_cast<std::size_t>(K_));
      return;
    }
    vectorised<float>([&]() QKV_INLINED {
      if (group_ == 32) return each<32>(x, to, scale, sum);
      each<16>(x, to, scale, sum);
    });
    if (of_halves_) stand_as_halves(to);
  }

  void stand_as_halves(std::int8_t* row) const {
    constexpr std::int64_t kHalf = 16;
    for (std::int64_t first = 0; first + 4 * kHalf <= K_; first += 4 * kHalf) {
      std::swap_ranges(row + first + kHalf, row + first + 2 * kHalf, row + first + 2 * kHalf);
    }
  }

  template <int kGroup>
  QKV_INLINED void each(const float* x, std::int8_t* to, float* scale, float* sum) const {
    for (std::int64_t group = 0; group < K_ / kGroup; ++group, x += kGroup, to += kGroup) {
      std::uint32_t most = 0;  // as bits, among which NaN is the largest
      for (int n = 0; n < kGroup; ++n) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x[n]) & 0x7FFFFFFFU;
        most = magnitude > most ? magnitude : most;
      }
      const auto largest = std::bit_cast<float>(most);
      constexpr float kLeast = 0x1p-100F;  // of less the inverse may be infinite
      const float inverse = largest >= kLeast ? 127 / largest : 0;
      std::int32_t total = 0;
      for (int n = 0; n < kGroup; ++n) {
        // Rounded to the nearest whole number, which is then in the last bits.
        const auto bits = std::bit_cast<std::uint32_t>(x[n] * inverse + 0x1.8p23F);
        const auto number = static_cast<std::int8_t>(bits);
        to[n] = number;
        total += number;
      }
      const float finite = largest >= kLeast ? largest / 127 : 0;
      const float d = most < 0x7F800000U ? finite : std::numeric_limits<float>::quiet_NaN();
      scale[group] = d;
      sum[group] = d * static_cast<float>(total);
    }
  }

  std::int64_t M_;
  std::int64_t K_;
  std::int64_t group_;
  std::int64_t stride_;
  std::int64_t rows_;
  bool of_halves_;
  core::PooledBlock numbers_;
  Dense scales_;
};

void require_fit(const char* function, const MutableTensorView& out, const TensorView& x, const QuantisedWeight& weight,
                 const TensorView* bias) {
  const core::BlockLayout& layout = core::layout_of(weight.type);
  if (weight.K % layout.numbers != 0) {
    throw InvalidArgument(
        function, "weight",
        "rows of whole blocks of " + std::to_string(layout.numbers) + ", as " + std::string(layout.name) + " has",
        "rows of " + std::to_string(weight.K));
  }
  if (x.rank() != 2 || x.dim(1) != weight.K) {
    throw InvalidArgument(function, "x", "[M, " + std::to_string(weight.K) + "]", x.shape().to_string());
  }
  if (bias != nullptr && !(bias->shape() == Shape{weight.N})) {
    throw InvalidArgument(function, "bias", Shape{weight.N}.to_string(), bias->shape().to_string());
  }
  const Shape wanted = {x.dim(0), weight.N};
  if (!(out.shape() == wanted)) throw InvalidArgument(function, "out", wanted.to_string(), out.shape().to_string());
}

void multiply_few(const QuantisedLoops& loops, const QuantisedProduct& product) {
  const std::int64_t piece = even_piece(product.weight.N, product.x.M * product.weight.K, 1);
  for_pieces(product.weight.N, piece, [&](std::int64_t begin, std::int64_t end) { loops.few(product, begin, end); });
}

void multiply_many(const QuantisedLoops& loops, const QuantisedProduct& product) {
  const std::size_t bytes = many_bytes(product.weight, kColumnsOfTask);
  const int workers = std::max(threads(), 1);
  std::vector<core::PooledBlock> scratch(static_cast<std::size_t>(workers));
  const std::int64_t tasks = (product.weight.N + kColumnsOfTask - 1) / kColumnsOfTask;
  core::parallel_for(workers, tasks, [&](int worker, std::int64_t task) {
    core::PooledBlock& own = scratch[static_cast<std::size_t>(worker)];
    if (own.data() == nullptr) own = core::PooledBlock(bytes);
    const std::int64_t begin = task * kColumnsOfTask;
    loops.many(product, begin, std::min(begin + kColumnsOfTask, product.weight.N), static_cast<std::byte*>(own.data()));
  });
}

}  // namespace

QuantisedWeight quantised_weight(const QuantisedTensor& weight) {
  const Shape& shape = weight.shape();
  return {.type = weight.type(), .N = shape[0], .K = shape[1], .blocks = weight.blocks().data()};
}

std::int64_t row_bytes(const QuantisedWeight& weight) noexcept {
  const core::BlockLayout& layout = core::layout_of(weight.type);
  return weight.K / layout.numbers * layout.bytes;
}

std::size_t many_bytes(const QuantisedWeight& weight, std::int64_t columns) {
  // Of each number a byte, and of each 16, two floats at most; before the panels, some rows of x.
  return core::checked_bytes("product", {3 * columns + 2 * kLaidBytes, weight.K}, 1) / 2;
}

void multiply_by(const QuantisedLoops& loops, const MutableTensorView& out, const TensorView& x,
                 const QuantisedWeight& weight, const TensorView* bias) {
  const Dense rows = Dense::of(x, DType::f32);
  const Dense shift = bias == nullptr ? Dense() : Dense::of(*bias, DType::f32);
  const Dense sums = out.dtype() == DType::f32 ? Dense() : Dense(DType::f32, out.shape());
  const For loop = x.dim(0) <= kMostFewRows || loops.many == nullptr ? For::few : For::many;
  const Rows quantised(rows.view(), weight.type, loop);
  const QuantisedProduct product = {.x = quantised.view(),
                                    .weight = weight,
                                    .bias = shift.view().data_as<float>(),
                                    .out = static_cast<float*>(sums.owns() ? sums.writable().data() : out.data()),
                                    .out_row = weight.N};
  if (loop == For::few) {
    multiply_few(loops, product);
  } else {
    multiply_many(loops, product);
  }
  if (sums.owns()) copy_elements(sums.view(), out);
}

void multiply_quantised(const char* function, const MutableTensorView& out, const TensorView& x,
                        const QuantisedWeight& weight, const TensorView* bias) {
  require_fit(function, out, x, weight, bias);
  if (out.size() > 0) multiply_by(chosen_quantised(), out, x, weight, bias);
}

void dequantise_row(const QuantisedWeight& weight, std::int64_t n, float* to) {
  const auto bytes = static_cast<std::size_t>(row_bytes(weight));
  core::dequantise(weight.type, {weight.blocks + static_cast<std::size_t>(n) * bytes, bytes},
                   {to, static_cast<std::size_t>(weight.K)});
}

void multiply_dequantised(const MutableTensorView& out, const TensorView& x, const QuantisedWeight& weight,
                          const TensorView* bias) {
  const Dense rows = Dense::of(x, DType::f32);
  const Dense shift = bias == nullptr ? Dense() : Dense::of(*bias, DType::f32);
  const Dense sums(DType::f32, out.shape());
  const auto* from = rows.view().data_as<float>();
  const auto* added = shift.view().data_as<float>();
  auto* to = static_cast<float*>(sums.writable().data());
  for_pieces(weight.N, 1, [&](std::int64_t n, std::int64_t /*end*/) {
    std::vector<float> row(static_cast<std::size_t>(weight.K));
    dequantise_row(weight, n, row.data());
    for (std::int64_t m = 0; m < x.dim(0); ++m) {
      float sum = 0;
      for (std::int64_t k = 0; k < weight.K; ++k) sum += from[m * weight.K + k] * row[static_cast<std::size_t>(k)];
      to[m * weight.N + n] = added == nullptr ? sum : sum + added[n];
    }
  });
  copy_elements(sums.view(), out);
}

}  // namespace qkv::kernels
