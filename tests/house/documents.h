// What the documents promise: code that compiles and runs, and paths that exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "house/source_tree.h"

namespace qkv::house {

struct CodeBlock {
  std::string name;     // "docs_semantics_line_12"
  std::string program;  // a whole C++ source file
};

/// README.md and the other documents of the root, and every .md file below docs/.
[[nodiscard]] std::vector<SourceFile> documents();

/// Each ```cpp block as a program that keeps the document's line numbers. A block without a `main` becomes the body of
/// one, its #includes set before it. Throws std::runtime_error for a block that is never closed.
[[nodiscard]] std::vector<CodeBlock> code_blocks(const SourceFile& document);

/// The paths that the prose names, relative to the root: targets of links, and code spans that begin with a folder of
/// the repository or with "qkv/" (a public header). Patterns, web addresses and what a build makes are left out.
[[nodiscard]] std::vector<std::string> named_paths(const SourceFile& document);

/// The anchors of a document's headings, as GitHub makes them: "## What `qkv` is" has "what-qkv-is", a second
/// "what-qkv-is-1".
[[nodiscard]] std::vector<std::string> anchors(const SourceFile& document);

/// The headings that the prose links to, with their document relative to the root: "[a](page.md#b)" names
/// "docs/page.md#b".
[[nodiscard]] std::vector<std::string> named_headings(const SourceFile& document);

}  // namespace qkv::house
