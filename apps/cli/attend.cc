// qkv attend: the operator on files and typed matrices.
#include "qkv/api/attend.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

struct AttendFlags : AttendRequest {
  std::array<std::string, kAttendResults> places;  // of attend_results(), each; empty: not written
};

// Gradients have names of their own.
std::string path_of(const AttendFlags& flags, const std::string& name) {
  std::string gradients;
  for (std::size_t n = 0; n < kAttendResults; ++n) {
    const std::string& place = flags.places.at(n);
    if (attend_results()[n].name == name) return place;
    if (attend_results()[n].is_several && !place.empty()) gradients = place + ":" + name;
  }
  return gradients;
}

// A place asks for its result.
void add_results_with_places(AttendFlags& flags) {
  for (std::size_t n = 0; n < kAttendResults; ++n) {
    if (!flags.places.at(n).empty()) flags.results.emplace_back(attend_results()[n].name);
  }
}

void run_attend(Asked<AttendFlags>& asked, const Given& /*all*/) {
  add_results_with_places(asked);
  const AttendChoice choice = attend_choice(asked);
  const AttentionProblem problem = load_problem(asked);
  require_attend(problem, choice);
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
  std::vector<std::string> places;
  for (std::size_t n = 0; n < kAttendResults; ++n) {
    const AttendResult& one = attend_results()[n];
    const std::string ending = one.is_several ? ".npz" : ".npy";
    fields.add(&AttendFlags::places, n,
               {.name = one.name,
                .form = "FILE",
                .meaning = one.meaning + std::string(one.is_several ? "; FILE.npz or .safetensors" : ""),
                .group = group,
                .file = one.is_several ? FileUse::archive : FileUse::tensor,
                .example = one.name + ending});
    places.emplace_back(one.name);
  }
  fields.info("out").letter = 'o';
  Fields<Asked<AttendFlags>> all = asked(fields, {"json", "quiet"}, "Summary");
  all.info("json").meaning = "Print the summary as JSON";
  FieldInfo& quiet = all.info("quiet");
  quiet.excludes.emplace_back("results");
  quiet.needs_one = places;
  return all;
}

}  // namespace

void add_attend(Commands& commands) {
  commands.add({.name = "attend",
                .group = "Attention",
                .footer = "Without a place for a result, or --results, it gives out and weights.\n"
                          "Examples:\n"
                          "  qkv attend --q q.npy --k k.npy --v v.npy --mask \"causal & window(64)\" -o o.npy\n"
                          "  qkv attend --q \"[[1,0],[0,1]]\" --k \"[[1,0],[1,1]]\" --v \"[[1], [2]]\" --causal"},
               fields_of_attend(), run_attend);
}

}  // namespace qkv::cli
