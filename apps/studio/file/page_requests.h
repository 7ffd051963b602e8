// What a page asks while its reader goes through it. A story opens the file and holds these lists to it.
#pragma once

#include <string>

#include "file/frozen.h"

namespace qkv::studio {

/// How much of it a file keeps: what comes first is the way that a reader is most likely to take.
struct FileBounds {
  std::size_t replies = 12000;
  std::size_t bytes = std::size_t{96} << 20;  // before they are compressed, to a twentieth or less
};

/// The page Step: the bench that `request` lays out with every number of it, each query, each mistake, and backward
/// from the outputs. Returns the start of its address. Throws as the question `bench`.
void freeze_step(Frozen& frozen, const Request& request, const FileBounds& bounds = {});

/// The page Heads of a model's text or example ("model", "text" or "example"): all heads, each head, and the pairs of
/// `head` ("site", "layer", "head"). Throws as the question `heads`.
void freeze_heads(Frozen& frozen, const Request& reading, const Request& head, const FileBounds& bounds = {});

}  // namespace qkv::studio
