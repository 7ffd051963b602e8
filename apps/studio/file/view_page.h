// The studio in one file, as `qkv view` opens it.
#pragma once

#include <string>

#include "qkv/api/models.h"
#include "qkv/api/studio.h"

namespace qkv::studio {

/// The pages Patterns of the mask, and Heads and Step of the model, which is open, or Step of the text. Throws
/// InvalidArgument naming `text` for a model without an example, and as studio_page().
[[nodiscard]] std::string view_page(const StudioOptions& options, OpenedModel model);

/// The pages without a reply and without an engine: who shows them answers.
[[nodiscard]] std::string frame_page();

}  // namespace qkv::studio
