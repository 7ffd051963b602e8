#include "insight/call_places.h"

namespace qkv::insight {

PatternTokens pattern_tokens(const HeadText& text, AttentionSite site, std::int64_t Tq, std::int64_t Tk) {
  PatternTokens tokens;
  tokens.is_self = site != AttentionSite::cross;
  tokens.queries = site == AttentionSite::source ? text.source : text.ids;
  tokens.keys = site == AttentionSite::tokens ? text.ids : text.source;
  tokens.roles = site == AttentionSite::tokens ? text.roles : text.source_roles;
  const bool is_text =
      static_cast<std::int64_t>(tokens.queries.size()) == Tq && static_cast<std::int64_t>(tokens.keys.size()) == Tk;
  return is_text ? tokens : PatternTokens{.queries = {}, .keys = {}};
}

Tensor hidden_places(const Trace::Attention& call, std::int64_t b) { return hidden_places(call, b, 0, call.q.dim(2)); }

Tensor hidden_places(const Trace::Attention& call, std::int64_t b, std::int64_t begin, std::int64_t end) {
  const Mask& mask = call.options.mask;
  if (mask.is_all()) return {};
  const MaskShape shape{call.q.dim(0), call.q.dim(1), call.q.dim(2), call.k.dim(2)};
  Tensor hidden(DType::b8, {end - begin, shape.Tk});
  const auto values = hidden.values<bool>();
  std::size_t cell = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::int64_t j = 0; j < shape.Tk; ++j) values[cell++] = !mask.allows(Place{.b = b, .i = i, .j = j}, shape);
  }
  return hidden;
}

}  // namespace qkv::insight
