#include <bit>
#include <cstdint>
#include <cstring>

#include "page_requests.h"

namespace qkv::studio {
namespace {

// To a 256th of the whole, and to six bits of its own: half a colour of the linear scales, and of the logarithmic ones,
// which begin at 1e-4.
float short_weight(float weight) {
  constexpr float kUnseen = 0x1p-14F;
  constexpr std::uint32_t kEighthBit = 0x10000;
  if (weight < kUnseen) return 0;
  const std::uint32_t last = weight < 0.25F ? 4 * kEighthBit : weight < 0.5F ? 2 * kEighthBit : kEighthBit;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(weight) + last / 2) & ~(last - 1));
}

void shorten_maps(const Request& heads, std::vector<std::byte>& blocks) {
  for (const Request& site : heads["sites"]) {
    const Request& maps = site["maps"];
    std::size_t count = 1;
    for (const Request& extent : maps["shape"]) count *= extent.get<std::size_t>();
    std::byte* at = blocks.data() + maps["at"].get<std::size_t>();
    for (std::size_t n = 0; n < count; ++n, at += sizeof(float)) {
      float weight = 0;
      std::memcpy(&weight, at, sizeof(float));
      weight = short_weight(weight);
      std::memcpy(at, &weight, sizeof(float));
    }
  }
}

}  // namespace

Request add_heads(Frozen& frozen, const Request& reading) { return frozen.add("heads", reading, shorten_maps); }

void freeze_heads(Frozen& frozen, const Request& reading, const Request& head, const FileBounds& bounds) {
  const Room room(frozen, bounds);
  const auto add_parts = [&](const Request& of) {
    Request request = reading;
    request.update(of);
    frozen.add("head_parts", request);
  };
  frozen.add("about", Request::object());
  const Request all = add_heads(frozen, reading);
  add_parts(head);
  for (const Request& site : all["sites"]) {
    for (const Request& one : site["classes"]) {
      if (!room.is_left()) return;
      add_parts({{"site", site["site"]}, {"layer", one["layer"]}, {"head", one["head"]}});
    }
  }
}

}  // namespace qkv::studio
