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

/// {"a", "b", "rtol", "atol", "equal", "tensors", "only_a", "only_b"}; NaN and infinities as texts.
[[nodiscard]] std::string as_json(const CheckRequest& request, const CheckReply& reply);
/// The same of check() of the request.
[[nodiscard]] AnyReply answer(const CheckRequest& request);

}  // namespace qkv
