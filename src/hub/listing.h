// What a hub says of a model, and which of its files qkv reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/hub/fetch.h"

namespace qkv::hub {

/// Of the reply of a hub, in JSON; `source` stands in messages. Throws Error for a reply that is none.
[[nodiscard]] HubModel parse_listing(std::string_view json, const std::string& name, const std::string& source);

/// Those that qkv reads, weights last. Throws Error where there are no safetensors.
[[nodiscard]] std::vector<HubFile> files_to_fetch(const HubModel& model);

}  // namespace qkv::hub
