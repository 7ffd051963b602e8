#include "cache/kv_round.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/element.h"
#include "core/plain_number.h"

namespace qkv::kv_detail {
namespace {

// Rounds once: through f32 only if f32 holds the element exactly.
template <class To, class From>
To rounded(From value) noexcept {
  if constexpr (std::is_same_v<From, double>) {
    return core::from_double<To>(value);
  } else {
    return static_cast<To>(static_cast<float>(value));
  }
}

template <class Body>
void with_elements(const Vector& vector, const Body& body) {
  core::with_type(vector.dtype, [&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) body(reinterpret_cast<const T*>(vector.data));
  });
}

// If the scale is subnormal, its rounding could push an element beyond the largest integer.
float scale_for(double largest, double most) noexcept {
  const auto scale = static_cast<float>(largest / most);
  const bool short_of_it = largest > 0 && !(largest / static_cast<double>(scale) < most + 0.5);
  return short_of_it ? std::nextafter(scale, std::numeric_limits<float>::infinity()) : scale;
}

// Rounds to nearest even for |value| < 2^51: the sum has no bits left for a fraction.
double nearest_integer(double value) noexcept {
  constexpr double kFirstWithoutFraction = 0x1.8p52;
  return (value + kFirstWithoutFraction) - kFirstWithoutFraction;
}

// The index of the first element that is NaN or infinite; the size if there is none.
std::int64_t first_unbounded(const Vector& vector) {
  std::int64_t place = 0;
  with_elements(vector, [&]<class T>(const T* element) {
    while (place < vector.size && std::isfinite(core::to_double(element[place * vector.stride]))) ++place;
  });
  return place;
}

double element_of(const Vector& vector, std::int64_t place) {
  double value = 0;
  with_elements(vector, [&]<class T>(const T* element) { value = core::to_double(element[place * vector.stride]); });
  return value;
}

}  // namespace

bool can_cache(DType dtype) noexcept { return is_floating(dtype) || dtype == DType::i8; }

std::optional<std::string> find_unbounded(const TensorView& x) {
  Dims place = x.shape();
  std::int64_t count = 1;
  for (int axis = 0; axis < x.rank() - 1; ++axis) count *= x.shape()[axis];
  for (std::int64_t row = 0; row < count; ++row) {
    std::int64_t rest = row;
    std::int64_t offset = 0;
    for (int axis = x.rank() - 2; axis >= 0; --axis) {
      place[axis] = rest % x.shape()[axis];
      offset += place[axis] * x.strides()[axis];
      rest /= x.shape()[axis];
    }
    const Vector vector = {
        .data = static_cast<const std::byte*>(x.data()) + offset * static_cast<std::int64_t>(size_of(x.dtype())),
        .dtype = x.dtype(),
        .size = x.dim(-1),
        .stride = x.strides()[x.rank() - 1]};
    const std::int64_t found = first_unbounded(vector);
    if (found == vector.size) continue;
    place[x.rank() - 1] = found;
    return core::plain_number(element_of(vector, found)) + " at " + place.to_string();
  }
  return std::nullopt;
}

void round_row(const Vector& vector, DType dtype, std::byte* row) {
  with_elements(vector, [&]<class From>(const From* from) {
    core::with_type(dtype, [&]<class To>(To) {
      if constexpr (!std::is_integral_v<To>) {
        To* to = reinterpret_cast<To*>(row);
        for (std::int64_t d = 0; d < vector.size; ++d) {
          if constexpr (std::is_same_v<From, To>) {
            to[d] = from[d * vector.stride];
          } else {
            to[d] = rounded<To>(from[d * vector.stride]);
          }
        }
      }
    });
  });
}

float round_row_to_i8(const Vector& vector, std::int8_t* row) {
  constexpr double kMost = 127;
  float scale = 0;
  with_elements(vector, [&]<class From>(const From* from) {
    double largest = 0;
    for (std::int64_t d = 0; d < vector.size; ++d) {
      largest = std::max(largest, std::fabs(core::to_double(from[d * vector.stride])));
    }
    scale = scale_for(largest, kMost);
    const double divisor = scale == 0 ? 1 : static_cast<double>(scale);
    for (std::int64_t d = 0; d < vector.size; ++d) {
      row[d] = static_cast<std::int8_t>(nearest_integer(core::to_double(from[d * vector.stride]) / divisor));
    }
  });
  return scale;
}

}  // namespace qkv::kv_detail
