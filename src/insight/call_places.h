// What stands at the queries and keys of an attention call over a text.
#pragma once

#include <cstdint>

#include "qkv/insight/heads.h"
#include "qkv/nn/trace.h"

namespace qkv::insight {

/// As far as the call is over the tokens of texts: an image, or a tower with a token of its own, is not.
[[nodiscard]] PatternTokens pattern_tokens(const HeadText& text, AttentionSite site, std::int64_t Tq, std::int64_t Tk);

/// b8 [Tq, Tk]: what the mask of batch entry b hides; empty where it hides nothing.
[[nodiscard]] Tensor hidden_places(const Trace::Attention& call, std::int64_t b);
/// Of the queries from `begin` to `end` alone, b8 [end - begin, Tk].
[[nodiscard]] Tensor hidden_places(const Trace::Attention& call, std::int64_t b, std::int64_t begin, std::int64_t end);

}  // namespace qkv::insight
