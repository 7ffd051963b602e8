#include "page_requests.h"

namespace qkv::studio {

void freeze_heads(Frozen& frozen, const Request& reading, const Request& head, const FileBounds& bounds) {
  const Room room(frozen, bounds);
  const auto add_parts = [&](const Request& of) {
    Request request = reading;
    request.update(of);
    frozen.add("head_parts", request);
  };
  frozen.add("about", Request::object());
  const Request all = frozen.add("heads", reading);
  add_parts(head);
  for (const Request& site : all["sites"]) {
    for (const Request& one : site["classes"]) {
      if (!room.is_left()) return;
      add_parts({{"site", site["site"]}, {"layer", one["layer"]}, {"head", one["head"]}});
    }
  }
}

}  // namespace qkv::studio
