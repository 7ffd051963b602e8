#include "check_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::int64_t> index_of(std::int64_t flat, const Shape& shape) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank(); axis-- > 0;) {
    index[static_cast<std::size_t>(axis)] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

// |a - b| of each place. i64 goes beyond what doubles tell apart, so it is subtracted as integers.
std::vector<double> errors_between(const Tensor& a, const Tensor& b, const std::vector<double>& a_values,
                                   const std::vector<double>& b_values) {
  std::vector<double> errors(a_values.size());
  if (a.dtype() == DType::i64 && b.dtype() == DType::i64) {
    std::ranges::transform(a.values<std::int64_t>(), b.values<std::int64_t>(), errors.begin(),
                           [](std::int64_t x, std::int64_t y) {
                             const auto high = static_cast<std::uint64_t>(std::max(x, y));
                             return static_cast<double>(high - static_cast<std::uint64_t>(std::min(x, y)));
                           });
    return errors;
  }
  std::ranges::transform(a_values, b_values, errors.begin(),
                         [](double x, double y) { return x == y ? 0 : std::fabs(x - y); });
  return errors;
}

// How far beyond what is allowed: above 1 is a mismatch. An error that is no number is beyond all.
double excess_of(double error, double allowed) {
  if (error == 0) return 0;
  if (std::isnan(error) || std::isinf(error)) return std::numeric_limits<double>::infinity();
  return allowed > 0 ? error / allowed : std::numeric_limits<double>::infinity();
}

void compare_elements(const Tensor& a, const Tensor& b, const Tolerance& tolerance, Comparison& result) {
  const std::vector<double> a_values = a.to_vector();
  const std::vector<double> b_values = b.to_vector();
  const std::vector<double> errors = errors_between(a, b, a_values, b_values);
  double worst = -1;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool both_nan = std::isnan(a_values[i]) && std::isnan(b_values[i]);
    result.both_nan += both_nan ? 1 : 0;
    const double error = both_nan && !tolerance.nan_differs ? 0 : errors[i];
    const double allowed = tolerance.absolute + tolerance.relative * std::fabs(b_values[i]);
    const double excess = excess_of(error, allowed);
    if (excess > 1) ++result.mismatches;
    if (excess <= worst) continue;
    worst = excess;
    result.worst = WorstPlace{.index = index_of(static_cast<std::int64_t>(i), a.shape()),
                              .a = a_values[i],
                              .b = b_values[i],
                              .error = error,
                              .relative = error == 0 ? 0 : error / std::fabs(b_values[i]),
                              .allowed = allowed};
  }
}

std::string text_of(const Comparison& pair) {
  std::string text = pair.name.empty() ? "" : pair.name + ": ";
  if (pair.a_shape != pair.b_shape) {
    return text + fmt::format("different shapes, {} and {}\n", pair.a_shape.to_string(), pair.b_shape.to_string());
  }
  text += fmt::format("{}, {} of {} elements beyond the tolerance", pair.equal() ? "equal" : "different",
                      pair.mismatches, pair.a_shape.product());
  if (pair.both_nan > 0) text += fmt::format(", {} NaN in both", pair.both_nan);
  text += '\n';
  if (pair.a_dtype != pair.b_dtype) {
    text += fmt::format("  element types: {} and {}\n", name_of(pair.a_dtype), name_of(pair.b_dtype));
  }
  if (!pair.worst) return text;
  const WorstPlace& worst = *pair.worst;
  text += fmt::format("  worst at [{}]: A {}, B {}\n", fmt::join(worst.index, ", "), worst.a, worst.b);
  return text + fmt::format("  absolute error {:.6g}, relative error {:.6g}, allowed {:.6g}\n", worst.error,
                            worst.relative, worst.allowed);
}

// JSON has no NaN and no infinities: they are written as text.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::to_string(value)); }

Json extents(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }

Json json_of(const Comparison& pair) {
  Json json{{"name", pair.name},
            {"equal", pair.equal()},
            {"shape_a", extents(pair.a_shape)},
            {"shape_b", extents(pair.b_shape)},
            {"dtype_a", name_of(pair.a_dtype)},
            {"dtype_b", name_of(pair.b_dtype)},
            {"mismatches", pair.mismatches},
            {"both_nan", pair.both_nan}};
  if (!pair.worst) return json;
  json["worst"] = {{"index", pair.worst->index},
                   {"a", number(pair.worst->a)},
                   {"b", number(pair.worst->b)},
                   {"absolute_error", number(pair.worst->error)},
                   {"relative_error", number(pair.worst->relative)},
                   {"allowed", number(pair.worst->allowed)}};
  return json;
}

}  // namespace

Comparison compare(const std::string& name, const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  Comparison result{.name = name,
                    .a_shape = a.shape(),
                    .b_shape = b.shape(),
                    .a_dtype = a.dtype(),
                    .b_dtype = b.dtype(),
                    .dtype_counts = !tolerance.any_dtype,
                    .worst = std::nullopt};
  if (a.shape() == b.shape()) compare_elements(a, b, tolerance, result);
  return result;
}

bool CheckReport::equal() const {
  return only_a.empty() && only_b.empty() && std::ranges::all_of(pairs, &Comparison::equal);
}

std::string as_text(const CheckReport& report) {
  std::string text = fmt::format("A  {}\nB  {}\nallowed: {} + {} * |B|\n", report.a, report.b,
                                 report.tolerance.absolute, report.tolerance.relative);
  for (const Comparison& pair : report.pairs) text += text_of(pair);
  for (const std::string& name : report.only_a) text += name + ": only in A\n";
  for (const std::string& name : report.only_b) text += name + ": only in B\n";
  return text + (report.equal() ? "equal\n" : "different\n");
}

std::string as_json(const CheckReport& report) {
  Json json{{"a", report.a},
            {"b", report.b},
            {"rtol", number(report.tolerance.relative)},
            {"atol", number(report.tolerance.absolute)},
            {"equal", report.equal()}};
  json["tensors"] = Json::array();
  for (const Comparison& pair : report.pairs) json["tensors"].push_back(json_of(pair));
  json["only_a"] = report.only_a;
  json["only_b"] = report.only_b;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace qkv::cli
