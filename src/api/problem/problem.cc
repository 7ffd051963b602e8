#include "qkv/api/problem.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/fields/refuse.h"
#include "core/listed.h"
#include "qkv/files.h"
#include "qkv/heads.h"
#include "qkv/kv.h"

namespace qkv {
namespace {

using api_detail::read_field;
using api_detail::refuse;

Layout layout_of(const Tensor& q) {
  switch (q.rank()) {
    case 2:
      return Layout::matrix;
    case 3:
      return Layout::packed;
    case 4:
      return Layout::heads;
    default:
      refuse("q", "[T, D], [B, T, H * D] or [B, H, T, D]", q.shape().to_string());
  }
}

// [B, H, T, D] of a tensor in the layout of q.
Tensor with_heads(const std::string& field, Tensor tensor, Layout layout, const std::string& heads_field,
                  std::optional<std::int64_t> heads) {
  const int rank = layout == Layout::matrix ? 2 : layout == Layout::packed ? 3 : 4;
  if (tensor.rank() != rank) {
    refuse(field, "rank " + std::to_string(rank) + " as of q", tensor.shape().to_string());
  }
  if (layout == Layout::heads) {
    if (heads && *heads != tensor.dim(1)) {
      refuse(heads_field, std::to_string(tensor.dim(1)) + ", which is axis 1 of " + field, std::to_string(*heads));
    }
    return tensor;
  }
  const TensorView packed = layout == Layout::matrix ? tensor.view().unsqueeze(0) : tensor.view();
  const std::int64_t count = heads.value_or(1);
  if (count < 1 || packed.dim(2) % count != 0) {
    refuse(heads_field, "a divisor of " + std::to_string(packed.dim(2)) + ", the last axis of " + field,
           std::to_string(count));
  }
  return Tensor(split_heads(packed, count));
}

// Numbers in brackets take another tensor's dtype.
Tensor typed_as(const std::string& text, Tensor tensor, DType dtype) {
  return is_tensor_text(text) && is_floating(dtype) ? tensor.to(dtype) : std::move(tensor);
}

void require_drawn_by_seed(const ProblemRequest& request) {
  const bool is_for_dropout_alone = request.seed && request.d_out != kDrawn;
  if (is_for_dropout_alone && request.dropout == 0.0) {
    refuse("seed", "`dropout` above 0 beside it", "a dropout of 0, for which nothing is drawn");
  }
}

// That of what comes from a file.
void agree_on_dtype(const ProblemRequest& request, AttentionProblem& problem) {
  const std::array<std::pair<const std::string*, Tensor*>, 3> inputs = {
      std::pair(&request.q, &problem.q), std::pair(&request.k, &problem.k), std::pair(&request.v, &problem.v)};
  const auto from_file = std::ranges::find_if(
      inputs, [](const auto& input) { return !input.first->empty() && !is_tensor_text(*input.first); });
  if (from_file == inputs.end()) return;
  for (const auto& [text, tensor] : inputs) *tensor = typed_as(*text, std::move(*tensor), from_file->second->dtype());
}

}  // namespace

AttentionProblem load_problem(const ProblemRequest& request) {
  static_cast<void>(attention_target(DType::f32, {.target = request.target}));  // before anything is read
  require_drawn_by_seed(request);
  AttentionProblem problem;
  Tensor q = read_field("q", request.q);
  problem.layout = layout_of(q);
  std::optional<std::int64_t> kv_heads = request.kv_heads;
  if (!kv_heads && problem.layout != Layout::heads) kv_heads = request.heads.value_or(1);
  const char* const kv_heads_field = request.kv_heads ? "kv_heads" : "heads";
  const auto keys_or_values = [&](const std::string& field, const std::string& path) {
    return with_heads(field, read_field(field, path), problem.layout, kv_heads_field, kv_heads);
  };
  problem.q = with_heads("q", std::move(q), problem.layout, "heads", request.heads);
  problem.k = keys_or_values("k", request.k);
  if (!request.v.empty()) problem.v = keys_or_values("v", request.v);
  const auto after = [&](const char* field, const char* past, const std::string& path, Tensor& present) {
    if (path.empty()) return;
    const Tensor earlier = typed_as(path, keys_or_values(past, path), present.dtype());
    present = api_detail::of_field(field, [&] { return concat_time(earlier, present); });
  };
  agree_on_dtype(request, problem);
  after("k", "past_k", request.past_k, problem.k);
  after("v", "past_v", request.past_v, problem.v);
  problem.options = load_options(request, problem.q, problem.k);
  return problem;
}

Tensor with_all_axes(Tensor tensor, const AttentionProblem& problem) {
  const Shape shape = problem.q.shape().without(3);
  if (problem.layout != Layout::matrix || tensor.size() != shape.product() || tensor.dim(-1) != shape[2]) return tensor;
  return std::move(tensor).reshaped(shape);
}

Upstream load_upstream(const ProblemRequest& request, const AttentionProblem& problem) {
  const auto check = [](const std::string& field, const Tensor& x, const Shape& shape, DType dtype, const char* axes) {
    if (x.shape() != shape) refuse(field, axes + shape.to_string(), x.shape().to_string());
    if (x.dtype() != dtype) refuse(field, std::string(name_of(dtype)) + ", as q", name_of(x.dtype()));
  };
  const DType dtype = problem.q.dtype();
  const Shape rows = problem.q.shape().without(3);
  Upstream upstream;
  if (!request.d_out.empty() && request.d_out != kDrawn) {
    std::optional<std::int64_t> heads;
    if (problem.layout != Layout::heads) heads = rows[1];
    Tensor d_out = typed_as(request.d_out, read_field("d_out", request.d_out), dtype);
    upstream.d_out = with_heads("d_out", std::move(d_out), problem.layout, "heads", heads);
    check("d_out", upstream.d_out, rows.inserted(3, problem.v.dim(3)), dtype, "[B, Hq, Tq, Dv], ");
  }
  if (!request.d_lse.empty()) {
    const DType sums = dtype == DType::f64 ? dtype : DType::f32;
    upstream.d_lse = with_all_axes(typed_as(request.d_lse, read_field("d_lse", request.d_lse), sums), problem);
    check("d_lse", upstream.d_lse, rows, sums, "[B, Hq, Tq], ");
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

FieldInfo stage_field(const std::string& group) {
  FieldInfo field{.name = "stage", .form = "STAGE", .meaning = "Which of the matrices", .group = group};
  for (int i = 0; i < kStages; ++i) field.words.emplace_back(name_of(static_cast<Stage>(i)));
  return field;
}

Stage stage_named(std::string_view name, std::string_view more) {
  const std::vector<std::string> names = stage_field("").words;
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<Stage>(found - names.begin());
  refuse("stage", "one of " + core::joined(names).append(more), "\"" + std::string(name) + "\"");
}

}  // namespace qkv
