// One question of the studio answered as frames, for who may go away meanwhile: over HTTP and in a page.
#pragma once

#include <functional>
#include <string_view>

#include "qkv/api/studio.h"

namespace qkv {

/// Studio::ask(), or what stands for it in a test.
using Ask = std::function<StudioReply(std::string_view name, std::string_view request, const StudioWatch& watch)>;

/// Who waits for the frames.
struct Listener {
  std::function<bool()> is_there;
  std::function<bool(std::string_view frame)> hear;  // false once nobody takes frames any more
};

/// Progress at most ten times a second, then the reply or the error. False if the listener went, or the work was
/// stopped.
[[nodiscard]] bool answer_in_frames(const Ask& ask, std::string_view name, std::string_view request,
                                    const Listener& listener);

}  // namespace qkv
