#include "qkv/explain/operations.h"

#include <gmock/gmock.h>

#include <set>

#include "qkv/files.h"

namespace qkv {
namespace {

std::string content_of(const std::string& path) {
  const auto bytes = read_file(QKV_SOURCE_DIR "/" + path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Operations, StandWhereTheySay) {
  for (const Operation& one : operations()) {
    EXPECT_THAT(content_of(one.file), testing::HasSubstr(one.symbol)) << one.id;
  }
}

TEST(Operations, AreWrittenInEachLanguageOnce) {
  std::set<std::string> ids;
  for (const Operation& one : operations()) {
    EXPECT_TRUE(ids.insert(one.id).second) << one.id;
    ASSERT_EQ(one.code.size(), operation_languages().size());
    for (std::size_t n = 0; n < one.code.size(); ++n) {
      EXPECT_EQ(one.code[n].language, operation_languages()[n].id);
      EXPECT_FALSE(one.code[n].text.empty());
    }
  }
}

TEST(Operations, AreThoseOfTheDocument) {
  EXPECT_THAT(content_of("docs/operations-in-code.md"),
              testing::HasSubstr(operations_as_markdown() + "<!-- made by studio_messages: end -->"))
      << "build/release/apps/studio/studio_messages docs/operations-in-code.md writes them";
}

}  // namespace
}  // namespace qkv
