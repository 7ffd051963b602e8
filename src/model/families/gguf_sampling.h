// How the authors of a GGUF file mean its model to write: general.sampling.* of its metadata.
#pragma once

#include <string>
#include <vector>

#include "qkv/model/generate.h"

namespace qkv::families {

/// Of a draw: temperature, top_k, top_p and min_p, where one of them is there, with the defaults that a folder has,
/// whose generation_config.json these keys were; and penalty_repeat. GenerateOptions() where the file says nothing.
/// Throws Error naming the file and a key of another type.
[[nodiscard]] GenerateOptions gguf_draw_options(const std::string& path);

/// What else it asks for, each with its value: "general.sampling.mirostat 2". Throws likewise.
[[nodiscard]] std::vector<std::string> unheeded_in_gguf(const std::string& path);

}  // namespace qkv::families
