// Attention on files or texts: what is computed of a problem, and what is told of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/problem.h"
#include "qkv/files.h"
#include "qkv/tile_plan.h"

namespace qkv {

/// A result that can be asked for.
struct AttendResult {
  const char* name;
  const char* meaning;
  bool is_several = false;  // tensors, each with a name of its own
};

/// out, lse, weights, scores, present_k, present_v and gradients: d_q, d_k, d_v, then d_bias_0, … and d_sinks where
/// there are biases and sinks.
inline constexpr std::size_t kAttendResults = 7;
[[nodiscard]] std::span<const AttendResult, kAttendResults> attend_results() noexcept;

inline constexpr std::uint64_t kMatrixLimit = std::uint64_t{4} << 30;  // in bytes

/// What is computed of a problem.
struct AttendChoice {
  std::vector<std::string> results = {};                     // by their names
  std::optional<std::string> stage = std::nullopt;           // of scores; default: scaled
  std::optional<std::uint64_t> memory_limit = std::nullopt;  // of weights or scores; default: kMatrixLimit

  [[nodiscard]] bool has(std::string_view result) const;
};

/// What `qkv attend` is asked, apart from where its results go.
struct AttendRequest : ProblemRequest, AttendChoice {};

[[nodiscard]] const Fields<AttendRequest>& attend_fields();

/// The choice of a request, where it names no results out and weights, and gradients beside d_out. Throws
/// InvalidArgument for gradients without d_out, d_out without gradients, a stage without scores, and a memory_limit
/// without weights or scores.
[[nodiscard]] AttendChoice attend_choice(const AttendRequest& request);

struct AttendReply {
  std::vector<NamedTensor> results;  // as the inputs lay
  MaskShape shape;
  TileSize tile;
  TileCounts tiles;
  std::optional<std::int64_t> blind_rows = std::nullopt;  // rows that see nothing; none where attention is not computed
};

/// Refuses what attention() would, and weights or scores that memory_limit does not hold, before anything is computed.
/// Throws InvalidArgument.
void require_attend(const AttentionProblem& problem, const AttendChoice& choice);

/// Computes the results that are chosen, and no others, present_k and present_v without attention: gradients, out, lse,
/// scores, weights, present_k, present_v. weights and scores are f64 for f64, else f32. Throws InvalidArgument as
/// attention() and attention_backward(), and Error naming the result, its shape and size where memory ends.
[[nodiscard]] AttendReply attend(const AttentionProblem& problem, const Upstream& upstream, const AttendChoice& choice);

/// A tensor, and where it came from or went to.
struct TensorFile {
  std::string path;  // empty: nowhere
  std::vector<std::int64_t> shape;
  std::string dtype;
};

[[nodiscard]] TensorFile tensor_file(std::string path, const Tensor& tensor);

/// What was read: q, k and v, and d_out and d_lse if given.
[[nodiscard]] Named<TensorFile> input_files(const ProblemRequest& request, const AttentionProblem& problem,
                                            const Upstream& upstream);

/// What was read, applied, kept of the pairs and written, in lines of at most `width` columns. Results without a path
/// are shown in numbers, if they have at most 256. `outputs` is of the results, one by one.
[[nodiscard]] std::string as_text(const AttendReply& reply, const AttentionProblem& problem,
                                  const Named<TensorFile>& inputs, const Named<TensorFile>& outputs, int width);

struct AttendCoverage {
  std::int64_t pairs_kept = 0, pairs_total = 0;
  double coverage = 0;
  std::int64_t tiles_skip = 0, tiles_full = 0, tiles_partial = 0;
  double cost = 0;
};

/// The same as data: what `qkv attend --json` prints.
struct AttendFigures : MatrixExtents, AppliedOptions {
  Named<TensorFile> inputs;
  AttendCoverage coverage;
  std::optional<std::int64_t> rows_that_see_nothing;
  Named<TensorFile> outputs;
  Named<Tensor> arrays;
};

[[nodiscard]] AttendFigures attend_figures(AttendReply reply, const AttentionProblem& problem, Named<TensorFile> inputs,
                                           Named<TensorFile> outputs);

/// The results in numbers. Throws as attend_choice(), load_problem(), require_attend() and attend().
[[nodiscard]] AttendFigures answer(const AttendRequest& request);

[[nodiscard]] Members<TensorFile> describe(const TensorFile* file);
[[nodiscard]] Members<AttendCoverage> describe(const AttendCoverage* coverage);
[[nodiscard]] Members<AttendFigures> describe(const AttendFigures* figures);

}  // namespace qkv
