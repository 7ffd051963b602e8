// The list of targets: what a build holds of it, what it chooses, and that the documents say the same.
#include "kernels/target_list.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/forward.h"
#include "kernels/targets.h"
#include "kernels/vector_loops.h"
#include "qkv/info.h"
#include "qkv/targets.h"

namespace qkv::kernels::target_list_test {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream words{std::string(text)};
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(Targets, AreThoseOfTheProcessor) {
#if defined(__x86_64__)
  const std::vector<std::string_view> wanted = {"scalar",     "avx2",       "avx2vnni", "avx512",
                                                "avx512vnni", "avx512bf16", "amx",      "amxf32"};
#elif defined(__aarch64__)
  const std::vector<std::string_view> wanted = {"scalar", "neon", "neondot", "neoni8mm", "neonbf16"};
#else
  const std::vector<std::string_view> wanted = {"scalar"};
#endif
  const std::vector<std::string> built = words_of(build_info().targets);
  std::vector<std::string> known = words_of(build_info().left_out);
  known.insert(known.end(), built.begin(), built.end());
  EXPECT_THAT(known, testing::UnorderedElementsAreArray(wanted));
  for (const CpuTarget& target : cpu_targets()) {
    const bool is_built = std::ranges::count(built, target.name) > 0;
    EXPECT_EQ(target.compiled, is_built || target.name == "reference") << target.name;
    EXPECT_EQ(cpu::find_target(target.name) != nullptr, is_built) << target.name;
  }
}

TEST(Targets, OfABuildForThisMachineAloneAreTheChosenOneAndItsSubstitutes) {
  const std::vector<std::string_view> native = native_targets();
  EXPECT_TRUE(runs_here(*find_listed(native.front())));
  for (const std::string_view name : native) {
    EXPECT_NE(cpu::find_target(name), nullptr) << name;
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      EXPECT_EQ(std::ranges::count(native, serving_target(name, dtype)), 1) << name << ", " << name_of(dtype);
    }
  }
  if (std::getenv("QKV_FORCE_TARGET") != nullptr) GTEST_SKIP() << "QKV_FORCE_TARGET chooses";
  const std::vector<CpuTarget> targets = cpu_targets();
  EXPECT_EQ(std::ranges::find_if(targets, &CpuTarget::chosen)->name, native.front());
}

TEST(Targets, HaveTheirSubstitutesBeforeThem) {
  for (const ListedTarget& target : target_list()) {
    EXPECT_EQ(target.serves != nullptr, !target.substitute.empty()) << target.name;
    if (target.substitute.empty()) continue;
    const ListedTarget* substitute = find_listed(target.substitute);
    ASSERT_NE(substitute, nullptr) << target.name;
    EXPECT_LT(substitute, find_listed(target.name));
  }
  EXPECT_EQ(find_listed("abacus"), nullptr);
}

TEST(Targets, AreInTheTableOfTheDocuments) {
  std::ifstream file(QKV_SOURCE_DIR "/docs/semantics.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const ListedTarget& target : target_list()) {
    if (target.name == "reference") continue;
    EXPECT_THAT(text, testing::HasSubstr("| `" + std::string(target.name) + "` | " + std::string(target.line)));
  }
}

TEST(Targets, NeedFeaturesThatTheMachineIsAskedFor) {
  std::ifstream file(QKV_SOURCE_DIR "/src/core/cpu.cc");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const ListedTarget& target : target_list()) {
    for (const std::string& feature : words_of(target.needs)) {
      EXPECT_THAT(text, testing::HasSubstr('"' + feature + '"')) << target.name;
    }
  }
}

TEST(Targets, ChooseTheLoopsOfTheWidestVectorsThatTheyHave) {
  const std::string_view chosen = target_for("test", DType::f32, {});
  const std::string_view needs = find_listed(chosen)->needs;
  Vectors wanted = Vectors::baseline;
  if (needs.find("avx2") != std::string_view::npos) wanted = Vectors::avx2;
  if (needs.find("avx512f") != std::string_view::npos) wanted = Vectors::avx512;
  EXPECT_EQ(chosen_loops().vectors, wanted);
  EXPECT_EQ(chosen_split() != nullptr, chosen.starts_with("amx"));
}

}  // namespace
}  // namespace qkv::kernels::target_list_test
