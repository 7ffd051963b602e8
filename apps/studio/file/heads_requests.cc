#include <bit>
#include <cstdint>
#include <utility>

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

HeadsReply with_short_maps(HeadsReply heads) {
  for (HeadsSite& site : heads.sites) {
    Tensor maps(site.maps.contiguous().view(), DType::f32);
    for (float& weight : maps.values<float>()) weight = short_weight(weight);
    site.maps = std::move(maps);
  }
  return heads;
}

}  // namespace

const HeadsReply& add_heads(Frozen& frozen, const Request& reading) {
  return frozen.added<HeadsReply>("heads", reading, with_short_maps);
}

void freeze_heads(Frozen& frozen, const Request& reading, const Request& head, const FileBounds& bounds) {
  const Room room(frozen, bounds);
  const auto add_parts = [&](const Request& of) { frozen.add("head_parts", with(reading, of)); };
  frozen.add("about", {});
  const HeadsReply& all = add_heads(frozen, reading);
  add_parts(head);
  for (const HeadsSite& site : all.sites) {
    for (const HeadsClass& one : site.classes) {
      if (!room.is_left()) return;
      add_parts({{"site", site.site}, {"layer", one.layer}, {"head", one.head}});
    }
  }
}

}  // namespace qkv::studio
