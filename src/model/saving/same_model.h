// Whether what was written is the model that it was made from.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "model/saving/placed_tensors.h"
#include "qkv/model/convert.h"

namespace qkv::saving {

/// Throws Error naming `source`, the options that differ and `form`, which cannot hold them.
void require_same_config(const Model& before, const Model& after, const std::string& source, const std::string& form);

struct ReadModel {
  const Model& model;
  ValueOf value;
};
/// Compares each parameter of the two and notes the errors of done.tensors, of which `places` has the one of each
/// parameter. Throws Error naming a tensor that is further than its type allows.
void compare_parameters(const ReadModel& before, const ReadModel& after,
                        const std::map<std::string, std::size_t>& places, Conversion& done,
                        const ConvertOptions& options);

/// The same of tensors by their names in the file, where both have the same.
using TensorNamed = std::function<Tensor(const std::string& name)>;
void compare_tensors(Conversion& done, const TensorNamed& old_value, const TensorNamed& new_value,
                     const ConvertOptions& options);

}  // namespace qkv::saving
