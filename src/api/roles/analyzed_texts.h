// The texts, pictures or sounds over which heads are looked at.
#pragma once

#include <cstdint>

#include "qkv/api/models.h"
#include "qkv/api/roles.h"

namespace qkv::api_detail {

/// Those of the request, else its `count` of examples, or `usual` of them. Throws of the field.
[[nodiscard]] HeadTexts analyzed_texts(const AnalyzeRequest& request, const TextModel& trained, std::int64_t usual,
                                       const Saying& saying);

}  // namespace qkv::api_detail
