// qkv attend: the operator on files and typed matrices.
#include "qkv/api/attend.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "qkv/files.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

/// The command line; an empty path is a result that is not written.
struct AttendFlags : AttendRequest {
  std::string stage = "scaled";
  std::string out, weights, scores, lse, present_k, present_v, gradients;
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
    if (option == option_named(name)) return *path;
  }
  return flags.gradients + ":" + name;
}

void run_attend(AttendFlags& flags, const Given& /*all*/) {
  check_outputs(flags);
  const AttendChoice choice = choice_of(flags);
  const AttentionProblem problem = load_problem(flags);
  require_attend(problem, choice);
  if (writes_nothing(flags) && !choice.out) {
    throw Misuse(
        "nowhere to write a result: add --out, --lse, --weights, --scores, --gradients, --present-k or --present-v");
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

constexpr const char* kResults = "Results (each file appears whole or not at all, and none before all are computed)";

void add_results(Fields<AttendFlags>& fields) {
  const auto add = [&](std::string AttendFlags::* path, FieldInfo info) {
    info.form = "FILE";
    info.group = kResults;
    fields.add(path, std::move(info));
  };
  add(&AttendFlags::out, {.name = "out", .meaning = "The weighted sums, in the layout of q", .letter = 'o'});
  add(&AttendFlags::lse,
      {.name = "lse",
       .meaning = "Log of each row's sum of exp, [B, Hq, Tq]; for q of [T, D] without B, and without Hq if it is 1"});
  add(&AttendFlags::weights, {.name = "weights", .meaning = "The softmax, [B, Hq, Tq, Tk] or fewer axes, as of --lse"});
  add(&AttendFlags::scores,
      {.name = "scores", .meaning = "The scores at --stage, [B, Hq, Tq, Tk] or fewer axes, as of --lse"});
  FieldInfo stage = stage_field(kResults);
  stage.needs = {"scores"};
  fields.add(&AttendFlags::stage, std::move(stage));
  add(&AttendFlags::present_k, {.name = "present_k", .meaning = "--past-k and --k, one after the other"});
  add(&AttendFlags::present_v, {.name = "present_v", .meaning = "--past-v and --v, one after the other"});
  add(&AttendFlags::gradients, {.name = "gradients",
                                .meaning = "Write d_q, d_k, d_v, d_bias_0, … and d_sinks into FILE.npz or .safetensors",
                                .needs = {"d_out"}});
  fields.give_examples({{"out", "out.npy"},
                        {"lse", "lse.npy"},
                        {"weights", "weights.npy"},
                        {"scores", "scores.npy"},
                        {"stage", "raw"},
                        {"present_k", "present_k.npy"},
                        {"present_v", "present_v.npy"},
                        {"gradients", "gradients.npz"}});
}

Fields<AttendFlags> fields_of_attend() {
  Fields<AttendFlags> fields;
  fields.add(attend_fields());
  fields.info("d_out").needs = {"gradients"};
  add_results(fields);
  fields.add(&AttendFlags::json, json_field("Print the summary as JSON", "Summary"));
  fields.add(&AttendFlags::quiet, quiet_field("Print nothing", "Summary"));
  return fields;
}

}  // namespace

void add_attend(Commands& commands) {
  commands.add({.name = "attend",
                .group = "Attention",
                .footer = "Without a place for a result, typed matrices give out and weights here.\n"
                          "Examples:\n"
                          "  qkv attend --q q.npy --k k.npy --v v.npy --mask \"causal & window(64)\" -o o.npy\n"
                          "  qkv attend --q \"[[1,0],[0,1]]\" --k \"[[1,0],[1,1]]\" --v \"[[1], [2]]\" --causal"},
               fields_of_attend(), run_attend);
}

}  // namespace qkv::cli
