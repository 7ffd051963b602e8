// How two tensors, or two files of them, differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/tensor.h"

namespace qkv::cli {

/// |a - b| <= absolute + relative * |b|.
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
  bool nan_differs = false;
  bool any_dtype = false;
};

/// The element that is furthest beyond (or, where all are equal, closest to) what is allowed.
struct WorstPlace {
  std::vector<std::int64_t> index;
  double a = 0;
  double b = 0;
  double error = 0;     // |a - b|; NaN where only one is a number
  double relative = 0;  // error / |b|
  double allowed = 0;
};

struct Comparison {
  std::string name;  // of the member; empty where it has none
  Shape a_shape, b_shape;
  DType a_dtype = DType::f32, b_dtype = DType::f32;
  bool dtype_counts = true;
  std::int64_t mismatches = 0;
  std::int64_t both_nan = 0;
  std::optional<WorstPlace> worst;  // none where the shapes differ or there are no elements

  [[nodiscard]] bool equal() const {
    return a_shape == b_shape && (a_dtype == b_dtype || !dtype_counts) && mismatches == 0;
  }
};

[[nodiscard]] Comparison compare(const std::string& name, const Tensor& a, const Tensor& b, const Tolerance& tolerance);

struct CheckReport {
  std::string a, b;  // paths
  Tolerance tolerance;
  std::vector<Comparison> pairs;
  std::vector<std::string> only_a, only_b;  // members that the other file does not have

  [[nodiscard]] bool equal() const;
};

[[nodiscard]] std::string as_text(const CheckReport& report);
[[nodiscard]] std::string as_json(const CheckReport& report);

}  // namespace qkv::cli
