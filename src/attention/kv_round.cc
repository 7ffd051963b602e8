#include "attention/kv_round.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/element.h"

namespace qkv::kv_detail {
namespace {

// Once: through f32 where that holds the element exactly.
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

// Where the scale is subnormal its own rounding could push an element beyond the largest integer.
float scale_for(double largest, double most) noexcept {
  const auto scale = static_cast<float>(largest / most);
  const bool short_of_it = largest > 0 && !(largest / static_cast<double>(scale) < most + 0.5);
  return short_of_it ? std::nextafter(scale, std::numeric_limits<float>::infinity()) : scale;
}

}  // namespace

bool can_cache(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::i8;
}

std::optional<std::string> find_unbounded(const TensorView& x) {
  const std::vector<double> elements = x.to_vector();
  const auto found = std::ranges::find_if(elements, [](double value) { return !std::isfinite(value); });
  if (found == elements.end()) return std::nullopt;
  std::int64_t rest = found - elements.begin();
  Dims place = x.shape();
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    place[axis] = rest % x.shape()[axis];
    rest /= x.shape()[axis];
  }
  return std::to_string(*found) + " at " + place.to_string();
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
    for (std::int64_t d = 0; d < vector.size; ++d) {
      const double value = core::to_double(from[d * vector.stride]);
      row[d] = static_cast<std::int8_t>(scale == 0 ? 0 : std::nearbyint(value / static_cast<double>(scale)));
    }
  });
  return scale;
}

}  // namespace qkv::kv_detail
