#include <qkv/api/attend.h>

// What it throws ends it, and that is what the test then shows.
int main() {  // NOLINT(bugprone-exception-escape)
  const qkv::ProblemRequest request =
      qkv::problem_fields().from_json(R"({"q": "[[1]]", "k": "[[1]]", "v": "[[2]]", "causal": true})");
  const qkv::AttendReply reply = qkv::attend(qkv::load_problem(request), {}, {.results = {"out"}});
  return reply.results.front().tensor.at({0, 0}) == 2 ? 0 : 1;
}
