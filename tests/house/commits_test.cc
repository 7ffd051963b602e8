// Subjects of commits, as CONTRIBUTING.md wants them.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/run_shell.h"
#include "house/source_tree.h"

namespace qkv::house::commits_test {
namespace {

// Those before it are as they are.
constexpr const char* kFirst = "11afa1c91cddb5290ba3fff2a40da8f846437b6c";
constexpr std::ptrdiff_t kMost = 72;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

bool is_good(std::string_view subject) {
  return !subject.empty() && !subject.ends_with('.') && std::ranges::count_if(subject, begins_character) <= kMost;
}

TEST(Commits, HaveShortSubjects) {
  const std::string subjects = tests::printed_by("git -C '" + root().string() + "' log --format=%s " +
                                                 std::string(kFirst) + "..HEAD 2>/dev/null");
  if (subjects.empty()) GTEST_SKIP() << "no history of commits here";
  for (const std::string& subject : lines_of(subjects)) {
    EXPECT_TRUE(is_good(subject)) << subject << ": expected at most 72 characters, and no full stop";
  }
}

TEST(Commits, TheRuleCatchesWhatItForbids) {
  const std::string longest(72, 'a');
  EXPECT_TRUE(is_good(longest));
  EXPECT_FALSE(is_good(longest + "a"));
  EXPECT_TRUE(is_good("é" + longest.substr(1)));
  EXPECT_FALSE(is_good("Say less."));
  EXPECT_FALSE(is_good(""));
}

}  // namespace
}  // namespace qkv::house::commits_test
