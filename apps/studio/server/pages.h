// The studio's pages, as the build put them into the program.
#pragma once

#include <string_view>

namespace qkv::studio {

/// Each compressed with gzip.
struct Pages {
  std::string_view page;    // index.html
  std::string_view script;  // studio.js
  std::string_view style;   // studio.css
  // For a page that takes its engine along: worker.js and qkv.wasm, the latter empty if `make web` had not made it.
  std::string_view worker = {};
  std::string_view engine = {};
};

/// Those of this build; all empty if it was made without them.
[[nodiscard]] Pages built_pages();

/// Why this build has no pages; empty if it has.
[[nodiscard]] std::string_view why_without_pages();

}  // namespace qkv::studio
