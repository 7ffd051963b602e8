#include "qkv/api/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "api/fields/refuse.h"
#include "api/replies/lines.h"
#include "files/place.h"
#include "qkv/files.h"
#include "qkv/model/box.h"

namespace qkv {
namespace {

using api_detail::prose;

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

std::optional<std::int64_t> whole_at(const Tensor& tensor, std::size_t place) {
  if (tensor.dtype() != DType::i64) return std::nullopt;
  return tensor.values<std::int64_t>()[place];
}

// How far beyond what is allowed: above 1 is a mismatch. An error that is no number is beyond all.
double excess_of(double error, double allowed) {
  if (error == 0) return 0;
  if (std::isnan(error) || std::isinf(error)) return std::numeric_limits<double>::infinity();
  return allowed > 0 ? error / allowed : std::numeric_limits<double>::infinity();
}

void compare_elements(const Tensor& a, const Tensor& b, const CheckRequest& request, Comparison& result) {
  const std::vector<double> a_values = a.to_vector();
  const std::vector<double> b_values = b.to_vector();
  const std::vector<double> errors = errors_between(a, b, a_values, b_values);
  double worst = -1;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool both_nan = std::isnan(a_values[i]) && std::isnan(b_values[i]);
    result.both_nan += both_nan ? 1 : 0;
    const double error = both_nan && !request.nan_differs ? 0 : errors[i];
    const double allowed = request.atol + request.rtol * std::fabs(b_values[i]);
    const double excess = excess_of(error, allowed);
    if (excess > 1) ++result.mismatches;
    if (excess <= worst) continue;
    worst = excess;
    result.worst = WorstPlace{.index = index_of(static_cast<std::int64_t>(i), a.shape()),
                              .a = a_values[i],
                              .b = b_values[i],
                              .whole_a = whole_at(a, i),
                              .whole_b = whole_at(b, i),
                              .error = error,
                              .relative = error == 0 ? 0 : error / std::fabs(b_values[i]),
                              .allowed = allowed};
  }
}

std::string shown(std::optional<std::int64_t> whole, double value) {
  return whole ? std::to_string(*whole) : fmt::to_string(value);
}

std::string text_of(const Comparison& pair, int width) {
  const std::string name = pair.name.empty() ? "" : pair.name + ": ";
  if (pair.a_shape != pair.b_shape) {
    return prose(fmt::format("{}different shapes, {} and {}", name, pair.a_shape.to_string(), pair.b_shape.to_string()),
                 width);
  }
  std::string finding = fmt::format("{}{}, {} of {} elements beyond the tolerance", name,
                                    pair.equal() ? "equal" : "different", pair.mismatches, pair.a_shape.product());
  if (pair.both_nan > 0) finding += fmt::format(", {} NaN in both", pair.both_nan);
  std::string text = prose(finding, width);
  if (pair.a_dtype != pair.b_dtype) {
    text += fmt::format("  element types: {} and {}\n", name_of(pair.a_dtype), name_of(pair.b_dtype));
  }
  if (!pair.worst) return text;
  const WorstPlace& worst = *pair.worst;
  text += prose(fmt::format("worst at [{}]: A {}, B {}", fmt::join(worst.index, ", "), shown(worst.whole_a, worst.a),
                            shown(worst.whole_b, worst.b)),
                width, 2);
  return text + prose(fmt::format("absolute error {:.6g}, relative error {:.6g}, allowed {:.6g}", worst.error,
                                  worst.relative, worst.allowed),
                      width, 2);
}

CheckedPlace figures_of(const WorstPlace& worst) {
  return {.index = worst.index,
          .a = worst.a,
          .b = worst.b,
          .text_a = shown(worst.whole_a, worst.a),
          .text_b = shown(worst.whole_b, worst.b),
          .absolute_error = worst.error,
          .relative_error = worst.relative,
          .allowed = worst.allowed};
}

std::vector<std::int64_t> extents_of(const Shape& shape) {
  std::vector<std::int64_t> extents;
  for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  return extents;
}

CheckedTensor figures_of(const Comparison& pair) {
  CheckedTensor figures{.name = pair.name,
                        .equal = pair.equal(),
                        .shape_a = extents_of(pair.a_shape),
                        .shape_b = extents_of(pair.b_shape),
                        .dtype_a = std::string(name_of(pair.a_dtype)),
                        .dtype_b = std::string(name_of(pair.b_dtype)),
                        .mismatches = pair.mismatches,
                        .both_nan = pair.both_nan};
  if (pair.worst) figures.worst = figures_of(*pair.worst);
  return figures;
}

}  // namespace

Comparison compare(const std::string& name, const Tensor& a, const Tensor& b, const CheckRequest& request) {
  Comparison result{.name = name,
                    .a_shape = a.shape(),
                    .b_shape = b.shape(),
                    .a_dtype = a.dtype(),
                    .b_dtype = b.dtype(),
                    .dtype_counts = !request.any_dtype,
                    .worst = std::nullopt};
  if (a.shape() == b.shape()) compare_elements(a, b, request, result);
  return result;
}

const Fields<CheckRequest>& check_fields() {
  using Request = CheckRequest;
  static const Fields<Request> kFields = [] {
    Fields<Request> fields;
    fields
        .add(&Request::a, {.name = "a",
                           .form = "FILE",
                           .meaning = "A file: FILE.npy, FILE.npz[:NAME] or FILE.safetensors[:NAME]",
                           .required = true})
        .add(&Request::b, {.name = "b", .form = "FILE", .meaning = "What it should be", .required = true})
        .add(&Request::rtol, {.name = "rtol", .form = "X", .meaning = "Allowed relative to |B|"})
        .add(&Request::atol, {.name = "atol", .form = "X", .meaning = "Allowed on top"})
        .add(&Request::nan_differs, {.name = "nan_differs", .meaning = "NaN differs from NaN"})
        .add(&Request::any_dtype, {.name = "any_dtype", .meaning = "Element types may differ"});
    fields.give_bounds({{"rtol", 0, kAnyNumber}, {"atol", 0, kAnyNumber}});
    fields.give_examples({{"a", "out.npy"}, {"b", "expected.npy"}});
    return fields;
  }();
  return kFields;
}

bool CheckReply::equal() const {
  return only_a.empty() && only_b.empty() && std::ranges::all_of(pairs, &Comparison::equal);
}

namespace {

// Of an archive and a single tensor, nothing can be compared by name.
void require_alike(std::string_view field, const std::vector<NamedTensor>& tensors, std::string_view other,
                   const std::vector<NamedTensor>& others) {
  if (tensors.size() == 1 || others.size() != 1 || !others.front().name.empty()) return;
  std::vector<std::string> names;
  for (const NamedTensor& tensor : tensors) names.push_back(tensor.name);
  api_detail::refuse(field, fmt::format("a single tensor, FILE:NAME, as `{}` is one", other),
                     fmt::format("an archive of {}: {}", names.size(), fmt::join(names, ", ")));
}

bool is_in_the_box(const std::string& name) {
  const std::vector<std::string> names = trained_model_names();
  return std::ranges::find(names, name) != names.end();
}

// A model of the box, a folder or GGUF: no file of tensors.
bool is_a_model(const std::string& name) {
  return name.ends_with(".gguf") || files::is_folder(name) || is_in_the_box(name);
}

void require_tensors(const CheckRequest& request) {
  if (!is_a_model(request.a) || !is_a_model(request.b)) return;
  api_detail::refuse("file", "a file of text, since `a` and `b` are models, which are compared by what they say of one",
                     "none");
}

}  // namespace

CheckReply check(const CheckRequest& request) {
  for (const auto& [field, value] : {std::pair("rtol", request.rtol), std::pair("atol", request.atol)}) {
    const bool fits = value >= 0 && !std::isinf(value);
    if (!fits) api_detail::refuse(field, "a finite number, 0 or more", fmt::to_string(value));
  }
  require_tensors(request);
  const std::vector<NamedTensor> a = api_detail::of_path("a", [&] { return read_tensors(request.a); });
  const std::vector<NamedTensor> b = api_detail::of_path("b", [&] { return read_tensors(request.b); });
  require_alike("a", a, "b", b);
  require_alike("b", b, "a", a);
  CheckReply reply;
  if (a.size() == 1 && b.size() == 1) {
    const std::string name = a.front().name == b.front().name ? a.front().name : "";
    reply.pairs.push_back(compare(name, a.front().tensor, b.front().tensor, request));
    return reply;
  }
  std::map<std::string_view, const Tensor*> in_b;
  for (const NamedTensor& tensor : b) in_b.emplace(tensor.name, &tensor.tensor);
  std::set<std::string_view> in_a;
  for (const NamedTensor& tensor : a) {
    in_a.insert(tensor.name);
    const auto other = in_b.find(tensor.name);
    if (other == in_b.end()) {
      reply.only_a.push_back(tensor.name);
    } else {
      reply.pairs.push_back(compare(tensor.name, tensor.tensor, *other->second, request));
    }
  }
  for (const NamedTensor& tensor : b) {
    if (!in_a.contains(tensor.name)) reply.only_b.push_back(tensor.name);
  }
  return reply;
}

std::string as_text(const CheckRequest& request, const CheckReply& reply, int width) {
  std::string text = prose("A  " + request.a, width) + prose("B  " + request.b, width);
  text += fmt::format("allowed: {} + {} * |B|\n", request.atol, request.rtol);
  for (const Comparison& pair : reply.pairs) text += text_of(pair, width);
  for (const std::string& name : reply.only_a) text += prose(name + ": only in A", width);
  for (const std::string& name : reply.only_b) text += prose(name + ": only in B", width);
  return text + (reply.equal() ? "equal\n" : "different\n");
}

CheckFigures check_figures(const CheckRequest& request, const CheckReply& reply) {
  CheckFigures figures{.a = request.a,
                       .b = request.b,
                       .rtol = request.rtol,
                       .atol = request.atol,
                       .equal = reply.equal(),
                       .tensors = {},
                       .only_a = reply.only_a,
                       .only_b = reply.only_b};
  for (const Comparison& pair : reply.pairs) figures.tensors.push_back(figures_of(pair));
  return figures;
}

}  // namespace qkv
