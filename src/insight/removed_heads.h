// A model without each of its heads in turn, several of them side by side in one pass.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "qkv/autograd/variable.h"
#include "qkv/model/attention_site.h"
#include "qkv/model/model.h"
#include "qkv/nn/trace.h"

namespace qkv::insight {

/// Tokens of ids or source, places of a sound or, about, patches of an image, whichever has most, in all texts; at least
/// 1.
[[nodiscard]] std::int64_t tokens_of(const ModelInput& input);

/// heads [times B, H, T, D], a batch of B texts that stands there `times` over: batch n with head first + n times 0 and
/// all others times 1. For an edit of "<attention>.heads".
[[nodiscard]] Variable without_heads(const Variable& heads, std::int64_t first, std::int64_t times = 1);

/// Told of each head: of the values that are kept, in their order, the rows from `row` on, as many as the input has
/// texts, are of a pass without it.
using WithoutHead = std::function<void(std::int64_t head, std::span<const Tensor> kept, std::int64_t row)>;

/// The values of a trace under these names.
[[nodiscard]] std::vector<Tensor> values_in(const Trace& trace, std::span<const std::string> names);

/// What a trace of a whole pass keeps for without_each_head(): the stream behind each block of each stack.
[[nodiscard]] std::vector<std::string> names_of_streams(const Model& model);

/// The heads of a layer of a site.
struct RemovedLayer {
  SiteScope scope;
  std::size_t layer = 0;
  std::int64_t heads = 0;
};

/// Runs the model over an input of B texts, or pictures and texts, as often as the layer has heads, and one of them
/// gives zeros each time. What lies below the layer is taken from `whole`, a trace of the same input that kept
/// names_of_streams(). A pass has as many heads as make some hundred tokens, so that weights are read once for all of
/// these. Allocates what such a pass needs, and copies of the input and of the stream.
void without_each_head(const Model& model, const ModelInput& input, const Trace& whole, const RemovedLayer& removed,
                       const std::vector<std::string>& kept, const WithoutHead& told);

}  // namespace qkv::insight
