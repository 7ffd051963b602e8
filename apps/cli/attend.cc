// qkv attend: the operator on files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "attend_places.h"
#include "attend_problem.h"
#include "attend_summary.h"
#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "problem_options.h"
#include "qkv/backward.h"
#include "qkv/files.h"
#include "qkv/info.h"
#include "qkv/picture/chart.h"

namespace qkv::cli {
namespace {

struct Output {
  std::string name;
  std::string path;
  Tensor tensor;
};

// Runs `body`; where memory ends, says for what.
template <class Body>
auto with_memory_for(const std::string& what, const Shape& shape, DType dtype, const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    const double gib = static_cast<double>(shape.product()) * static_cast<double>(size_of(dtype)) / 0x1p30;
    throw Error(
        fmt::format("not enough memory for {} {} of {}, {:.1f} GiB", what, shape.to_string(), name_of(dtype), gib));
  }
}

Shape matrix_of(const AttendProblem& problem) {
  return {problem.q.dim(0), problem.q.dim(1), problem.q.dim(2), problem.k.dim(2)};
}

// T x T numbers can be more than was thought of: beyond the limit they are made only where it is raised.
void require_room(const AttendFlags& flags, const AttendProblem& problem) {
  const DType dtype = problem.q.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Shape shape = matrix_of(problem);
  for (const auto& [option, path] : {std::pair("--weights", &flags.weights), std::pair("--scores", &flags.scores)}) {
    auto bytes = static_cast<double>(size_of(dtype));
    for (const std::int64_t extent : shape) bytes *= static_cast<double>(extent);
    if (path->empty() || bytes <= static_cast<double>(flags.memory_limit)) continue;
    misuse(option,
           fmt::format("no more than the {} of --memory-limit, which may be raised (qkv probe shows any part without "
                       "storing the whole)",
                       in_unit(static_cast<double>(flags.memory_limit), Unit::bytes)),
           fmt::format("{} of {}, {}", shape.to_string(), name_of(dtype), in_unit(bytes, Unit::bytes)));
  }
}

// The T x T results, in the order --scores, --weights. One walk over the scores makes both.
void add_scores(const AttendFlags& flags, const AttendProblem& problem, std::vector<Output>& outputs) {
  if (flags.scores.empty() && flags.weights.empty()) return;
  const Stage stage = stage_of(flags.stage);
  const TensorView q = problem.q;
  const TensorView k = problem.k;
  const AttentionOptions& options = problem.options;
  const DType dtype = q.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Shape shape = matrix_of(problem);
  std::vector<Tensor> made = with_memory_for("the scores", shape, dtype, [&] {
    if (flags.weights.empty()) return attention_stages(q, k, options, {stage}, dtype);
    if (flags.scores.empty()) return attention_stages(q, k, options, {Stage::weights}, dtype);
    return attention_stages(q, k, options, {stage, Stage::weights}, dtype);
  });
  const auto add = [&](const std::string& name, const std::string& path, Tensor& tensor) {
    outputs.push_back({.name = name, .path = path, .tensor = without_absent_axes(std::move(tensor), problem.layout)});
  };
  if (!flags.scores.empty()) add("scores", flags.scores, made.front());
  if (!flags.weights.empty()) add("weights", flags.weights, made.back());
}

std::int64_t count_blind(const Tensor& lse) {
  const std::vector<double> values = lse.to_vector();
  return std::ranges::count(values, -INFINITY);
}

// d_q, d_k and d_v, then those of biases and sinks where there are any.
void add_gradients(const AttendFlags& flags, const AttendProblem& problem, const Upstream& upstream,
                   const AttentionResult& result, std::vector<Output>& outputs) {
  if (flags.gradients.empty()) return;
  BackwardOptions backward;
  if (!upstream.d_lse.empty()) backward.d_lse = upstream.d_lse;
  AttentionGradients gradients = with_memory_for("d_q", problem.q.shape(), problem.q.dtype(), [&] {
    return attention_backward(upstream.d_out, problem.q, problem.k, problem.v, result.out, result.lse, problem.options,
                              backward);
  });
  const auto add = [&](const std::string& name, Tensor tensor) {
    if (tensor.empty()) return;
    outputs.push_back({.name = name, .path = flags.gradients + ":" + name, .tensor = std::move(tensor)});
  };
  add("d_q", in_layout(std::move(gradients.d_q), problem.layout));
  add("d_k", in_layout(std::move(gradients.d_k), problem.layout));
  add("d_v", in_layout(std::move(gradients.d_v), problem.layout));
  for (std::size_t n = 0; n < gradients.d_bias.size(); ++n) {
    add("d_bias_" + std::to_string(n), std::move(gradients.d_bias[n]));
  }
  add("d_sinks", std::move(gradients.d_sinks));
}

std::vector<Output> compute(const AttendFlags& flags, const AttendProblem& problem, const Upstream& upstream,
                            AttendSummary& summary) {
  const TensorView q = problem.q;
  const TensorView v = problem.v;
  const Layout layout = problem.layout;
  const Shape out_shape{q.dim(0), q.dim(1), q.dim(2), v.dim(3)};
  AttentionResult result =
      with_memory_for("out", out_shape, q.dtype(), [&] { return attention(q, problem.k, v, problem.options); });
  summary.blind_rows = count_blind(result.lse);
  std::vector<Output> outputs;
  const auto add = [&](const std::string& name, const std::string& path, Tensor tensor) {
    if (!path.empty()) outputs.push_back({.name = name, .path = path, .tensor = std::move(tensor)});
  };
  add_gradients(flags, problem, upstream, result, outputs);
  add("out", flags.out, in_layout(std::move(result.out), layout));
  add("lse", flags.lse, without_absent_axes(std::move(result.lse), layout));
  add_scores(flags, problem, outputs);
  add("present_k", flags.present_k, in_layout(problem.k, layout));
  add("present_v", flags.present_v, in_layout(problem.v, layout));
  return outputs;
}

void describe(const AttendFlags& flags, const AttendProblem& problem, const Upstream& upstream,
              AttendSummary& summary) {
  const auto& [layout, q, k, v, options] = problem;
  const auto note = [&](const char* name, const std::string& path, const Tensor& tensor) {
    summary.inputs.push_back({.name = name, .path = path, .shape = tensor.shape(), .dtype = tensor.dtype()});
  };
  note("q", flags.q, q);
  note("k", flags.past_k.empty() ? flags.k : flags.past_k + " then " + flags.k, k);
  note("v", flags.past_v.empty() ? flags.v : flags.past_v + " then " + flags.v, v);
  if (!upstream.d_out.empty()) note("d_out", flags.d_out, upstream.d_out);
  if (!upstream.d_lse.empty()) note("d_lse", flags.d_lse, upstream.d_lse);
  summary.shape = {.B = q.dim(0), .H = q.dim(1), .Tq = q.dim(2), .Tk = k.dim(2)};
  summary.tiles = TilePlan(options.mask, summary.shape, summary.tile).counts();
}

void run(const AttendFlags& flags) {
  static_cast<void>(attention_target(DType::f32, {.target = flags.target}));
  check_places(flags);
  static_cast<void>(stage_of(flags.stage));
  const AttendProblem problem = load_problem(flags);
  // Refuses what attention() would: before saying that there is nothing to be written, or no room for it.
  static_cast<void>(attention_scratch_bytes(problem.q, problem.k, problem.v, problem.options));
  require_output(flags);
  require_room(flags, problem);
  const Upstream upstream = load_upstream(flags, problem);
  AttendSummary summary;
  const std::vector<Output> outputs = compute(flags, problem, upstream, summary);
  std::vector<NamedView> files;
  for (const Output& output : outputs) {
    files.push_back({.name = output.path, .view = output.tensor});
    summary.outputs.push_back(
        {.name = output.name, .path = output.path, .shape = output.tensor.shape(), .dtype = output.tensor.dtype()});
  }
  if (!flags.quiet) describe(flags, problem, upstream, summary);
  write_tensors(files);
  if (!flags.quiet) print(flags.json ? as_json(summary, problem) : as_text(summary, problem));
}

void add_value_options(CLI::App& command, AttendFlags& flags) {
  command.add_option("--v", flags.v, "Values")->required()->type_name("FILE")->group(kInputGroup);
  auto* past_v = command.add_option("--past-v", flags.past_v, "Values of earlier steps, put in front of --v");
  auto* past_k = command.get_option("--past-k");
  past_v->type_name("FILE")->group(kInputGroup)->needs(past_k);
  past_k->needs(past_v);
}

void add_gradient_options(CLI::App& command, AttendFlags& flags) {
  const std::string group = "The way back (of a loss whose gradient by the result is known)";
  auto* gradients = command.add_option("--gradients", flags.gradients,
                                       "Write d_q, d_k, d_v, d_bias_0, … and d_sinks into FILE.npz or .safetensors");
  auto* d_out = command.add_option("--d-out", flags.d_out, "The loss's gradient by --out, which it lies like");
  auto* d_lse = command.add_option("--d-lse", flags.d_lse, "Its gradient by --lse, which it lies like [zeros]");
  for (auto* option : {gradients, d_out, d_lse}) option->type_name("FILE")->group(group);
  gradients->needs(d_out);
  d_out->needs(gradients);
  d_lse->needs(gradients);
}

void add_output_options(CLI::App& command, AttendFlags& flags) {
  const std::string group = "Results (each file appears whole or not at all, and none before all are computed)";
  command.add_option("--out,-o", flags.out, "The weighted sums, in the layout of q")->type_name("FILE")->group(group);
  command
      .add_option("--lse", flags.lse,
                  "Log of each row's sum of exp, [B, Hq, Tq]; for q of [T, D] without B, and without Hq if it is 1")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--weights", flags.weights, "The softmax, [B, Hq, Tq, Tk] or fewer axes, as of --lse")
      ->type_name("FILE")
      ->group(group);
  auto* scores =
      command.add_option("--scores", flags.scores, "The scores at --stage, [B, Hq, Tq, Tk] or fewer axes, as of --lse");
  scores->type_name("FILE")->group(group);
  command.add_option("--stage", flags.stage, "raw, scaled, softcapped, biased, masked, weights or dropped [scaled]")
      ->type_name("STAGE")
      ->group(group)
      ->needs(scores);
  command.add_option("--present-k", flags.present_k, "--past-k and --k, one after the other")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--present-v", flags.present_v, "--past-v and --v, one after the other")
      ->type_name("FILE")
      ->group(group);
  auto* json = command.add_flag("--json", flags.json, "Print the summary as JSON")->group("Summary");
  command.add_flag("--quiet", flags.quiet, "Print nothing")->group("Summary")->excludes(json);
}

}  // namespace

void add_attend(CLI::App& app) {
  CLI::App* command = app.add_subcommand("attend", "Attention on files: reads q, k and v, writes the result");
  command->group("Compute");
  command->footer("Example:\n  qkv attend --q q.npy --k k.npy --v v.npy --mask \"causal & window(64)\" -o o.npy");
  const auto flags = std::make_shared<AttendFlags>();
  add_input_options(*command, *flags);
  for (const char* input : {"--q", "--k"}) command->get_option(input)->required();
  add_value_options(*command, *flags);
  add_mask_options(*command, *flags);
  add_score_options(*command, *flags);
  add_run_options(*command, *flags);
  add_memory_limit_option(*command, flags->memory_limit, "Bytes that --weights or --scores may take")->group(kRunGroup);
  add_gradient_options(*command, *flags);
  add_output_options(*command, *flags);
  command->callback([flags] { run(*flags); });
}

}  // namespace qkv::cli
