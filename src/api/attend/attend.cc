#include "qkv/api/attend.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "api/fields/refuse.h"
#include "qkv/backward.h"
#include "qkv/picture/chart.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

// Runs `body`; where memory ends, says for what.
template <class Body>
auto with_memory_for(const std::string& what, const Shape& shape, DType dtype, const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    const double gib = static_cast<double>(shape.product()) * static_cast<double>(size_of(dtype)) / 0x1p30;
    constexpr int kMany = 256;
    const std::string workers = threads() < kMany ? "" : fmt::format(" and the buffers of {} threads", threads());
    throw Error(fmt::format("not enough memory for {} {} of {}, {:.1f} GiB{}", what, shape.to_string(), name_of(dtype),
                            gib, workers));
  }
}

DType matrix_dtype(const AttentionProblem& problem) {
  return problem.q.dtype() == DType::f64 ? DType::f64 : DType::f32;
}

Shape matrix_of(const AttentionProblem& problem) {
  return {problem.q.dim(0), problem.q.dim(1), problem.q.dim(2), problem.k.dim(2)};
}

// T x T numbers can be more than was thought of: beyond the limit they are made only where it is raised.
void require_room(const AttentionProblem& problem, const AttendChoice& choice) {
  const DType dtype = matrix_dtype(problem);
  const Shape shape = matrix_of(problem);
  auto bytes = static_cast<double>(size_of(dtype));
  for (const std::int64_t extent : shape) bytes *= static_cast<double>(extent);
  const auto limit = static_cast<double>(choice.memory_limit.value_or(kMatrixLimit));
  if (bytes <= limit) return;
  for (const char* const result : {"weights", "scores"}) {
    if (!choice.has(result)) continue;
    api_detail::refuse("memory_limit",
                       fmt::format("at least {} for {}, {} of {} (qkv probe shows any part without storing the whole)",
                                   in_unit(bytes, Unit::bytes), result, shape.to_string(), name_of(dtype)),
                       in_unit(limit, Unit::bytes));
  }
}

// One walk over the scores makes both.
void add_scores(const AttentionProblem& problem, const AttendChoice& choice, std::vector<NamedTensor>& results) {
  const bool has_scores = choice.has("scores"), has_weights = choice.has("weights");
  if (!has_scores && !has_weights) return;
  const TensorView q = problem.q;
  const TensorView k = problem.k;
  const Stage stage = choice.stage ? stage_named(*choice.stage) : Stage::scaled;
  const DType dtype = matrix_dtype(problem);
  std::vector<Tensor> made = with_memory_for("the scores", matrix_of(problem), dtype, [&] {
    if (!has_weights) return attention_stages(q, k, problem.options, {stage}, dtype);
    if (!has_scores) return attention_stages(q, k, problem.options, {Stage::weights}, dtype);
    return attention_stages(q, k, problem.options, {stage, Stage::weights}, dtype);
  });
  for (std::size_t n = 0; n < made.size(); ++n) {
    const char* const name = has_scores && n == 0 ? "scores" : "weights";
    results.push_back({name, without_absent_axes(std::move(made[n]), problem.layout)});
  }
}

void add_gradients(const AttentionProblem& problem, const Upstream& upstream, const AttentionResult& result,
                   std::vector<NamedTensor>& results) {
  BackwardOptions backward;
  if (!upstream.d_lse.empty()) backward.d_lse = upstream.d_lse;
  AttentionGradients gradients = with_memory_for("d_q", problem.q.shape(), problem.q.dtype(), [&] {
    return attention_backward(upstream.d_out, problem.q, problem.k, problem.v, result.out, result.lse, problem.options,
                              backward);
  });
  const auto add = [&](const std::string& name, Tensor tensor) {
    if (!tensor.empty()) results.push_back({name, std::move(tensor)});
  };
  add("d_q", in_layout(std::move(gradients.d_q), problem.layout));
  add("d_k", in_layout(std::move(gradients.d_k), problem.layout));
  add("d_v", in_layout(std::move(gradients.d_v), problem.layout));
  for (std::size_t n = 0; n < gradients.d_bias.size(); ++n) {
    add("d_bias_" + std::to_string(n), std::move(gradients.d_bias[n]));
  }
  add("d_sinks", std::move(gradients.d_sinks));
}

constexpr const char* kPresentK = "present_k";
constexpr const char* kPresentV = "present_v";

// What is read, and not computed.
bool is_given(std::string_view result) { return result == kPresentK || result == kPresentV; }

void add_computed(const AttentionProblem& problem, const Upstream& upstream, const AttendChoice& choice,
                  AttendReply& reply) {
  const auto& [layout, q, k, v, options] = problem;
  const Shape out_shape{q.dim(0), q.dim(1), q.dim(2), v.dim(3)};
  AttentionResult result = with_memory_for("out", out_shape, q.dtype(), [&] { return attention(q, k, v, options); });
  reply.blind_rows = std::ranges::count(result.lse.to_vector(), -HUGE_VAL);
  if (choice.has("gradients")) add_gradients(problem, upstream, result, reply.results);
  if (choice.has("out")) reply.results.push_back({"out", in_layout(std::move(result.out), layout)});
  if (choice.has("lse")) reply.results.push_back({"lse", without_absent_axes(std::move(result.lse), layout)});
  add_scores(problem, choice, reply.results);
}

}  // namespace

void require_attend(const AttentionProblem& problem, const AttendChoice& choice) {
  static_cast<void>(attention_scratch_bytes(problem.q, problem.k, problem.v, problem.options));
  require_room(problem, choice);
}

AttendReply attend(const AttentionProblem& problem, const Upstream& upstream, const AttendChoice& choice) {
  const auto& [layout, q, k, v, options] = problem;
  AttendReply reply;
  reply.shape = {.B = q.dim(0), .H = q.dim(1), .Tq = q.dim(2), .Tk = k.dim(2)};
  reply.tiles = TilePlan(options.mask, reply.shape, reply.tile).counts();
  if (!std::ranges::all_of(choice.results, is_given)) add_computed(problem, upstream, choice, reply);
  if (choice.has(kPresentK)) reply.results.push_back({kPresentK, in_layout(k, layout)});
  if (choice.has(kPresentV)) reply.results.push_back({kPresentV, in_layout(v, layout)});
  return reply;
}

}  // namespace qkv
