// What a page asks while its reader goes through it. A story opens the file and holds these lists to it.
#pragma once

#include <cstddef>

#include "file/frozen.h"
#include "qkv/api/heads.h"

namespace qkv::studio {

/// How much of a page a file keeps: what comes first is the way that a reader is most likely to take.
struct FileBounds {
  std::size_t replies = 12000;
  std::size_t bytes = std::size_t{2} << 20;  // gzip
};

/// What is left of the bounds of the page that is being added.
class Room {
 public:
  Room(const Frozen& frozen, const FileBounds& bounds)
      : frozen_(frozen), replies_(frozen.size() + bounds.replies), bytes_(frozen.bytes() + bounds.bytes) {}

  [[nodiscard]] bool is_left() const { return frozen_.size() < replies_ && frozen_.bytes() < bytes_; }

 private:
  const Frozen& frozen_;
  std::size_t replies_;
  std::size_t bytes_;
};

/// The page Step: the bench that `request` lays out with every number of it, each query, each mistake, and backward
/// from the outputs. Returns the start of its address. Throws as the question `bench`.
void freeze_step(Frozen& frozen, const Request& request, const FileBounds& bounds = {});

/// The question `heads` of a model's text or example. The maps, which are seen as colours alone, keep as many bits as
/// the scales of the page have colours, in half the bytes. Throws as the question.
const HeadsReply& add_heads(Frozen& frozen, const Request& reading);

/// The page Heads of a model's text or example ("model", "text" or "example"): all heads, and what each head and its
/// pairs follow from, `head` ("site", "layer", "head") first. Throws as the question `heads`.
void freeze_heads(Frozen& frozen, const Request& reading, const Request& head,
                  const FileBounds& bounds = {.bytes = std::size_t{16} << 20});

}  // namespace qkv::studio
