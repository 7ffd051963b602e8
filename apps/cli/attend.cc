// qkv attend: the operator on files and typed matrices.
#include "qkv/view/attend.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "field_options.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "qkv/files.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

/// The command line; an empty path is a result that is not written.
struct AttendFlags : ProblemRequest {
  std::string stage = "scaled";
  std::string out, weights, scores, lse, present_k, present_v, gradients;
  std::uint64_t memory_limit = kMemoryLimit;
  bool json = false;
  bool quiet = false;
};

std::vector<OptionPath> outputs_of(const AttendFlags& flags) {
  return {{"--out", &flags.out},
          {"--lse", &flags.lse},
          {"--weights", &flags.weights},
          {"--scores", &flags.scores},
          {"--present-k", &flags.present_k},
          {"--present-v", &flags.present_v}};
}

void check_outputs(const AttendFlags& flags) {
  const std::string& archive = flags.gradients;
  if (!archive.empty() && !archive.ends_with(".npz") && !archive.ends_with(".safetensors")) {
    misuse("--gradients", "a name that ends in .npz or .safetensors", archive);
  }
  const std::string gradients = archive.empty() ? "" : archive + ":d_q";  // one of them, for all
  std::vector<OptionPath> outputs = outputs_of(flags);
  outputs.emplace_back("--gradients", &gradients);
  check_places(inputs_of(flags), outputs);
}

bool writes_nothing(const AttendFlags& flags) {
  const std::vector<OptionPath> outputs = outputs_of(flags);
  return flags.gradients.empty() && std::ranges::all_of(outputs, [](const auto& one) { return one.second->empty(); });
}

// Matrices that were typed are small enough to be shown: without a place for a result, out and weights are printed,
// unless nothing shall be.
AttendChoice choice_of(const AttendFlags& flags) {
  AttendChoice choice = {.out = !flags.out.empty(),
                         .lse = !flags.lse.empty(),
                         .weights = !flags.weights.empty(),
                         .scores = !flags.scores.empty(),
                         .gradients = !flags.gradients.empty(),
                         .present_k = !flags.present_k.empty(),
                         .present_v = !flags.present_v.empty(),
                         .stage = stage_named(flags.stage),
                         .memory_limit = flags.memory_limit};
  if (writes_nothing(flags) && is_tensor_text(flags.q) && !flags.quiet) choice.out = choice.weights = true;
  return choice;
}

std::string path_of(const AttendFlags& flags, const std::string& name) {
  for (const auto& [option, path] : outputs_of(flags)) {
    if (option == option_of(name)) return *path;
  }
  return flags.gradients + ":" + name;
}

void run(const AttendFlags& flags) {
  static_cast<void>(attention_target(DType::f32, {.target = flags.target}));
  check_outputs(flags);
  const AttendChoice choice = choice_of(flags);
  const AttentionProblem problem = load_problem(flags);
  require_attend(problem, choice);
  if (writes_nothing(flags) && !choice.out) {
    throw CLI::ParseError(
        "nowhere to write a result: add --out, --lse, --weights, --scores, --gradients, --present-k or --present-v",
        kMisuse);
  }
  const Upstream upstream = load_upstream(flags, problem);
  const AttendReply reply = attend(problem, upstream, choice);
  std::vector<NamedView> files;
  std::vector<TensorNote> outputs;
  for (const auto& [name, tensor] : reply.results) {
    const std::string path = path_of(flags, name);
    if (!path.empty()) files.push_back({.name = path, .view = tensor});
    outputs.push_back({.name = name, .path = path, .shape = tensor.shape(), .dtype = tensor.dtype()});
  }
  write_tensors(files);
  if (flags.quiet) return;
  const std::vector<TensorNote> inputs = input_notes(flags, problem, upstream);
  print(flags.json ? reply_as_json(attend_figures(reply, problem, inputs, outputs))
                   : as_text(reply, problem, inputs, outputs, terminal_width()));
}

void add_result_options(CLI::App& command, AttendFlags& flags) {
  const std::string group = "Results (each file appears whole or not at all, and none before all are computed)";
  const auto add = [&](const char* names, std::string& path, const char* meaning) {
    return command.add_option(names, path, meaning)->type_name("FILE")->group(group);
  };
  add("--out,-o", flags.out, "The weighted sums, in the layout of q");
  add("--lse", flags.lse,
      "Log of each row's sum of exp, [B, Hq, Tq]; for q of [T, D] without B, and without Hq if it is 1");
  add("--weights", flags.weights, "The softmax, [B, Hq, Tq, Tk] or fewer axes, as of --lse");
  auto* scores = add("--scores", flags.scores, "The scores at --stage, [B, Hq, Tq, Tk] or fewer axes, as of --lse");
  command.add_option("--stage", flags.stage, "raw, scaled, softcapped, biased, masked, weights or dropped [scaled]")
      ->type_name("STAGE")
      ->group(group)
      ->needs(scores);
  add("--present-k", flags.present_k, "--past-k and --k, one after the other");
  add("--present-v", flags.present_v, "--past-v and --v, one after the other");
  auto* gradients =
      add("--gradients", flags.gradients, "Write d_q, d_k, d_v, d_bias_0, … and d_sinks into FILE.npz or .safetensors");
  gradients->needs(command.get_option("--d-out"));
  command.get_option("--d-out")->needs(gradients);
  auto* json = command.add_flag("--json", flags.json, "Print the summary as JSON")->group("Summary");
  command.add_flag("--quiet", flags.quiet, "Print nothing")->group("Summary")->excludes(json);
}

}  // namespace

void add_attend(CLI::App& app) {
  CLI::App* command = app.add_subcommand("attend", "Attention on files: reads q, k and v, writes the result");
  command->group("Compute");
  command->footer(
      "Without a place for a result, typed matrices give out and weights here.\n"
      "Examples:\n"
      "  qkv attend --q q.npy --k k.npy --v v.npy --mask \"causal & window(64)\" -o o.npy\n"
      "  qkv attend --q \"[[1,0],[0,1]]\" --k \"[[1,0],[1,1]]\" --v \"[[1], [2]]\" --causal");
  const auto flags = std::make_shared<AttendFlags>();
  add_fields<ProblemRequest>(*command, *flags, problem_fields());
  for (const char* input : {"--q", "--k", "--v"}) command->get_option(input)->required();
  command->get_option("--past-k")->needs(command->get_option("--past-v"));
  add_memory_limit_option(*command, flags->memory_limit, "Bytes that --weights or --scores may take")
      ->group("How it runs");
  add_result_options(*command, *flags);
  command->callback([flags] { run(*flags); });
}

}  // namespace qkv::cli
