// What is wrong with the path of a model: links that lead nowhere, a folder above or beside the one that is meant.
#pragma once

#include <string>

namespace qkv::families {

/// Throws Error naming a file that opening reads and that is a link to what is not there, as a cache is left in whose
/// file was removed or never came.
void refuse_dangling_links(const std::string& folder);

/// Throws Error with the folders below that have a config.json, for a folder without one: that of a repository in a
/// hub's cache has its files in snapshots/<commit>.
void refuse_folder_above(const std::string& folder);

}  // namespace qkv::families
