// Attention on files or texts: what is computed of a problem, and what is told of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/problem.h"
#include "qkv/files.h"
#include "qkv/tile_plan.h"

namespace qkv {

/// What `qkv attend` is asked, apart from where its results go.
struct AttendRequest : ProblemRequest {
  std::uint64_t memory_limit = std::uint64_t{4} << 30;  // bytes that weights or scores may take
};

[[nodiscard]] const Fields<AttendRequest>& attend_fields();

/// Which results are wanted.
struct AttendChoice {
  bool out = false, lse = false, weights = false, scores = false;
  bool gradients = false;  // d_q, d_k, d_v, then d_bias_0, … and d_sinks where there are biases and sinks
  bool present_k = false, present_v = false;
  Stage stage = Stage::scaled;                          // of scores
  std::uint64_t memory_limit = std::uint64_t{4} << 30;  // bytes that weights or scores may take
};

struct AttendReply {
  std::vector<NamedTensor> results;  // as the inputs lay
  MaskShape shape;
  TileSize tile;
  TileCounts tiles;
  std::int64_t blind_rows = 0;  // rows that see nothing
};

/// Refuses what attention() would, and weights or scores that memory_limit does not hold, before anything is computed.
/// Throws InvalidArgument.
void require_attend(const AttentionProblem& problem, const AttendChoice& choice);

/// Computes the results in the order of their names in AttendChoice, gradients first. weights and scores are f64 for
/// f64, else f32. Throws InvalidArgument as attention() and attention_backward(), and Error naming the result, its
/// shape and size where memory ends.
[[nodiscard]] AttendReply attend(const AttentionProblem& problem, const Upstream& upstream, const AttendChoice& choice);

/// A tensor by name, and where it came from or went to.
struct TensorNote {
  std::string name;  // "q", "out", …
  std::string path;
  Shape shape;
  DType dtype = DType::f32;
};

/// What was read: q, k and v, and d_out and d_lse if given.
[[nodiscard]] std::vector<TensorNote> input_notes(const ProblemRequest& request, const AttentionProblem& problem,
                                                  const Upstream& upstream);

/// What was read, applied, kept of the pairs and written, in lines of at most `width` columns. Results without a path
/// are shown in numbers, if they have at most 256.
[[nodiscard]] std::string as_text(const AttendReply& reply, const AttentionProblem& problem,
                                  const std::vector<TensorNote>& inputs, const std::vector<TensorNote>& outputs,
                                  int width);

struct TensorFile {
  std::string path;
  std::vector<std::int64_t> shape;
  std::string dtype;
};

/// A result; one that went into no file has its values.
struct TensorResult : TensorFile {
  std::optional<std::vector<double>> values;
};

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
  std::int64_t rows_that_see_nothing = 0;
  Named<TensorResult> outputs;
};

[[nodiscard]] AttendFigures attend_figures(const AttendReply& reply, const AttentionProblem& problem,
                                           const std::vector<TensorNote>& inputs,
                                           const std::vector<TensorNote>& outputs);

/// out and weights in numbers, as the command shows them of matrices that were typed. Throws as load_problem(),
/// require_attend() and attend().
[[nodiscard]] AttendFigures answer(const AttendRequest& request);

[[nodiscard]] const Members<TensorFile>& members_of(const TensorFile* file);
[[nodiscard]] const Members<TensorResult>& members_of(const TensorResult* result);
[[nodiscard]] const Members<AttendCoverage>& members_of(const AttendCoverage* coverage);
[[nodiscard]] const Members<AttendFigures>& members_of(const AttendFigures* figures);

}  // namespace qkv
