// Problems from texts, what is computed of them, and what is said of those that have no meaning.
#include "qkv/api/attend.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/watched.h"

namespace qkv::attend_test {
namespace {

using testing::DoubleEq;
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
  const AttendReply reply = attend(problem, {}, {.results = {"out", "weights"}});
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
  EXPECT_EQ(attend(load_problem(request), {}, {.results = {"out"}}).results[0].tensor.at({0, 0}), 5);
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
  const AttendReply reply = attend(problem, {}, {.results = {"out"}});
  const Named<TensorFile> outputs = {{"out", tensor_file("", reply.results[0].tensor)}};
  const auto inputs = input_files(request, problem, {});
  EXPECT_THAT(as_text(reply, problem, inputs, outputs, 80),
              HasSubstr("out       [2, 1] f64\n                 0\n       0       1.5\n       1 "));
  const auto json = nlohmann::json::parse(reply_as_json(attend_figures(reply, problem, inputs, outputs)));
  EXPECT_EQ(json["arrays"]["out"]["values"][0], 1.5);
  EXPECT_EQ(json["Tq"], 2);
}

AttendRequest asked_for(std::vector<std::string> results) {
  AttendRequest request;
  static_cast<ProblemRequest&>(request) = typed();
  request.results = std::move(results);
  return request;
}

std::vector<std::string> names_of(const AttendRequest& request) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : answer(request).arrays) names.push_back(name);
  return names;
}

TEST(ViewAttend, AnswersWithGradients) {
  AttendRequest request = asked_for({});
  EXPECT_THAT(names_of(request), ElementsAre("out", "weights"));
  request.d_out = "[[1], [2]]";
  EXPECT_THAT(names_of(request), ElementsAre("d_q", "d_k", "d_v", "out", "weights"));
  const auto array = [&](std::size_t n) { return answer(request).arrays[n].second.to_vector(); };
  const std::vector<double> weights = array(4);  // d_v = weights^T d_out
  EXPECT_THAT(array(2), ElementsAre(DoubleEq(weights[0] + 2 * weights[2]), DoubleEq(weights[1] + 2 * weights[3])));
  const std::vector<double> before = array(0);
  request.d_lse = "[1, 2]";
  EXPECT_NE(array(0), before);
}

TEST(ViewAttend, AnswersWithTheResultsThatAreNamed) {
  for (const AttendResult& one : attend_results()) {
    AttendRequest request = asked_for({one.name});
    if (std::string_view(one.name) != "gradients") {
      EXPECT_THAT(names_of(request), ElementsAre(one.name));
      continue;
    }
    request.d_out = "[[1], [2]]";
    EXPECT_THAT(names_of(request), ElementsAre("d_q", "d_k", "d_v"));
  }
  AttendRequest scores = asked_for({"scores"});
  EXPECT_NEAR(answer(scores).arrays[0].second.at({0, 0}), 1 / std::sqrt(2), 1e-15);
  scores.stage = "raw";
  EXPECT_EQ(answer(scores).arrays[0].second.at({0, 0}), 1);
}

TEST(ViewAttend, RefusesResultsThatLackWhatTheyNeed) {
  const auto refusal_of = [](const AttendRequest& request) { return error_message([&] { (void)answer(request); }); };
  EXPECT_EQ(refusal_of(asked_for({"gradients"})), "request: gradients: expected `d_out` beside gradients, got none");
  AttendRequest request = asked_for({"out", "lse"});
  request.d_out = "[[1], [2]]";
  EXPECT_EQ(refusal_of(request), "request: d_out: expected gradients among the `results`, got out, lse");
  request = asked_for({});
  request.stage = "raw";
  EXPECT_EQ(refusal_of(request), "request: stage: expected scores among the `results`, got out, weights");
  request = asked_for({"out", "lse"});
  request.memory_limit = std::uint64_t{4} << 30;
  EXPECT_EQ(refusal_of(request), "request: memory_limit: expected weights or scores among the `results`, got out, lse");
  for (const char* result : {"weights", "scores"}) {
    request = asked_for({result});
    request.memory_limit = std::uint64_t{4} << 30;
    EXPECT_EQ(names_of(request), std::vector<std::string>{result});
  }
}

TEST(ViewAttend, TakesResultsAsOneText) {
  const std::string_view json = R"({"q": "[[1]]", "k": "[[1]]", "v": "[[1]]", "results": "out,lse"})";
  EXPECT_EQ(attend_fields().from_json(json).results, (std::vector<std::string>{"out", "lse"}));
  EXPECT_THAT(
      error_message<Error>([] { (void)attend_fields().from_json(R"({"results": "out,ls"})"); }),
      HasSubstr("results: expected out, lse, weights, scores, present_k, present_v or gradients, got \"ls\"; did "
                "you mean lse?"));
}

TEST(ViewAttend, ComputesNoAttentionForWhatIsGiven) {
  const tests::TemporaryDirectory directory;
  AttendRequest request;
  request.q = request.k = request.v = directory / "q.npy";
  write_tensor(request.q,
               Tensor(DType::f32, Shape{1, 8, 256, 16}));  // tasks for several threads, between which it looks
  bool has_rows = false;
  const auto looks_of = [&](std::vector<std::string> results) {
    int looks = 0;
    const WatchedThread watched([&] {
      ++looks;
      return Proceed::go_on;
    });
    request.results = std::move(results);
    has_rows = answer(request).rows_that_see_nothing.has_value();
    return looks;
  };
  const int of_given = looks_of({"present_k", "present_v"});
  EXPECT_FALSE(has_rows);
  EXPECT_LT(of_given, looks_of({"present_k", "present_v", "lse"}));
  EXPECT_TRUE(has_rows);
}

// Its weights would take 16 GiB.
TEST(ViewAttend, HoldsNoWeightsThatNobodyAskedFor) {
  const tests::TemporaryDirectory directory;
  const std::int64_t T = 65536;
  const std::string path = directory / "q.npy";
  write_tensor(path, Tensor(std::vector<float>(static_cast<std::size_t>(T), 0.5F), Shape{T, 1}));
  AttendRequest request;
  request.q = request.k = request.v = path;
  request.window = "16";
  request.memory_limit = std::uint64_t{1} << 20;
  EXPECT_EQ(error_message([&] { (void)answer(request); }),
            "request: memory_limit: expected at least 16 GiB for weights, [1, 1, 65536, 65536] of f32 (qkv probe shows "
            "any part without storing the whole), got 1 MiB");
  request.results = {"out", "lse"};
  request.memory_limit.reset();
  const AttendFigures figures = answer(request);
  ASSERT_EQ(figures.arrays.size(), 2U);
  EXPECT_EQ(figures.arrays[0].second.shape(), (Shape{T, 1}));
  EXPECT_FLOAT_EQ(static_cast<float>(figures.arrays[0].second.at({T - 1, 0})), 0.5F);
}

}  // namespace
}  // namespace qkv::attend_test
