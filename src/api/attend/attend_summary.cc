// What is told of an attention on files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "api/replies/lines.h"
#include "qkv/api/attend.h"

namespace qkv {
namespace {

using api_detail::named_lines;

std::string file_lines(const std::string& name, const TensorFile& file, int width) {
  const std::string path = file.path.empty() ? "" : "  " + file.path;
  return named_lines(name, fmt::format("[{}] {}{}", fmt::join(file.shape, ", "), file.dtype, path), width);
}

std::string coverage_lines(const AttendReply& reply, int width) {
  const TileCounts& tiles = reply.tiles;
  std::string text = named_lines(
      "kept",
      fmt::format("{} of {} pairs ({:.2f} %) by the mask", tiles.pairs_kept, tiles.pairs_total, 100 * tiles.coverage()),
      width);
  text += named_lines(
      "tiles",
      fmt::format("{} of {} x {}: {} skipped, {} full, {} partial ({:.2f} % computed)", tiles.total(),
                  reply.tile.queries, reply.tile.keys, tiles.skip, tiles.full, tiles.partial, 100 * tiles.cost()),
      width);
  if (reply.blind_rows.value_or(0) == 0) return text;
  return text + named_lines("rows", fmt::format("{} see nothing: zeros in out, -inf in lse", *reply.blind_rows), width);
}

// Each matrix [rows, columns] of the last two axes.
std::string numbers_of(const Tensor& tensor, int width) {
  constexpr std::int64_t kMost = 256;
  if (tensor.size() == 0 || tensor.size() > kMost) return {};
  const std::int64_t columns = tensor.dim(-1);
  const std::int64_t rows = tensor.rank() > 1 ? tensor.dim(-2) : 1;
  const TensorView matrices = tensor.view().reshape({tensor.size() / (rows * columns), rows, columns});
  std::string text;
  for (std::int64_t n = 0; n < matrices.dim(0); ++n) {
    text += api_detail::matrix_lines(Tensor(matrices.select(0, n)), {}, 0, 0, width);
  }
  return text;
}

AttendCoverage coverage_of(const TileCounts& tiles) {
  return {.pairs_kept = tiles.pairs_kept,
          .pairs_total = tiles.pairs_total,
          .coverage = tiles.coverage(),
          .tiles_skip = tiles.skip,
          .tiles_full = tiles.full,
          .tiles_partial = tiles.partial,
          .cost = tiles.cost()};
}

}  // namespace

TensorFile tensor_file(std::string path, const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  return {
      .path = std::move(path), .shape = {shape.begin(), shape.end()}, .dtype = std::string(name_of(tensor.dtype()))};
}

Named<TensorFile> input_files(const ProblemRequest& request, const AttentionProblem& problem,
                              const Upstream& upstream) {
  Named<TensorFile> files;
  const auto add = [&](const char* name, const std::string& past, const std::string& path, const Tensor& tensor) {
    if (!tensor.empty()) files.emplace_back(name, tensor_file(past.empty() ? path : past + " then " + path, tensor));
  };
  add("q", "", request.q, problem.q);
  add("k", request.past_k, request.k, problem.k);
  add("v", request.past_v, request.v, problem.v);
  add("d_out", "", request.d_out, upstream.d_out);
  add("d_lse", "", request.d_lse, upstream.d_lse);
  return files;
}

std::string as_text(const AttendReply& reply, const AttentionProblem& problem, const Named<TensorFile>& inputs,
                    const Named<TensorFile>& outputs, int width) {
  std::string text;
  for (const auto& [name, file] : inputs) text += file_lines(name, file, width);
  text += applied_as_text(problem, width) + coverage_lines(reply, width);
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    const auto& [name, file] = outputs[n];
    text += file_lines(name, file, width);
    if (file.path.empty()) text += numbers_of(reply.results[n].tensor, width);
  }
  return text;
}

AttendFigures attend_figures(AttendReply reply, const AttentionProblem& problem, Named<TensorFile> inputs,
                             Named<TensorFile> outputs) {
  AttendFigures figures;
  static_cast<MatrixExtents&>(figures) = matrix_extents(reply.shape);
  static_cast<AppliedOptions&>(figures) = applied_options(problem);
  figures.inputs = std::move(inputs);
  figures.coverage = coverage_of(reply.tiles);
  figures.rows_that_see_nothing = reply.blind_rows;
  for (std::size_t n = 0; n < outputs.size(); ++n) {
    auto& [name, tensor] = reply.results[n];
    if (outputs[n].second.path.empty()) figures.arrays.emplace_back(name, std::move(tensor));
  }
  figures.outputs = std::move(outputs);
  return figures;
}

Members<TensorFile> describe(const TensorFile* /*type*/) {
  return Members<TensorFile>("TensorFile")
      .add(&TensorFile::path, "path", "Where it lies; empty if in no file")
      .add(&TensorFile::shape, "shape", "Its extents")
      .add(&TensorFile::dtype, "dtype", "Of its elements");
}

Members<AttendCoverage> describe(const AttendCoverage* /*type*/) {
  using C = AttendCoverage;
  return Members<C>("AttendCoverage")
      .add(&C::pairs_kept, "pairs_kept", "Pairs that the mask keeps, of all heads")
      .add(&C::pairs_total, "pairs_total", "All pairs")
      .add(&C::coverage, "coverage", "Share of pairs kept")
      .add(&C::tiles_skip, "tiles_skip", "Tiles without a visible pair")
      .add(&C::tiles_full, "tiles_full", "Tiles without a hidden pair")
      .add(&C::tiles_partial, "tiles_partial", "The others")
      .add(&C::cost, "cost", "Share of tiles computed");
}

Members<AttendFigures> describe(const AttendFigures* /*type*/) {
  using F = AttendFigures;
  return Members<F>("AttendFigures")
      .add(&F::inputs, "inputs", "What was read")
      .add(members_of<MatrixExtents>())
      .add(members_of<AppliedOptions>())
      .add(&F::coverage, "coverage", "What the mask keeps")
      .add_if_there(&F::rows_that_see_nothing, "rows_that_see_nothing",
                    "Whose out is zeros and whose lse is -inf; none beside present_k and present_v alone")
      .add(&F::outputs, "outputs", "The results that were asked for")
      .add(&F::arrays, "arrays", "Those of them that went into no file");
}

}  // namespace qkv
