#include <algorithm>
#include <cstdint>

#include "page_requests.h"

namespace qkv::studio {
namespace {

Request with(Request request, const Request& more) {
  request.update(more);
  return request;
}

bool has_special(const Request& site) { return std::ranges::find(site["roles"], "separator") != site["roles"].end(); }

}  // namespace

void freeze_heads(Frozen& frozen, const Request& reading, const Request& head, const FileBounds& bounds) {
  const auto has_room = [&] { return frozen.size() < bounds.replies && frozen.bytes() < bounds.bytes; };
  frozen.add("about", Request::object());
  const Request all = frozen.add("heads", reading);
  const Request chosen = with(reading, head);
  const Request shown = frozen.add("head", chosen);
  for (const Request& site : all["sites"]) {
    for (const Request& one : site["classes"]) {
      if (!has_room()) return;
      Request request = with(reading, {{"site", site["site"]}, {"layer", one["layer"]}, {"head", one["head"]}});
      frozen.add("head", request);
      if (!has_special(site)) continue;
      request["hide_special"] = true;
      frozen.add("head", request);
    }
  }
  for (std::size_t query = 0; query < shown["queries"].size(); ++query) {
    for (std::size_t key = 0; key < shown["keys"].size() && has_room(); ++key) {
      frozen.add("pair", with(chosen, {{"query", query}, {"key", key}}));
    }
  }
}

}  // namespace qkv::studio
