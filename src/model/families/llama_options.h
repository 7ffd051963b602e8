// What configs of Llama and of the families after it say alike.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/families/config_file.h"
#include "qkv/model/decoder.h"

namespace qkv::families {

/// The options of a Llama, without windows and what read_rotary() reads.
[[nodiscard]] DecoderOptions llama_options(const ConfigFile& config);

/// Base and scaling of all layers: `rope_theta` and `rope_scaling`, or `rope_parameters`.
void read_rotary(const ConfigFile& config, DecoderOptions& options);

/// The scaling of an object of rotary options, `rope_parameters` or `rope_scaling`, of a model for texts of `length`.
[[nodiscard]] RotaryScaling scaling_in(const ConfigFile& rope, std::int64_t length);

/// `window` for each layer that `layer_types` calls sliding, or for which is_local(n) where there are no types; 0 for
/// the others.
[[nodiscard]] std::vector<std::int64_t> windows_in(const ConfigFile& config, std::int64_t layers, std::int64_t window,
                                                   const std::function<bool(std::int64_t n)>& is_local);

}  // namespace qkv::families
