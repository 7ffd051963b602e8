// Every ONNX node test of an operator that qkv has, as a test of its own name, at the tolerance of ONNX's runner.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "conformance/data_folder.h"
#include "conformance/onnx_case.h"
#include "conformance/onnx_operator.h"

namespace qkv::conformance {
namespace {

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

bool agrees(double got, double want) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want || std::fabs(got - want) <= kAbsolute + kRelative * std::fabs(want);
}

void expect_same(const Tensor& got, const Tensor& want, std::size_t output) {
  SCOPED_TRACE("output " + std::to_string(output));
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(name_of(got.dtype()), name_of(want.dtype()));
  ASSERT_EQ(got.shape().to_string(), want.shape().to_string());
  const std::vector<double> have = got.to_vector();
  const std::vector<double> need = want.to_vector();
  const auto bad = std::mismatch(have.begin(), have.end(), need.begin(), agrees);
  if (bad.first == have.end()) return;
  ADD_FAILURE() << "element " << bad.first - have.begin() << " of " << have.size() << " in row-major order: got "
                << *bad.first << ", expected " << *bad.second;
}

struct Case {
  std::filesystem::path folder;
  const OnnxOperator* op;

  [[nodiscard]] std::string name() const { return folder.filename().string(); }
};

void PrintTo(const Case& onnx, std::ostream* out) { *out << onnx.name(); }  // NOLINT: a name that GoogleTest calls

// The prefix ends in "_"; test_rotary_embedding is a case of test_rotary_embedding_, too.
bool belongs_to(const std::string& folder, const OnnxOperator& op) {
  return (folder + "_").starts_with(op.test_prefix);
}

std::vector<std::filesystem::path> case_folders(const OnnxOperator& op) {
  std::vector<std::filesystem::path> folders;
  const auto data = data_folder("onnx");
  if (!data) return folders;
  for (const auto& entry : std::filesystem::directory_iterator(*data)) {
    if (belongs_to(entry.path().filename().string(), op)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const OnnxOperator& op : onnx_operators()) {
    for (const auto& folder : case_folders(op)) cases.push_back({.folder = folder, .op = &op});
  }
  return cases;
}

class Onnx : public testing::TestWithParam<Case> {};

TEST_P(Onnx, Agrees) {
  const auto& [folder, op] = GetParam();
  const OnnxCase onnx = read_onnx_case(folder);
  ASSERT_EQ(onnx.operator_name, op->name);
  const std::vector<Tensor> got = op->run(onnx);
  for (std::size_t k = 0; k < onnx.outputs.size(); ++k) {
    if (!onnx.has_output(k)) continue;
    ASSERT_LT(k, got.size());
    expect_same(got[k], onnx.outputs[k], k);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Onnx);  // where the data is not there; OnnxData says so
INSTANTIATE_TEST_SUITE_P(Node, Onnx, testing::ValuesIn(all_cases()),
                         [](const testing::TestParamInfo<Case>& onnx) { return onnx.param.name(); });

TEST(OnnxData, EveryCaseOfEveryOperatorIsThere) {
  if (!data_folder("onnx")) GTEST_SKIP() << missing_data("onnx");
  for (const OnnxOperator& op : onnx_operators()) {
    EXPECT_EQ(case_folders(op).size(), static_cast<std::size_t>(op.cases)) << op.name;
  }
}

}  // namespace
}  // namespace qkv::conformance
