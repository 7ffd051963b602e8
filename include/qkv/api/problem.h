// The attention that a request asks for: tensors [B, H, T, D] from files or texts, and what attention() is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/attention.h"
#include "qkv/stage.h"

namespace qkv {

/// What `attend` and `probe` are asked alike. A tensor is a tensor path (qkv/files.h) or numbers in brackets, as
/// [T, D], [T, H * D], [B, T, H * D] or [B, H, T, D]; an empty text is a field that was not given.
struct ProblemRequest {
  std::string q, k, v, past_k, past_v;
  std::optional<std::int64_t> heads, kv_heads;
  std::string mask, mask_file, window, kv_lengths;
  std::string bias, bias_file;
  bool causal = false;
  std::optional<double> scale, softcap, dropout;
  std::optional<std::uint64_t> seed;
  std::string sinks;
  std::optional<int> threads;
  std::string target;
  std::string d_out, d_lse;
};

/// The fields of the request, in groups: inputs, who sees whom, scores, the backward pass, how it runs.
[[nodiscard]] const Fields<ProblemRequest>& problem_fields();

/// What stands for a d_out that is to be drawn.
inline constexpr std::string_view kDrawn = "random";

/// How the heads lie in the inputs.
enum class Layout : std::uint8_t {
  matrix,  // [T, H * D]
  packed,  // [B, T, H * D]
  heads,   // [B, H, T, D]
};

struct AttentionProblem {
  Layout layout = Layout::heads;
  Tensor q;  // [B, Hq, Tq, D]
  Tensor k;  // [B, Hk, Tk, D], the past in front
  Tensor v;  // [B, Hk, Tk, Dv]; empty() without v
  AttentionOptions options;
};

/// The gradients of a loss with respect to out and lse, [B, Hq, Tq, Dv] and [B, Hq, Tq]; empty() where not given.
struct Upstream {
  Tensor d_out;
  Tensor d_lse;
};

/// Reads the files and the texts. Numbers in brackets take the dtype of the tensors that come from files, else f64.
/// `options.target` is that of the request, which outlives the problem. Throws Error for a file that cannot be read,
/// InvalidArgument or MaskSyntaxError naming the field for what has no meaning.
[[nodiscard]] AttentionProblem load_problem(const ProblemRequest& request);

/// The options alone, of a problem with this q and k. Throws as load_problem().
[[nodiscard]] AttentionOptions load_options(const ProblemRequest& request, const TensorView& q, const TensorView& k);

/// d_out and d_lse of the request, unless d_out is to be drawn. Throws as load_problem(), for another shape or dtype
/// too.
[[nodiscard]] Upstream load_upstream(const ProblemRequest& request, const AttentionProblem& problem);

/// Whether kv_lengths or sinks has numbers, and names no file.
[[nodiscard]] bool is_number_list(std::string_view text);

/// `stage`, of the scores.
[[nodiscard]] FieldInfo stage_field(const std::string& group = "");
/// The stage of this name. Throws InvalidArgument naming `stage` and listing them, and `more`.
[[nodiscard]] Stage stage_named(std::string_view name, std::string_view more = "");

/// [B, Hq, Tq] of what attend writes for a matrix: [Tq] or [Hq, Tq].
[[nodiscard]] Tensor with_all_axes(Tensor tensor, const AttentionProblem& problem);

/// A result [B, H, T, D] as the inputs lay.
[[nodiscard]] Tensor in_layout(Tensor tensor, Layout layout);

/// A result [B, H, Tq, …] that has a place for each query: without the axes that a matrix of one head does not have.
[[nodiscard]] Tensor without_absent_axes(Tensor tensor, Layout layout);

/// Lines of scale, softcap, bias, mask, dropout, sinks and target as they were applied; what does nothing is left out.
/// At most `width` columns a line.
[[nodiscard]] std::string applied_as_text(const AttentionProblem& problem, int width);

/// Of the matrices of weights.
struct MatrixExtents {
  std::int64_t B = 0, Hq = 0, Tq = 0, Tk = 0;
};

[[nodiscard]] MatrixExtents matrix_extents(const MaskShape& shape);
[[nodiscard]] Members<MatrixExtents> describe(const MatrixExtents* extents);

struct AppliedDropout {
  double p = 0;
  std::uint64_t seed = 0;
};

/// The same as data; null for what does nothing.
struct AppliedOptions {
  double scale = 0;
  std::optional<double> softcap;
  std::optional<std::string> bias;
  std::string mask;
  std::optional<AppliedDropout> dropout;
  std::vector<double> sinks;
  std::string target;
};

[[nodiscard]] AppliedOptions applied_options(const AttentionProblem& problem);

[[nodiscard]] Members<AppliedDropout> describe(const AppliedDropout* dropout);
[[nodiscard]] Members<AppliedOptions> describe(const AppliedOptions* options);

}  // namespace qkv
