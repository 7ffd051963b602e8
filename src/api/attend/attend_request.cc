#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "api/fields/byte_size.h"
#include "api/fields/refuse.h"
#include "qkv/api/attend.h"

namespace qkv {
namespace {

using api_detail::refuse;

constexpr std::array<AttendResult, kAttendResults> kResults = {
    {{"out", "The weighted sums, in the layout of q"},
     {"lse", "Log of each row's sum of exp, [B, Hq, Tq]; for q of [T, D] without B, and without Hq if it is 1"},
     {"weights", "The softmax, [B, Hq, Tq, Tk]; axes are left out as of lse"},
     {"scores", "The scores at the stage, [B, Hq, Tq, Tk]; axes are left out as of lse"},
     {"present_k", "`past_k` and `k`, one after the other"},
     {"present_v", "`past_v` and `v`, one after the other"},
     {"gradients", "d_q, d_k, d_v, d_bias_0, … and d_sinks of the loss whose gradient is `d_out`", true}}};

Fields<AttendChoice> choice_fields() {
  using C = AttendChoice;
  const std::string group = "Results";
  FieldInfo results{
      .name = "results",
      .form = "NAMES",
      .meaning = "Compute these alone, of out, lse, weights, scores, present_k, present_v and (with `d_out`) gradients",
      .group = group,
      .otherwise = "out and weights; with `d_out` gradients, too",
      .example = "out,lse"};
  for (const AttendResult& one : kResults) results.words.emplace_back(one.name);
  FieldInfo stage = stage_field(group);
  stage.meaning = "The stage at which scores are taken; needs scores among the results";
  stage.fallback = "scaled";
  stage.example = "raw";
  Fields<C> fields;
  fields.add(&C::results, std::move(results));
  fields.add(&C::stage, std::move(stage));
  fields.add(&C::memory_limit,
             {.name = "memory_limit",
              .form = "SIZE",
              .meaning = "Bytes that the weights or scores may take; needs one of them among the results",
              .group = "How it runs",
              .type = FieldType::size,
              .fallback = api_detail::size_as_written(kMatrixLimit)});
  fields.tell_arguments({{"results", {"gradients"}}});
  return fields;
}

}  // namespace

std::span<const AttendResult, kAttendResults> attend_results() noexcept { return kResults; }

bool AttendChoice::has(std::string_view result) const { return std::ranges::find(results, result) != results.end(); }

const Fields<AttendRequest>& attend_fields() {
  static const Fields<AttendRequest> kFields = [] {
    Fields<AttendRequest> fields;
    fields.add(problem_fields());
    for (const char* input : {"q", "k", "v"}) fields.info(input).required = true;
    fields.info("past_k").needs = {"past_v"};
    fields.add(choice_fields());
    return fields;
  }();
  return kFields;
}

AttendChoice attend_choice(const AttendRequest& request) {
  AttendChoice choice = request;
  const bool has_loss = !request.d_out.empty();
  if (choice.results.empty()) {
    choice.results = {"out", "weights"};
    if (has_loss) choice.results.emplace_back("gradients");
  }
  using Names = std::initializer_list<const char*>;
  const auto require = [&](bool is_there, const char* field, Names one_of) {
    if (!is_there || std::ranges::any_of(one_of, [&](const char* name) { return choice.has(name); })) return;
    refuse(field, fmt::format("{} among the `results`", fmt::join(one_of, " or ")),
           fmt::format("{}", fmt::join(choice.results, ", ")));
  };
  require(has_loss, "d_out", {"gradients"});
  require(choice.stage.has_value(), "stage", {"scores"});
  require(choice.memory_limit.has_value(), "memory_limit", {"weights", "scores"});
  if (choice.has("gradients") && !has_loss) refuse("gradients", "`d_out` beside gradients", "none");
  return choice;
}

AttendFigures answer(const AttendRequest& request) {
  const AttendChoice choice = attend_choice(request);
  const AttentionProblem problem = load_problem(request);
  require_attend(problem, choice);
  const Upstream upstream = load_upstream(request, problem);
  AttendReply reply = attend(problem, upstream, choice);
  Named<TensorFile> outputs;
  for (const auto& [name, tensor] : reply.results) outputs.emplace_back(name, tensor_file({}, tensor));
  return attend_figures(std::move(reply), problem, input_files(request, problem, upstream), std::move(outputs));
}

}  // namespace qkv
