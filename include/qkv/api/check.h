// How two tensors, or two files of them, differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/tensor.h"

namespace qkv {

/// Two files, a.npy, a.npz[:NAME] or a.safetensors[:NAME], and how far b may be from a: |a - b| <= atol + rtol * |b|.
struct CheckRequest {
  std::string a, b;
  double rtol = 1e-5;
  double atol = 1e-8;
  bool nan_differs = false;
  bool any_dtype = false;
};

[[nodiscard]] const Fields<CheckRequest>& check_fields();

/// The element that is furthest beyond (or, where all are equal, closest to) what is allowed.
struct WorstPlace {
  std::vector<std::int64_t> index;
  double a = 0;
  double b = 0;
  std::optional<std::int64_t> whole_a = std::nullopt, whole_b = std::nullopt;  // of i64, which doubles round
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

/// Infinities are equal to themselves, NaN to NaN unless the request says otherwise. i64 is compared as integers.
[[nodiscard]] Comparison compare(const std::string& name, const Tensor& a, const Tensor& b,
                                 const CheckRequest& request = {});

struct CheckReply {
  std::vector<Comparison> pairs;
  std::vector<std::string> only_a, only_b;  // members that the other file does not have

  [[nodiscard]] bool equal() const;
};

/// Reads both files and compares tensors of the same name; where each has but one, these, whatever they are called.
/// Throws Error for a file that cannot be read, and InvalidArgument for a tolerance that is negative or not finite.
[[nodiscard]] CheckReply check(const CheckRequest& request);

[[nodiscard]] std::string as_text(const CheckRequest& request, const CheckReply& reply, int width);

/// The place of a WorstPlace.
struct CheckedPlace {
  std::vector<std::int64_t> index;
  double a = 0, b = 0;
  std::string text_a, text_b;  // with all digits of i64, "nan", "-inf"
  double absolute_error = 0, relative_error = 0, allowed = 0;
};

struct CheckedTensor {
  std::string name;
  bool equal = false;
  std::vector<std::int64_t> shape_a, shape_b;
  std::string dtype_a, dtype_b;
  std::int64_t mismatches = 0, both_nan = 0;
  std::optional<CheckedPlace> worst = std::nullopt;
};

/// What `qkv check --json` prints.
struct CheckFigures {
  std::string a, b;
  double rtol = 0, atol = 0;
  bool equal = false;
  std::vector<CheckedTensor> tensors;
  std::vector<std::string> only_a, only_b;
};

[[nodiscard]] CheckFigures check_figures(const CheckRequest& request, const CheckReply& reply);

[[nodiscard]] Members<CheckedPlace> describe(const CheckedPlace* place);
[[nodiscard]] Members<CheckedTensor> describe(const CheckedTensor* tensor);
[[nodiscard]] Members<CheckFigures> describe(const CheckFigures* figures);

}  // namespace qkv
