// The weights of a folder with a config, drawn at random.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/error_message.h"
#include "qkv/files.h"
#include "qkv/model/model.h"
#include "qkv/random.h"

namespace qkv::tests {

/// Draws what opening the folder without weights says that is missing: "NAME: expected [2, 3], got no such tensor".
inline void put_random_weights(const std::string& folder) {
  write_file(folder + "/model.safetensors", encode_safetensors(std::vector<NamedView>{}));
  std::map<std::string, std::vector<std::int64_t>> extents;
  const std::string missing = error_message<Error>([&] { static_cast<void>(Model::open(folder)); });
  for (std::size_t end = missing.find(": expected ["); end != std::string::npos;
       end = missing.find(": expected [", end + 1)) {
    const std::size_t begin = missing.rfind(' ', end) + 1;
    std::vector<std::int64_t> shape;
    for (std::size_t at = missing.find('[', end) + 1; missing[at - 1] != ']';
         at = missing.find_first_of(",]", at) + 1) {
      shape.push_back(std::stoll(missing.substr(at)));
    }
    extents[missing.substr(begin, end - begin)] = shape;
  }
  Generator generator(11);
  std::vector<Tensor> values;
  std::vector<NamedView> views;
  values.reserve(extents.size());
  for (const auto& [name, shape] : extents) {
    values.push_back(generator.randn(Shape(shape), DType::f32));
    for (float& value : values.back().values<float>()) value *= 0.4F;
    views.push_back({name, values.back()});
  }
  write_file(folder + "/model.safetensors", encode_safetensors(views));
}

}  // namespace qkv::tests
