// What a request says of mask, bias, sinks and numbers.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "api/fields/number_lists.h"
#include "api/fields/refuse.h"
#include "core/number_range.h"
#include "core/number_text.h"
#include "qkv/api/problem.h"
#include "qkv/files.h"

namespace qkv {
namespace {

using api_detail::read_field;
using api_detail::refuse;
using api_detail::whole_numbers;

std::vector<std::int64_t> lengths_of(const std::string& text) {
  const std::string field = "kv_lengths";
  if (is_number_list(text)) return whole_numbers(field, text, ", or a file");
  const Tensor file = read_field(field, text);
  const bool integral = !is_floating(file.dtype()) && file.dtype() != DType::b8;
  if (!integral || file.rank() != 1) {
    refuse(field, "[B] of i64, i32, i8 or u8",
           fmt::format("{} of {}", file.shape().to_string(), name_of(file.dtype())));
  }
  const Tensor wide = file.to(DType::i64);
  return {wide.values<std::int64_t>().begin(), wide.values<std::int64_t>().end()};
}

double finite_number(std::string_view word) {
  const auto value = core::number_from<double>(word);
  if (core::is_out_of_range<double>(word)) refuse("sinks", fmt::format("numbers {}", core::kRangeOfF64), word);
  if (!value) refuse("sinks", "numbers with commas between them, or a file", fmt::format("\"{}\"", word));
  if (!std::isfinite(*value)) refuse("sinks", "finite numbers", word);
  return *value;
}

std::vector<double> sinks_of(const std::string& text) {
  if (text.empty()) return {};
  if (!is_number_list(text)) {
    const Tensor file = read_field("sinks", text);
    if (is_floating(file.dtype()) && file.rank() == 1) return file.to_vector();
    refuse("sinks", "[Hq] of f64, f32, f16 or bf16",
           fmt::format("{} of {}", file.shape().to_string(), name_of(file.dtype())));
  }
  std::vector<double> values;
  std::string_view rest = text;
  for (;;) {
    const auto comma = rest.find(',');
    values.push_back(finite_number(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

// A side that is left out, as in "64," or ",0", has no bound.
Mask window_of(const std::string& text) {
  const auto require = [&](bool holds) {
    if (!holds) refuse("window", "WIDTH, 1 or more, or LEFT,RIGHT, 0 or more each", text);
  };
  const auto number = [&](const std::string& word, std::int64_t least) {
    const auto value = core::number_from<std::int64_t>(word);
    require(value && *value >= least);
    return *value;
  };
  const auto comma = text.find(',');
  if (comma == std::string::npos) return window(number(text, 1));
  const std::string left = text.substr(0, comma);
  const std::string right = text.substr(comma + 1);
  require(!left.empty() || !right.empty());
  const auto side = [&](const std::string& word) {
    return word.empty() ? std::nullopt : std::optional(number(word, 0));
  };
  return window(side(left), side(right));
}

Mask mask_from_file(const std::string& path) {
  const Tensor file = read_field("mask_file", path);
  if (is_tensor_text(path)) return dense(file.to(DType::u8));
  if (is_floating(file.dtype())) {
    refuse("mask_file", "b8 or u8, nonzero where a query sees a key (numbers to add go into `bias_file`)",
           name_of(file.dtype()));
  }
  return dense(file);
}

// A misfit is said of the field that brought it.
template <class Make>
auto fitting(const char* field, const MaskShape& shape, const Make& make) {
  return api_detail::of_field(field, [&] {
    auto made = make();
    made.validate(shape);
    return made;
  });
}

// Each way of hiding hides what the others leave.
Mask mask_of(const ProblemRequest& request, const MaskShape& shape) {
  Mask mask = request.mask.empty() ? Mask() : parse_mask(request.mask);
  if (request.causal) mask = causal() & mask;
  if (!request.window.empty()) mask = mask & window_of(request.window);
  if (!request.kv_lengths.empty()) {
    mask = mask & fitting("kv_lengths", shape, [&] { return key_lengths(lengths_of(request.kv_lengths)); });
  }
  if (!request.mask_file.empty())
    mask = mask & fitting("mask_file", shape, [&] { return mask_from_file(request.mask_file); });
  return mask;
}

Bias bias_of(const ProblemRequest& request, const MaskShape& shape) {
  Bias bias;
  if (!request.bias.empty()) bias = parse_bias(request.bias);
  if (request.bias_file.empty()) return bias;
  const Tensor file = read_field("bias_file", request.bias_file);
  if (!is_floating(file.dtype())) {
    refuse("bias_file", "numbers to add, f64, f32, f16 or bf16 (what hides goes into `mask_file`)",
           name_of(file.dtype()));
  }
  const Bias given = fitting("bias_file", shape, [&] { return dense_bias(file); });
  return bias.is_zero() ? given : bias + given;
}

}  // namespace

bool is_number_list(std::string_view text) {
  const auto names = [&](std::string_view ending) { return text.find(ending) != std::string_view::npos; };
  return !is_tensor_text(text) && !names(".npy") && !names(".npz") && !names(".safetensors");
}

AttentionOptions load_options(const ProblemRequest& request, const TensorView& q, const TensorView& k) {
  const MaskShape shape = {.B = q.dim(0), .H = q.dim(1), .Tq = q.dim(2), .Tk = k.dim(2)};
  AttentionOptions options = {.scale = request.scale,
                              .softcap = request.softcap,
                              .bias = bias_of(request, shape),
                              .mask = mask_of(request, shape)};
  options.sinks = sinks_of(request.sinks);
  options.threads = request.threads;
  options.target = request.target;
  if (request.dropout) {
    options.dropout = Dropout{.p = *request.dropout, .seed = request.seed.value_or(0)};
  }
  if (q.dtype() == DType::f64 && !request.target.empty() && request.target != "reference") {
    refuse("target", "reference for f64, which runs there alone", "\"" + request.target + "\"");
  }
  return options;
}

}  // namespace qkv
