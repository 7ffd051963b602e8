// Numbers that others computed, from tests/nn/fixtures, and how close qkv must come to them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "qkv/autograd/variable.h"
#include "qkv/nn/parameters.h"
#include "qkv/random.h"
#include "qkv/tensor.h"

namespace qkv::nn {

using Json = nlohmann::json;

inline Json read_fixture(const std::string& name) {
  std::ifstream file(std::string(QKV_SOURCE_DIR) + "/tests/nn/fixtures/" + name);
  return Json::parse(file);
}

inline Shape shape_of(const Json& json) {
  const auto extents = json.at("shape").get<std::vector<std::int64_t>>();
  return Shape(extents);
}

inline Tensor tensor_of(const Json& json) { return {json.at("values").get<std::vector<double>>(), shape_of(json)}; }

inline Tensor integers_of(const Json& json) {
  return {json.at("values").get<std::vector<std::int64_t>>(), shape_of(json)};
}

// Both sides computed in f64 with at most 512 roundings of numbers of the order of 10: 512 * 2^-53 * 10.
inline constexpr double kF64Tolerance = 6e-13;

inline Tensor normal(const Shape& shape, std::uint64_t seed, DType dtype = DType::f64) {
  return Generator(seed).randn(shape, DType::f64).to(dtype);
}

// The parameter of that name, which the test knows to be there.
inline Tensor value_of(const Parameters& parameters, const std::string& name) {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) return Tensor(parameter.value.value());
  }
  ADD_FAILURE() << name;
  return {};
}

// Every parameter gets normal numbers: no weight of a norm stays 1, no bias 0.
inline void shake(const Parameters& parameters) {
  std::uint64_t seed = 1000;
  for (const Parameter& parameter : parameters) {
    assign(parameters, parameter.name, normal(parameter.value.shape(), seed++));
  }
}

inline void expect_close(const TensorView& got, const TensorView& want, double tolerance = kF64Tolerance) {
  ASSERT_EQ(got.shape().to_string(), want.shape().to_string());
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = want.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    ASSERT_LE(std::fabs(a[i] - b[i]), tolerance) << "element " << i << ": got " << a[i] << ", expected " << b[i];
  }
}

inline void expect_close(const Variable& got, const TensorView& want, double tolerance = kF64Tolerance) {
  expect_close(got.value(), want, tolerance);
}

// The message of the exception that `call` throws; a call that throws nothing fails the test.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace qkv::nn
