// What is in a file of weights is for whoever has files.
#include "qkv/api/contents.h"

#include "qkv/error.h"

namespace qkv {

Contents contents_of(const std::string& path) {
  throw FileError(path, "the engine in a page has no files of weights; `qkv info` reads yours");
}

}  // namespace qkv
