// How a model's authors mean it to be used: how it draws what it writes, and what makes one vector of a text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "files/staged_file.h"
#include "qkv/gguf.h"

namespace qkv::saving {

/// general.sampling.* of what generation_config.json asks for, and <architecture>.pooling_type of a sentence
/// transformer and of every encoder. Adds to `cautions` what GGUF has no word for. Throws Error naming the folder for a
/// sentence transformer whose vectors no GGUF file gives: several poolings, others than mean, first and last, or
/// modules behind them.
void add_meant_use(GgufMetadata& words, std::string_view architecture, const std::string& folder,
                   std::vector<std::string>& cautions);

/// The counterpart: adds to `generation` the words of generation_config.json, and writes modules.json and what it names
/// where the file has a pooling. `width` is the states' own.
void write_meant_use(files::StagedFolder& out, nlohmann::json& generation, const std::string& gguf, std::int64_t width,
                     std::vector<std::string>& cautions);

}  // namespace qkv::saving
