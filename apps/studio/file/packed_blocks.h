// The tensors of a reply as a page in one file has them, in a form that gzip packs better.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qkv::studio {

/// Words of four bytes. Where few of them differ, as those that are rounded to what is shown: each of them once, the
/// most frequent first, and of each word which it is, in two bytes. Either lies in planes: the first byte of each, then
/// the second of each, and so on.
struct PackedBlocks {
  std::uint32_t words = 0;  // that stand once; 0: all words, as they come
  std::string bytes = {};
};

/// `blocks` are whole words. apps/studio/web/src/engine/packed_blocks.ts reads them.
[[nodiscard]] PackedBlocks packed_blocks(std::string_view blocks);

}  // namespace qkv::studio
