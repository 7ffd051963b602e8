// The parts of a logit out of a pass that has run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/insight/lens.h"

namespace qkv::insight {

/// What the model is that its logits have no parts; null where they have.
[[nodiscard]] const char* why_no_parts(const Model& model);

/// What a trace keeps for parts_in_pass(), of the tokens' scope.
[[nodiscard]] std::vector<std::string> names_of_parts(const SiteScope& scope);

/// logit_parts() of the one text that the pass of `trace` has read; without keys where it has not kept the calls of all
/// layers. Throws as it does.
[[nodiscard]] LogitParts parts_in_pass(const Model& model, const Trace& trace, std::int64_t place, std::int32_t token,
                                       std::optional<std::int32_t> against = std::nullopt);

}  // namespace qkv::insight
