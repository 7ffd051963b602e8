// The box: models that come with qkv, each a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// The file of a model in the box ("induction"), or the path itself where it holds a slash or a dot, or where it is a
/// folder and the box has no such model. Looked for in $QKV_MODELS, in ../share/qkv/models from where the program is,
/// and by a program in its build tree in the tree that it was built from. Throws Error with the names that there are.
[[nodiscard]] std::string trained_model_path(std::string_view name);

/// A file in the box that is no such model, such as "bottleneck/vector.safetensors"; looked for in the same places.
/// Throws Error if it is not there.
[[nodiscard]] std::string box_file(std::string_view name);

/// The names of the models in the box, sorted.
[[nodiscard]] std::vector<std::string> trained_model_names();

}  // namespace qkv
