// Pictures of the reader's own are files: an engine in a page has none.
#include "qkv/captions.h"
#include "qkv/error.h"
#include "qkv/png.h"

namespace qkv {

Tensor decode_png(std::span<const std::byte> /*bytes*/, std::string_view source) {
  throw FileError(source, "the engine in a page reads no PNG; `qkv view` does");
}

std::vector<CaptionedPicture> read_captions(const std::string& directory) {
  throw FileError(directory, "the engine in a page has no directories; `qkv view` reads yours");
}

}  // namespace qkv
