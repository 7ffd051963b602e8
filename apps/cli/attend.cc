// qkv attend: the operator on files and typed matrices.
#include "qkv/api/attend.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "commands.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

struct AttendFlags : AttendRequest {
  std::string stage = "scaled";
  std::string out, weights, scores, lse, present_k, present_v, gradients;  // empty: not written
};

struct Result {
  std::string_view name;
  std::string AttendFlags::* path;
  bool AttendChoice::* wanted;
  const char* meaning;
};

constexpr Result kResults[] = {
    {"out", &AttendFlags::out, &AttendChoice::out, "The weighted sums, in the layout of q"},
    {"lse", &AttendFlags::lse, &AttendChoice::lse,
     "Log of each row's sum of exp, [B, Hq, Tq]; for q of [T, D] without B, and without Hq if it is 1"},
    {"weights", &AttendFlags::weights, &AttendChoice::weights,
     "The softmax, [B, Hq, Tq, Tk] or fewer axes, as of --lse"},
    {"scores", &AttendFlags::scores, &AttendChoice::scores,
     "The scores at --stage, [B, Hq, Tq, Tk] or fewer axes, as of --lse"},
    {"present_k", &AttendFlags::present_k, &AttendChoice::present_k, "--past-k and --k, one after the other"},
    {"present_v", &AttendFlags::present_v, &AttendChoice::present_v, "--past-v and --v, one after the other"},
    {"gradients", &AttendFlags::gradients, &AttendChoice::gradients,
     "Write d_q, d_k, d_v, d_bias_0, … and d_sinks into FILE.npz or .safetensors"}};

// Matrices that were typed are small enough to be shown: without a place for a result, out and weights are printed,
// unless nothing shall be.
AttendChoice choice_of(const Asked<AttendFlags>& asked) {
  AttendChoice choice = {.stage = stage_named(asked.stage), .memory_limit = asked.memory_limit};
  for (const Result& one : kResults) choice.*one.wanted = !(asked.*one.path).empty();
  const bool has_place = std::ranges::any_of(kResults, [&](const Result& one) { return choice.*one.wanted; });
  if (!has_place && is_tensor_text(asked.q) && !asked.how.quiet) choice.out = choice.weights = true;
  return choice;
}

// Gradients have names of their own.
std::string path_of(const AttendFlags& flags, const std::string& name) {
  const auto* const found = std::ranges::find(kResults, name, &Result::name);
  return found == std::end(kResults) ? flags.gradients + ":" + name : flags.*found->path;
}

void run_attend(const Asked<AttendFlags>& asked, const Given& /*all*/) {
  const AttendChoice choice = choice_of(asked);
  const AttentionProblem problem = load_problem(asked);
  require_attend(problem, choice);
  if (std::ranges::none_of(kResults, [&](const Result& one) { return choice.*one.wanted; })) {
    throw Misuse(
        "nowhere to write a result: add --out, --lse, --weights, --scores, --gradients, --present-k or --present-v");
  }
  const Upstream upstream = load_upstream(asked, problem);
  const AttendReply reply = attend(problem, upstream, choice);
  std::vector<NamedView> files;
  std::vector<TensorNote> outputs;
  for (const auto& [name, tensor] : reply.results) {
    const std::string path = path_of(asked, name);
    if (!path.empty()) files.push_back({.name = path, .view = tensor});
    outputs.push_back({.name = name, .path = path, .shape = tensor.shape(), .dtype = tensor.dtype()});
  }
  write_tensors(files);
  if (asked.how.quiet) return;
  const std::vector<TensorNote> inputs = input_notes(asked, problem, upstream);
  asked.how.tell(attend_figures(reply, problem, inputs, outputs),
                 [&] { return as_text(reply, problem, inputs, outputs, terminal_width()); });
}

Fields<Asked<AttendFlags>> fields_of_attend() {
  const std::string group = "Results (each file appears whole or not at all, and none before all are computed)";
  Fields<AttendFlags> fields;
  fields.add(attend_fields());
  for (const auto& [name, path, wanted, meaning] : kResults) {
    fields.add(path, {.name = std::string(name),
                      .form = "FILE",
                      .meaning = meaning,
                      .group = group,
                      .file = FileUse::tensor,
                      .example = std::string(name) + ".npy"});
  }
  fields.info("out").letter = 'o';
  fields.info("gradients").needs = {"d_out"};
  fields.info("gradients").file = FileUse::archive;
  fields.info("d_out").needs = {"gradients"};
  FieldInfo stage = stage_field(group);
  stage.needs = {"scores"};
  fields.add(&AttendFlags::stage, std::move(stage));
  fields.give_examples({{"stage", "raw"}, {"gradients", "gradients.npz"}});
  Fields<Asked<AttendFlags>> all = asked(fields, {"json", "quiet"}, "Summary");
  all.info("json").meaning = "Print the summary as JSON";
  return all;
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
