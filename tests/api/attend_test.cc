// Problems from texts, what is computed of them, and what is said of those that have no meaning.
#include "qkv/api/attend.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/error_message.h"

namespace qkv::attend_test {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;

ProblemRequest typed() {
  ProblemRequest request;
  request.q = "[[1, 0], [0, 1]]";
  request.k = "[[1, 0], [1, 1]]";
  request.v = "[[1], [2]]";
  return request;
}

std::string refusal(const ProblemRequest& request) {
  return error_message([&] { (void)load_problem(request); });
}

TEST(ViewAttend, ReadsTypedMatrices) {
  ProblemRequest request = typed();
  request.causal = true;
  const AttentionProblem problem = load_problem(request);
  EXPECT_EQ(problem.layout, Layout::matrix);
  EXPECT_EQ(problem.q.shape(), (Shape{1, 1, 2, 2}));
  EXPECT_EQ(problem.q.dtype(), DType::f64);
  const AttendReply reply = attend(problem, {}, {.out = true, .weights = true});
  ASSERT_EQ(reply.results.size(), 2U);
  EXPECT_EQ(reply.results[0].name, "out");
  EXPECT_EQ(reply.results[0].tensor.shape(), (Shape{2, 1}));
  EXPECT_EQ(reply.results[0].tensor.at({0, 0}), 1);
  EXPECT_THAT(reply.results[1].tensor.to_vector(), ElementsAre(1, 0, Lt(0.5), Gt(0.5)));
}

TEST(ViewAttend, TakesTypedMasksBiasesAndPasts) {
  ProblemRequest request = typed();
  request.past_k = "[[0, 0]]";
  request.past_v = "[[5]]";
  request.mask_file = "[[1, 0], [0, 1]]";
  EXPECT_THAT(refusal(request), HasSubstr("mask_file: expected a shape that broadcasts to [1, 1, 2, 3]"));
  request.mask_file = "[[1, 0, 0], [0, 1, 1]]";
  request.bias_file = "[[0, 1]]";
  EXPECT_THAT(refusal(request), HasSubstr("bias_file: expected a shape that broadcasts to [1, 1, 2, 3]"));
  request.bias_file = "[[0, 1, 2]]";
  EXPECT_EQ(attend(load_problem(request), {}, {.out = true}).results[0].tensor.at({0, 0}), 5);
}

TEST(ViewAttend, CausalTwiceIsCausal) {
  ProblemRequest request = typed();
  request.causal = true;
  request.mask = "causal & window(1)";
  EXPECT_EQ(load_problem(request).options.mask.to_string(), "causal & window(1)");
}

TEST(ViewAttend, NamesTheFieldAtFault) {
  ProblemRequest request = typed();
  request.heads = 3;
  EXPECT_EQ(refusal(request), "request: heads: expected a divisor of 2, the last axis of q, got 3");
  request = typed();
  request.q = "[[1, 0], [0]]";
  EXPECT_EQ(refusal(request), "request: q: expected rows of one length, 2 as the first, got \"[[1, 0], [0]]\"");
  request = typed();
  request.window = "1,2,3";
  EXPECT_EQ(refusal(request), "request: window: expected WIDTH, 1 or more, or LEFT,RIGHT, 0 or more each, got 1,2,3");
}

TEST(ViewAttend, ShowsInNumbersWhatHasNoPath) {
  const ProblemRequest request = typed();
  const AttentionProblem problem = load_problem(request);
  const AttendReply reply = attend(problem, {}, {.out = true});
  const std::vector<TensorNote> outputs = {{"out", "", reply.results[0].tensor.shape(), DType::f64}};
  const auto inputs = input_notes(request, problem, {});
  EXPECT_THAT(as_text(reply, problem, inputs, outputs, 80),
              HasSubstr("out       [2, 1] f64\n                 0\n       0       1.5\n       1 "));
  const auto json = nlohmann::json::parse(reply_as_json(attend_figures(reply, problem, inputs, outputs)));
  EXPECT_EQ(json["outputs"]["out"]["values"][0], 1.5);
  EXPECT_EQ(json["Tq"], 2);
}

TEST(ViewAttend, AnswersWithGradients) {
  AttendRequest request;
  static_cast<ProblemRequest&>(request) = typed();
  const auto asked = [&] { return nlohmann::json::parse(reply_as_json(answer(request)))["outputs"]; };
  EXPECT_FALSE(asked().contains("d_q"));
  request.d_out = "[[1], [2]]";
  const nlohmann::json outputs = asked();
  EXPECT_EQ(outputs["d_v"]["shape"], (std::vector<std::int64_t>{2, 1}));
  const auto& weights = outputs["weights"]["values"];  // d_v = weights^T d_out
  EXPECT_DOUBLE_EQ(outputs["d_v"]["values"][0].get<double>(), weights[0].get<double>() + 2 * weights[2].get<double>());
  EXPECT_DOUBLE_EQ(outputs["d_v"]["values"][1].get<double>(), weights[1].get<double>() + 2 * weights[3].get<double>());
  const nlohmann::json before = outputs["d_q"]["values"];
  request.d_lse = "[1, 2]";
  EXPECT_NE(asked()["d_q"]["values"], before);
}

}  // namespace
}  // namespace qkv::attend_test
