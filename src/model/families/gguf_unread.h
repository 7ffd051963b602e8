// What is said of metadata that nobody reads.
#pragma once

#include <string>
#include <vector>

#include "files/gguf_keys.h"

namespace qkv::families {

/// After a network was made of the metadata: adds a sentence that names the keys of the file's own architecture that
/// were neither asked about nor are known to change nothing, each with its value.
void add_unread_keys(const files::GgufKeys& keys, std::vector<std::string>& cautions);

}  // namespace qkv::families
