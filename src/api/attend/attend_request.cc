#include "qkv/api/attend.h"

namespace qkv {

const Fields<AttendRequest>& attend_fields() {
  static const Fields<AttendRequest> kFields = [] {
    Fields<AttendRequest> fields;
    fields.add(problem_fields());
    for (const char* input : {"q", "k", "v"}) fields.info(input).required = true;
    fields.info("past_k").needs = {"past_v"};
    fields.add(&AttendRequest::memory_limit, {.name = "memory_limit",
                                              .form = "SIZE",
                                              .meaning = "Bytes that the weights or scores may take",
                                              .group = "How it runs",
                                              .type = FieldType::size});
    return fields;
  }();
  return kFields;
}

AttendFigures answer(const AttendRequest& request) {
  const AttentionProblem problem = load_problem(request);
  const AttendChoice choice{
      .out = true, .weights = true, .gradients = !request.d_out.empty(), .memory_limit = request.memory_limit};
  require_attend(problem, choice);
  const Upstream upstream = load_upstream(request, problem);
  const AttendReply reply = attend(problem, upstream, choice);
  std::vector<TensorNote> outputs;
  for (const auto& [name, tensor] : reply.results) {
    outputs.push_back({.name = name, .path = {}, .shape = tensor.shape(), .dtype = tensor.dtype()});
  }
  return attend_figures(reply, problem, input_notes(request, problem, upstream), outputs);
}

}  // namespace qkv
