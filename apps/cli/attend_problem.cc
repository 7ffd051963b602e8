#include "attend_problem.h"

#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "misuse.h"
#include "problem_options.h"
#include "qkv/files.h"
#include "qkv/heads.h"
#include "qkv/kv.h"

namespace qkv::cli {
namespace {

Layout layout_of(const Tensor& q) {
  switch (q.rank()) {
    case 2:
      return Layout::matrix;
    case 3:
      return Layout::packed;
    case 4:
      return Layout::heads;
    default:
      misuse("--q", "[T, D], [B, T, H * D] or [B, H, T, D]", q.shape().to_string());
  }
}

// [B, H, T, D] of a tensor in the layout of q.
Tensor with_heads(const std::string& option, Tensor tensor, Layout layout, const std::string& heads_option,
                  std::optional<std::int64_t> heads) {
  const int rank = layout == Layout::matrix ? 2 : layout == Layout::packed ? 3 : 4;
  if (tensor.rank() != rank) {
    misuse(option, "rank " + std::to_string(rank) + " as of --q", tensor.shape().to_string());
  }
  if (layout == Layout::heads) {
    if (heads && *heads != tensor.dim(1)) {
      misuse(heads_option, std::to_string(tensor.dim(1)) + ", which is axis 1 of " + option, std::to_string(*heads));
    }
    return tensor;
  }
  const TensorView packed = layout == Layout::matrix ? tensor.view().unsqueeze(0) : tensor.view();
  const std::int64_t count = heads.value_or(1);
  if (count < 1 || packed.dim(2) % count != 0) {
    misuse(heads_option, "a divisor of " + std::to_string(packed.dim(2)) + ", the last axis of " + option,
           std::to_string(count));
  }
  return Tensor(split_heads(packed, count));
}

Tensor read_file_of(const std::string& option, const std::string& path) {
  return of_option(option, [&] { return read_tensor(path); });
}

std::vector<std::int64_t> lengths_of(const std::string& text) {
  const std::string option = "--kv-lengths";
  if (is_list(text)) return whole_numbers(option, text, ", or a file");
  const Tensor file = read_file_of(option, text);
  const bool integral = !is_floating(file.dtype()) && file.dtype() != DType::b8;
  if (!integral || file.rank() != 1) {
    misuse(option, "[B] of i64, i32, i8 or u8", file.shape().to_string() + " of " + std::string(name_of(file.dtype())));
  }
  const Tensor wide = file.to(DType::i64);
  return {wide.values<std::int64_t>().begin(), wide.values<std::int64_t>().end()};
}

double finite_number(const std::string& option, std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) {
    misuse(option, "numbers with commas between them, or a file", "\"" + std::string(word) + "\"");
  }
  if (!std::isfinite(value)) misuse(option, "finite numbers", std::string(word));
  return value;
}

std::vector<double> sinks_of(const std::string& text) {
  const std::string option = "--sinks";
  if (text.empty()) return {};
  if (!is_list(text)) {
    const Tensor file = read_file_of(option, text);
    if (is_floating(file.dtype()) && file.rank() == 1) return file.to_vector();
    misuse(option, "[Hq] of f64, f32, f16 or bf16",
           file.shape().to_string() + " of " + std::string(name_of(file.dtype())));
  }
  std::vector<double> values;
  std::string_view rest = text;
  for (;;) {
    const auto comma = rest.find(',');
    values.push_back(finite_number(option, rest.substr(0, comma)));
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

// A side that is left out, as in "64," or ",0", has no bound.
Mask window_of(const std::string& text) {
  const std::string option = "--window";
  const auto comma = text.find(',');
  if (comma == std::string::npos) return window(whole_numbers(option, text)[0]);
  const std::string left = text.substr(0, comma);
  const std::string right = text.substr(comma + 1);
  if ((left.empty() && right.empty()) || right.find(',') != std::string::npos) {
    misuse(option, "WIDTH or LEFT,RIGHT", text);
  }
  const auto side = [&](const std::string& word) {
    return word.empty() ? std::nullopt : std::optional(whole_numbers(option, word)[0]);
  };
  return window(side(left), side(right));
}

Mask mask_from_file(const std::string& path) {
  const Tensor file = read_file_of("--mask-file", path);
  if (is_floating(file.dtype())) {
    misuse("--mask-file", "b8 or u8, nonzero where a query sees a key (numbers to add go into --bias-file)",
           std::string(name_of(file.dtype())));
  }
  return of_option("--mask-file", [&] { return dense(file); });
}

// Each way of hiding hides what the others leave. A misfit is said of the option that brought it.
Mask mask_of(const AttendFlags& flags, const MaskShape& shape) {
  const auto fitting = [&](const char* option, Mask mask) {
    of_option(option, [&] { mask.validate(shape); });
    return mask;
  };
  Mask mask = flags.mask.empty() ? Mask() : parse_mask(flags.mask);
  if (flags.causal) mask = with_causal(mask);
  if (!flags.window.empty()) mask = both(mask, window_of(flags.window));
  if (!flags.kv_lengths.empty()) {
    mask = both(mask, fitting("--kv-lengths", key_lengths(lengths_of(flags.kv_lengths))));
  }
  if (!flags.mask_file.empty()) mask = both(mask, fitting("--mask-file", mask_from_file(flags.mask_file)));
  return mask;
}

Bias bias_of(const AttendFlags& flags, const MaskShape& shape) {
  Bias bias;
  if (!flags.bias.empty()) bias = parse_bias(flags.bias);
  if (flags.bias_file.empty()) return bias;
  const Tensor file = read_file_of("--bias-file", flags.bias_file);
  if (!is_floating(file.dtype())) {
    misuse("--bias-file", "numbers to add, f64, f32, f16 or bf16 (what hides goes into --mask-file)",
           std::string(name_of(file.dtype())));
  }
  const Bias given = of_option("--bias-file", [&] { return dense_bias(file); });
  of_option("--bias-file", [&] { given.validate(shape); });
  return bias.is_zero() ? given : bias + given;
}

}  // namespace

std::vector<std::int64_t> whole_numbers(const std::string& option, std::string_view text, std::string_view otherwise) {
  std::vector<std::int64_t> values;
  for (;;) {
    const auto comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < 0) {
      misuse(option, "whole numbers, 0 or more, with commas between them" + std::string(otherwise),
             "\"" + std::string(word) + "\"");
    }
    values.push_back(value);
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

bool is_list(std::string_view text) {
  const auto names = [&](std::string_view ending) { return text.find(ending) != std::string_view::npos; };
  return !names(".npy") && !names(".npz") && !names(".safetensors");
}

AttentionOptions load_options(const AttendFlags& flags, const TensorView& q, const TensorView& k) {
  const MaskShape shape = {.B = q.dim(0), .H = q.dim(1), .Tq = q.dim(2), .Tk = k.dim(2)};
  AttentionOptions options = {
      .scale = flags.scale, .softcap = flags.softcap, .bias = bias_of(flags, shape), .mask = mask_of(flags, shape)};
  options.sinks = sinks_of(flags.sinks);
  options.threads = flags.threads;
  options.target = flags.target;
  if (flags.dropout) {
    options.dropout = Dropout{.p = *flags.dropout, .seed = flags.seed.empty() ? 0 : seed_of(flags.seed)};
  }
  if (q.dtype() == DType::f64 && !flags.target.empty() && flags.target != "reference") {
    misuse("--target", "reference for f64, which runs there alone", "\"" + flags.target + "\"");
  }
  return options;
}

AttendProblem load_problem(const AttendFlags& flags) {
  AttendProblem problem;
  Tensor q = read_file_of("--q", flags.q);
  problem.layout = layout_of(q);
  std::optional<std::int64_t> kv_heads = flags.kv_heads;
  if (!kv_heads && problem.layout != Layout::heads) kv_heads = flags.heads.value_or(1);
  const auto keys_or_values = [&](const std::string& option, const std::string& path) {
    return with_heads(option, read_file_of(option, path), problem.layout, "--kv-heads", kv_heads);
  };
  problem.q = with_heads("--q", std::move(q), problem.layout, "--heads", flags.heads);
  problem.k = keys_or_values("--k", flags.k);
  if (!flags.v.empty()) problem.v = keys_or_values("--v", flags.v);
  const auto after = [&](const char* option, const char* past, const std::string& path, Tensor& present) {
    if (path.empty()) return;
    const Tensor earlier = keys_or_values(past, path);
    present = of_option(option, [&] { return concat_time(earlier, present); });
  };
  after("--k", "--past-k", flags.past_k, problem.k);
  after("--v", "--past-v", flags.past_v, problem.v);
  problem.options = load_options(flags, problem.q, problem.k);
  return problem;
}

Tensor with_all_axes(Tensor tensor, const AttendProblem& problem) {
  const Shape shape = problem.q.shape().without(3);
  if (problem.layout != Layout::matrix || tensor.size() != shape.product() || tensor.dim(-1) != shape[2]) return tensor;
  return std::move(tensor).reshaped(shape);
}

Upstream load_upstream(const AttendFlags& flags, const AttendProblem& problem) {
  const auto check = [](const std::string& option, const Tensor& x, const Shape& shape, DType dtype, const char* axes) {
    if (x.shape() != shape) misuse(option, axes + shape.to_string(), x.shape().to_string());
    if (x.dtype() != dtype) misuse(option, std::string(name_of(dtype)) + ", as --q", std::string(name_of(x.dtype())));
  };
  const DType dtype = problem.q.dtype();
  const Shape rows = problem.q.shape().without(3);
  Upstream upstream;
  if (!flags.d_out.empty()) {
    std::optional<std::int64_t> heads;
    if (problem.layout != Layout::heads) heads = rows[1];
    upstream.d_out = with_heads("--d-out", read_file_of("--d-out", flags.d_out), problem.layout, "--heads", heads);
    check("--d-out", upstream.d_out, rows.inserted(3, problem.v.dim(3)), dtype, "[B, Hq, Tq, Dv], ");
  }
  if (!flags.d_lse.empty()) {
    upstream.d_lse = with_all_axes(read_file_of("--d-lse", flags.d_lse), problem);
    check("--d-lse", upstream.d_lse, rows, dtype == DType::f64 ? dtype : DType::f32, "[B, Hq, Tq], ");
  }
  return upstream;
}

Tensor in_layout(Tensor tensor, Layout layout) {
  if (layout == Layout::heads) return tensor;
  Tensor packed = merge_heads(tensor);
  if (layout == Layout::packed) return packed;
  const Shape matrix = packed.shape().without(0);
  return std::move(packed).reshaped(matrix);
}

Tensor without_absent_axes(Tensor tensor, Layout layout) {
  if (layout != Layout::matrix) return tensor;
  Shape shape = tensor.shape().without(0);
  if (shape[0] == 1) shape = shape.without(0);
  return std::move(tensor).reshaped(shape);
}

}  // namespace qkv::cli
