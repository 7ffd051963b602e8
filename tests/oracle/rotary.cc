#include "oracle/rotary.h"

#include <array>
#include <span>
#include <vector>

namespace qkv::oracle {
namespace {

void turn(std::span<double> row, std::span<const double> cos, std::span<const double> sin, RotaryLayout layout) {
  const std::size_t pairs = cos.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    double& a = layout == RotaryLayout::interleaved ? row[2 * i] : row[i];
    double& b = layout == RotaryLayout::interleaved ? row[2 * i + 1] : row[i + pairs];
    const double turned = a * cos[i] - b * sin[i];
    b = a * sin[i] + b * cos[i];
    a = turned;
  }
}

}  // namespace

Tensor apply_rotary(const TensorView& x, const RotaryTables& tables) {
  const auto pairs = static_cast<std::size_t>(tables.cos.dim(-1));
  const bool per_batch = tables.cos.rank() == 3;
  const std::vector<double> cos = tables.cos.to_vector();
  const std::vector<double> sin = tables.sin.to_vector();
  std::vector<double> row(static_cast<std::size_t>(x.dim(3)));
  Tensor out(x.dtype(), x.shape());
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    for (std::int64_t h = 0; h < x.dim(1); ++h) {
      for (std::int64_t t = 0; t < x.dim(2); ++t) {
        const std::array leading{b, h, t};
        const std::size_t start = static_cast<std::size_t>(per_batch ? b * x.dim(2) + t : t) * pairs;
        x.load_row(leading, row);
        turn(row, std::span(cos).subspan(start, pairs), std::span(sin).subspan(start, pairs), tables.layout);
        out.store_row(leading, row);
      }
    }
  }
  return out;
}

}  // namespace qkv::oracle
