// Every ONNX node test of an operator that qkv has, as a test of its own name, at the tolerance of ONNX's runner.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/data_folder.h"
#include "conformance/onnx_case.h"
#include "conformance/onnx_operator.h"
#include "qkv/targets.h"

namespace qkv::conformance::onnx_conformance_test {
namespace {

constexpr std::string_view kVectors = "onnx_nodes";
constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;
// Made in bf16: scores, exponentials, weights and the sum are each rounded, by up to 2^-8.
constexpr double kRelativeBf16 = 4 * 0x1p-8;

bool agrees(double got, double want, double relative) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want || std::fabs(got - want) <= kAbsolute + relative * std::fabs(want);
}

void expect_same(const Tensor& got, const Tensor& want, std::size_t output) {
  SCOPED_TRACE("output " + std::to_string(output));
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(name_of(got.dtype()), name_of(want.dtype()));
  ASSERT_EQ(got.shape().to_string(), want.shape().to_string());
  const std::vector<double> have = got.to_vector();
  const std::vector<double> need = want.to_vector();
  const double relative = want.dtype() == DType::bf16 ? kRelativeBf16 : kRelative;
  const auto bad =
      std::mismatch(have.begin(), have.end(), need.begin(), [&](double a, double b) { return agrees(a, b, relative); });
  if (bad.first == have.end()) return;
  ADD_FAILURE() << "element " << bad.first - have.begin() << " of " << have.size() << " in row-major order: got "
                << *bad.first << ", expected " << *bad.second;
}

class Case : public testing::Test {
 public:
  Case(std::filesystem::path folder, const OnnxOperator& op, std::string target)
      : folder_(std::move(folder)), op_(op), target_(std::move(target)) {}

  void TestBody() override {
    OnnxCase onnx = read_onnx_case(folder_);
    onnx.target = target_;
    ASSERT_EQ(onnx.operator_name, op_.name);
    const std::vector<Tensor> got = op_.run(onnx);
    for (std::size_t k = 0; k < onnx.outputs.size(); ++k) {
      if (!onnx.has_output(k)) continue;
      ASSERT_LT(k, got.size());
      expect_same(got[k], onnx.outputs[k], k);
    }
  }

 private:
  std::filesystem::path folder_;
  const OnnxOperator& op_;
  std::string target_;
};

// Where the cases of an operator run; "" is the chosen target.
std::vector<std::string> targets_of(const OnnxOperator& op) {
  if (!op.on_every_target) return {""};
  std::vector<std::string> names;
  for (const CpuTarget& target : cpu_targets()) {
    if (target.compiled && target.runs_here) names.push_back(target.name);
  }
  return names;
}

// The prefix ends in "_"; test_rotary_embedding is a case of test_rotary_embedding_, too.
bool belongs_to(const std::string& folder, const OnnxOperator& op) {
  return (folder + "_").starts_with(op.test_prefix);
}

std::vector<std::filesystem::path> case_folders(const OnnxOperator& op) {
  std::vector<std::filesystem::path> folders;
  const auto data = data_folder(kVectors);
  if (!data) return folders;
  for (const auto& entry : std::filesystem::directory_iterator(*data)) {
    if (belongs_to(entry.path().filename().string(), op)) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool register_cases() {
  for (const OnnxOperator& op : onnx_operators()) {
    for (const std::string& target : targets_of(op)) {
      const std::string suite = "Onnx" + std::string(op.name) + (target.empty() ? "" : "_" + target);
      for (const auto& folder : case_folders(op)) {
        const std::string name = folder.filename().string();
        testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [folder, &op, target]() -> testing::Test* { return new Case(folder, op, target); });
      }
    }
  }
  return true;
}

const bool kRegistered = register_cases();  // NOLINT(cert-err58-cpp): without its cases there is nothing to run

TEST(OnnxData, EveryCaseOfEveryOperatorIsThere) {
  if (!data_folder(kVectors)) GTEST_SKIP() << missing_data(kVectors) << "; scripts/onnx-vectors makes it";
  ASSERT_TRUE(kRegistered);
  for (const OnnxOperator& op : onnx_operators()) {
    EXPECT_EQ(case_folders(op).size(), static_cast<std::size_t>(op.cases)) << op.name;
  }
}

}  // namespace
}  // namespace qkv::conformance::onnx_conformance_test
