// How long a file may be, and what it may not be called.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

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

// What reads numbers out of texts above the engine, and of what: the same word is not read twice.
const std::map<std::string, std::string>& readers_of_numbers() {
  static const std::map<std::string, std::string> kReaders = {
      {"apps/cli/terminal.cc", "COLUMNS"},
      {"apps/studio/file/explain_page.cc", "what a page calls a head"},
      {"apps/studio/server/exchange.cc", "Content-Length"},
      {"src/api/fields/byte_size.cc", "512MiB"},
      {"src/api/fields/field.cc", "the number that a field is"},
      {"src/api/fields/field_example.cc", "the default of a field"},
      {"src/api/fields/number_lists.cc", "1,2,3; 8x16; 0:8,4:12; 1,0;0,1"},
      {"src/api/models/pass_bounds.cc", "the width in a config"},
      {"src/api/problem/problem_options.cc", "logits of sinks; a window LEFT,RIGHT"},
      {"src/api/study/variants.cc", "FROM:TO"},
      {"src/api/texts/given_texts.cc", "the place in texts[3]"},
      {"src/api/tokens/tokens.cc", "12 7: ids"},
  };
  return kReaders;
}

bool reads_numbers(std::string_view text) {
  static constexpr std::string_view kCalls[] = {"number_from<", "numbers_from<", "from_chars(", "std::sto", "strto"};
  return std::ranges::any_of(kCalls, [&](std::string_view call) { return text.find(call) != std::string_view::npos; });
}

TEST(Files, NumbersInTextsAreReadInTheListedPlacesAlone) {
  std::set<std::string> reading;
  for (const char* const folder : {"src/api", "apps/cli", "apps/studio/file", "apps/studio/server", "python/src"}) {
    for (const SourceFile& file : files_below(folder, {".h", ".cc"})) {
      if (reads_numbers(file.text)) reading.insert(file.path.generic_string());
    }
  }
  std::set<std::string> listed;
  for (const auto& [path, what] : readers_of_numbers()) listed.insert(path);
  EXPECT_EQ(reading, listed) << "fields/number_lists.h and core/place_text.h have readers for most forms";
}

TEST(Files, TheRulesCatchWhatTheyForbid) {
  std::string lines;
  for (std::size_t i = 0; i < kMostLines; ++i) lines += "line\n";
  EXPECT_FALSE(is_too_long(lines));
  EXPECT_TRUE(is_too_long(lines + "line\n"));
  EXPECT_TRUE(reads_numbers("const auto n = core::number_from<int>(text);"));
  EXPECT_TRUE(is_empty_name("src/core/utils.cc"));
  EXPECT_TRUE(is_empty_name("src/misc/a.h"));
  EXPECT_FALSE(is_empty_name("src/core/error.cc"));
}

}  // namespace
}  // namespace qkv::house::files_test
