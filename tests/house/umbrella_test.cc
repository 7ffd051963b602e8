// qkv/qkv.h names every public header, and those of the engine before its #if.
#include <gmock/gmock.h>

#include <set>

#include "house/rooms.h"

namespace qkv::house {
namespace {

const char* const kUmbrella = "include/qkv/qkv.h";

struct Umbrella {
  std::set<std::string> engine;
  std::set<std::string> others;
};

Umbrella umbrella() {
  Umbrella found;
  std::set<std::string>* part = &found.engine;
  const std::string start = "#include \"";
  for (const std::string& line : lines_of(read_file(kUmbrella).text)) {
    if (line.starts_with("#if")) part = &found.others;
    if (line.starts_with(start)) part->insert(line.substr(start.size(), line.size() - start.size() - 1));
  }
  return found;
}

bool is_of_engine(const std::string& header) {
  static const std::set<std::string_view> kRooms = {"core", "mask", "kernels", "attention", "cache", "probe", "cost"};
  return kRooms.contains(room_of_public(header));
}

TEST(Umbrella, NamesEveryPublicHeaderInItsPart) {
  Umbrella expected;
  for (const SourceFile& file : files_below("include", {".h"})) {
    const std::string header = file.path.lexically_relative("include").string();
    if (file.path != kUmbrella) (is_of_engine(header) ? expected.engine : expected.others).insert(header);
  }
  EXPECT_EQ(umbrella().engine, expected.engine);
  EXPECT_EQ(umbrella().others, expected.others);
}

TEST(Umbrella, IsWhatThePageOfHeadersLists) {
  const std::string page = read_file("docs/headers.md").text;
  for (const SourceFile& file : files_below("include", {".h"})) {
    const std::string header = file.path.lexically_relative("include").string();
    EXPECT_THAT(page, testing::HasSubstr("`" + header + "`"));
  }
}

}  // namespace
}  // namespace qkv::house
