// Where the box of models is looked for.
#pragma once

#include <string>
#include <vector>

namespace qkv {

/// $QKV_MODELS, ../share/qkv/models from where the program is and, of a program in the tree that it was built in, the
/// models of that tree; in this order, whether they are there or not.
[[nodiscard]] std::vector<std::string> box_directories();

}  // namespace qkv
