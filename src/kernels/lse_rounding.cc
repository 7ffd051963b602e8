#include "kernels/lse_rounding.h"

#include <cmath>

namespace qkv::kernels {
namespace {

constexpr double kFineLse = 16;
constexpr double kFineTerms = 256;

}  // namespace

bool is_fine_enough(const RowLse& row) {
  // A row that is NaN or sees nothing has no sum to divide by.
  if (std::isnan(row.given) || row.given == -INFINITY) return true;
  return std::fabs(row.given) <= kFineLse && row.terms <= kFineTerms;
}

bool is_of_own_keys(const RowLse& row, double own) {
  if (row.of_more_keys) return false;
  if (own == row.given) return true;
  // At the ends of the range of f32 the stored lse stands for all beyond.
  if (std::isinf(row.given)) return static_cast<double>(static_cast<float>(own)) == row.given;
  if (std::fabs(row.given) == kMostFloat) {
    return static_cast<double>(stored_lse(own)) == row.given;
  }
  // If q has a NaN and own is a number, the row sees nothing but its sink.
  const double terms = std::isnan(row.terms) ? 0 : row.terms;
  const double scores = 4 * (std::sqrt(static_cast<double>(row.D)) + 4) * terms + 4 * std::fabs(row.given);
  const double sum = 64 + static_cast<double>(row.Tk) / 64;
  return std::fabs(own - row.given) <= row.unit * (scores + sum);
}

}  // namespace qkv::kernels
