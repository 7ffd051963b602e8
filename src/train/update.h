// How the optimisers walk a parameter, its gradient and what they remember of it.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "core/plain_number.h"
#include "kernels/pieces.h"
#include "kernels/vectorised.h"
#include "qkv/train/optimizer.h"

namespace qkv::training {

/// body(real, begin, end) for pieces of a parameter, with the C++ type of its numbers; compiled for the machine's
/// vectors.
template <class Body>
void for_numbers(const Parameter& parameter, const Body& body) {
  const auto run = [&]<class Real>(Real real) {
    kernels::for_pieces(parameter.value.size(), kernels::kPiece, [&](std::int64_t begin, std::int64_t end) {
      kernels::vectorised<Real>([&]() QKV_INLINED { body(real, begin, end); });
    });
  };
  if (parameter.value.dtype() == DType::f64) return run(double{});
  run(float{});
}

inline bool decays(const Parameter& parameter, Decay decay) {
  return decay == Decay::all || parameter.value.rank() >= 2;
}

inline void require_share(std::string_view function, std::string_view argument, double value) {
  if (value >= 0 && value < 1) return;
  throw InvalidArgument(function, argument, "a number in [0, 1)", core::plain_number(value));
}

inline void require_decay(std::string_view function, double value) {
  if (value >= 0 && std::isfinite(value)) return;
  throw InvalidArgument(function, "weight_decay", "a number >= 0", core::plain_number(value));
}

}  // namespace qkv::training
