// qkv/qkv.h names every public header, and those of the engine before its #if.
#include <gmock/gmock.h>

#include <set>

#include "house/rooms.h"
#include "qkv/qkv.h"  // compiles

namespace qkv::house::umbrella_test {
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
  EXPECT_THAT(umbrella().engine, testing::ContainerEq(expected.engine));
  EXPECT_THAT(umbrella().others, testing::ContainerEq(expected.others));
}

// Each header, or the folder that it stands in.
TEST(Umbrella, IsWhatThePageOfHeadersLists) {
  const std::string page = read_file("docs/headers.md").text;
  const auto lists = [&](const std::string& path) { return page.find("`" + path + "`") != std::string::npos; };
  std::set<std::string> missing;
  for (const SourceFile& file : files_below("include", {".h"})) {
    const std::filesystem::path header = file.path.lexically_relative("include");
    if (!lists(header.string()) && !lists(header.parent_path().string() + "/")) missing.insert(header.string());
  }
  EXPECT_THAT(missing, testing::IsEmpty());
}

}  // namespace
}  // namespace qkv::house::umbrella_test
