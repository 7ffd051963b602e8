// The GGUF models of a repository, which often has one for each type of block, and which of them a name means.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/hub/fetch.h"

namespace qkv::hub {

/// One file, or the parts of a split one.
struct GgufModel {
  std::string stem;            // "Q8_0/model", without "-00001-of-00003.gguf"
  std::size_t count = 1;       // of parts that belong to it
  std::vector<HubFile> parts;  // those that are there, in their order
};

/// Of a model, by its name: not what belongs to one (a projector of images, an importance matrix).
[[nodiscard]] bool is_gguf_model(std::string_view name);

/// Of files of any kind, in their order.
[[nodiscard]] std::vector<GgufModel> gguf_models(std::span<const HubFile> files);

/// What names each of them alone: the type of its blocks, "Q4_K_M", or where that is not enough its first file.
[[nodiscard]] std::vector<std::string> choices_of(std::span<const GgufModel> models);

/// The one that `choice` names: a type in any case, or one of its files, with its folder or without. Null if that is
/// none of them, or several.
[[nodiscard]] const GgufModel* find_model(std::span<const GgufModel> models, std::string_view choice);

/// "Q4_K_M (1.1 GB), Q8_0 (2.0 GB)".
[[nodiscard]] std::string told_choices(std::span<const GgufModel> models);

}  // namespace qkv::hub
