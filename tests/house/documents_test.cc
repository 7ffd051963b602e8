#include "house/documents.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace qkv::house::documents_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Documents, NamePathsThatExist) {
  for (const SourceFile& document : documents()) {
    for (const std::string& path : named_paths(document)) {
      EXPECT_TRUE(std::filesystem::exists(root() / path)) << document.path << " names " << path;
    }
  }
}

TEST(Documents, LinkToHeadingsThatExist) {
  std::set<std::string> headings;
  for (const SourceFile& document : documents()) {
    for (const std::string& anchor : anchors(document)) headings.insert(document.path.string() + "#" + anchor);
  }
  std::size_t links = 0;
  for (const SourceFile& document : documents()) {
    for (const std::string& heading : named_headings(document)) {
      EXPECT_TRUE(headings.contains(heading)) << document.path << " links to " << heading;
      ++links;
    }
  }
  EXPECT_GT(links, 50);
}

TEST(Documents, AreFound) {
  EXPECT_THAT(documents(), testing::Contains(testing::Field(&SourceFile::path, "CHANGELOG.md")));
}

TEST(NamedPaths, AreLinksAndCodeSpans) {
  const SourceFile document{"docs/page.md",
                            "See [one](semantics.md#masks), [two](../README.md), <img src=\"images/a.svg\">,\n"
                            "`src/core/`, `qkv/tensor.h`, `tests/core/attic.cc`.\n"};
  EXPECT_THAT(named_paths(document), ElementsAre("docs/semantics.md", "README.md", "docs/images/a.svg", "src/core/",
                                                 "include/qkv/tensor.h", "tests/core/attic.cc"));
}

TEST(NamedPaths, AreNotAddressesPatternsOrProducts) {
  const SourceFile document{"README.md",
                            "[web](https://example.org/src/a), [here](#top), `src/*/x.h`, `build/release/x`, `q/k`,\n"
                            "```sh\ncat src/attic.cc `src/attic.cc`\n```\n"};
  EXPECT_THAT(named_paths(document), IsEmpty());
}

TEST(Anchors, AreThoseOfHeadings) {
  const SourceFile document{"docs/page.md",
                            "# The `qkv` command\n## Q, K and V: how?\n```sh\n# no heading\n```\n### p_x: é\n## Again\n"
                            "## Again\n"};
  EXPECT_THAT(anchors(document), ElementsAre("the-qkv-command", "q-k-and-v-how", "p_x-é", "again", "again-1"));
}

TEST(NamedHeadings, AreLinksWithAnAnchor) {
  const SourceFile document{"docs/page.md",
                            "[here](#top), [there](other.md#a-b), [up](../README.md#c), [page](other.md),\n"
                            "[web](https://example.org/#d)\n```md\n[no](#x)\n```\n"};
  EXPECT_THAT(named_headings(document), ElementsAre("docs/page.md#top", "docs/other.md#a-b", "README.md#c"));
}

TEST(CodeBlocks, OfCppBecomePrograms) {
  const SourceFile document{"docs/a-page.md",
                            "text\n```cpp\n#include <vector>\nstd::vector<int> v;\n```\n```sh\nls\n```\n"
                            "```cpp\nint main() { return 0; }\n```\n"};
  const std::vector<CodeBlock> blocks = code_blocks(document);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_EQ(blocks[0].name, "docs_a_page_line_3");
  EXPECT_EQ(blocks[0].program,
            "#include <vector>\nint main() {\n#line 3 \"docs/a-page.md\"\n\nstd::vector<int> v;\n}\n");
  EXPECT_EQ(blocks[1].program, "#line 10 \"docs/a-page.md\"\nint main() { return 0; }\n");
}

TEST(CodeBlocks, ThatNeverCloseAreAnError) {
  try {
    (void)code_blocks({"README.md", "one\n```cpp\nint x;\n"});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("README.md:2: a code block that is never closed"));
  }
}

}  // namespace
}  // namespace qkv::house::documents_test
