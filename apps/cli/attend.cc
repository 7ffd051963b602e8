// qkv attend: the operator on files and typed matrices.
#include "qkv/api/attend.h"

#include <iterator>
#include <utility>
#include <vector>

#include "commands.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

struct AttendFlags : AttendRequest {
  std::string out, lse, weights, scores, present_k, present_v, gradients;  // empty: not written
};

// Where each of attend_results() goes.
constexpr std::string AttendFlags::* kPlaces[] = {
    &AttendFlags::out,       &AttendFlags::lse,       &AttendFlags::weights,  &AttendFlags::scores,
    &AttendFlags::present_k, &AttendFlags::present_v, &AttendFlags::gradients};

// Gradients have names of their own.
std::string path_of(const AttendFlags& flags, const std::string& name) {
  for (std::size_t n = 0; n < std::size(kPlaces); ++n) {
    if (attend_results()[n].name == name) return flags.*kPlaces[n];
  }
  return flags.gradients.empty() ? "" : flags.gradients + ":" + name;
}

// A place asks for its result.
bool add_results_with_places(AttendFlags& flags) {
  bool has_place = false;
  for (std::size_t n = 0; n < std::size(kPlaces); ++n) {
    if ((flags.*kPlaces[n]).empty()) continue;
    has_place = true;
    flags.results.emplace_back(attend_results()[n].name);
  }
  return has_place;
}

void run_attend(Asked<AttendFlags>& asked, const Given& given) {
  const bool is_shown = !asked.how.quiet && (is_tensor_text(asked.q) || given.has("results"));
  const bool has_place = add_results_with_places(asked);
  const AttendChoice choice = attend_choice(asked);
  const AttentionProblem problem = load_problem(asked);
  require_attend(problem, choice);
  if (!has_place && !is_shown) {
    throw Misuse(
        "nowhere to write a result: add --out, --lse, --weights, --scores, --gradients, --present-k or --present-v, "
        "or --results to print some");
  }
  const Upstream upstream = load_upstream(asked, problem);
  AttendReply reply = attend(problem, upstream, choice);
  std::vector<NamedView> files;
  Named<TensorFile> outputs;
  for (const auto& [name, tensor] : reply.results) {
    const std::string path = path_of(asked, name);
    if (!path.empty()) files.push_back({.name = path, .view = tensor});
    outputs.emplace_back(name, tensor_file(path, tensor));
  }
  write_tensors(files);
  if (asked.how.quiet) return;
  const Named<TensorFile> inputs = input_files(asked, problem, upstream);
  asked.how.json ? print(reply_as_json(attend_figures(std::move(reply), problem, inputs, outputs)))
                 : print_text(as_text(reply, problem, inputs, outputs, terminal_width()));
}

Fields<Asked<AttendFlags>> fields_of_attend() {
  const std::string group = "Files (each appears whole or not at all, and none before all are computed)";
  Fields<AttendFlags> fields;
  fields.add(attend_fields());
  for (std::size_t n = 0; n < std::size(kPlaces); ++n) {
    const auto& [name, meaning] = attend_results()[n];
    fields.add(kPlaces[n], {.name = name,
                            .form = "FILE",
                            .meaning = meaning,
                            .group = group,
                            .file = FileUse::tensor,
                            .example = std::string(name) + ".npy"});
  }
  fields.info("out").letter = 'o';
  fields.info("gradients").meaning += "; FILE.npz or .safetensors";
  fields.info("gradients").file = FileUse::archive;
  fields.give_examples({{"gradients", "gradients.npz"}});
  Fields<Asked<AttendFlags>> all = asked(fields, {"json", "quiet"}, "Summary");
  all.info("json").meaning = "Print the summary as JSON";
  all.info("quiet").excludes.emplace_back("results");
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
