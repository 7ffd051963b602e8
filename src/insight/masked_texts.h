// Texts with gaps, for encoders that learned to fill them.
#pragma once

#include "qkv/insight/heads.h"
#include "qkv/random.h"

namespace qkv::insight {

/// The text with some of its tokens masked, which are its targets: as MaskedTokens says, whose mask is given. A text of
/// separators alone stays as it is, without targets.
[[nodiscard]] HeadText masked_text(const HeadText& text, const MaskedTokens& masks, Generator& generator);

}  // namespace qkv::insight
