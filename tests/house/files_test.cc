// How long a file may be, and what it may not be called.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "house/source_tree.h"

namespace qkv::house::files_test {
namespace {

constexpr std::size_t kMostLines = 600;

bool is_too_long(std::string_view text) { return lines_of(text).size() > kMostLines; }

// A name that says nothing of what is inside.
bool is_empty_name(const std::filesystem::path& path) {
  static const std::set<std::string> kNames = {"utils", "util", "helpers", "helper", "misc", "common"};
  return std::ranges::any_of(path, [](const auto& part) { return kNames.contains(part.stem().string()); });
}

class Sources : public testing::TestWithParam<const char*> {
 public:
  static std::vector<SourceFile> files() {
    return files_below(GetParam(), {".h", ".cc", ".cu", ".py", ".txt", ".cmake", ".sh", ".js", ".css", ".html"});
  }
};

TEST_P(Sources, StayShort) {
  ASSERT_FALSE(files().empty());
  for (const SourceFile& file : files()) EXPECT_FALSE(is_too_long(file.text)) << file.path;
}

TEST_P(Sources, AreNamedForWhatTheyHold) {
  for (const SourceFile& file : files()) EXPECT_FALSE(is_empty_name(file.path)) << file.path;
}

INSTANTIATE_TEST_SUITE_P(Files, Sources, testing::Values("include", "src", "apps", "bench", "python", "tests"),
                         [](const auto& folder) { return std::string(folder.param); });

TEST(Files, TheRulesCatchWhatTheyForbid) {
  std::string lines;
  for (std::size_t i = 0; i < kMostLines; ++i) lines += "line\n";
  EXPECT_FALSE(is_too_long(lines));
  EXPECT_TRUE(is_too_long(lines + "line\n"));
  EXPECT_TRUE(is_empty_name("src/core/utils.cc"));
  EXPECT_TRUE(is_empty_name("src/misc/a.h"));
  EXPECT_FALSE(is_empty_name("src/core/error.cc"));
}

}  // namespace
}  // namespace qkv::house::files_test
