// What a hub says of a model, and which of its files qkv reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/hub/fetch.h"

namespace qkv::hub {

/// Of the reply of a hub, in JSON; `source` stands in messages. Throws Error for a reply that is none.
[[nodiscard]] HubModel parse_listing(std::string_view json, const std::string& name, const std::string& source);

/// Leaves the files that are fetched, weights last: the folder of safetensors, or the GGUF model that `choice` names or
/// that is the only one. Of several, where none is named, all stay, with `choices`. Throws InvalidArgument naming name
/// for a choice that is none of them, and Error where qkv reads nothing.
void choose_files(HubModel& model, std::string_view choice);

/// Throws InvalidArgument naming name, with what may be chosen in place of `given`.
[[noreturn]] void refuse_choice(const HubModel& model, std::string_view given);

}  // namespace qkv::hub
