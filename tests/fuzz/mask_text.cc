// The mask language: whatever can be read is written and read again as the same text, and its parts agree with one
// another over a small shape.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "qkv/bias.h"
#include "qkv/mask.h"

namespace {

using qkv::Mask;
using qkv::MaskShape;
using qkv::Tile;
using qkv::TileClass;

void require(bool sound) {
  if (!sound) std::abort();
}

// Nothing where the text cannot be read, which must be said as a MaskSyntaxError.
template <class Parse>
auto parsed(std::string_view text, const Parse& parse) -> std::optional<decltype(parse(text))> {
  try {
    return parse(text);
  } catch (const qkv::MaskSyntaxError& error) {
    require(error.column() >= 1 && error.column() <= text.size() + 1);
    return std::nullopt;
  }
}

template <class Parse>
void require_round_trip(const std::string& text, const Parse& parse) {
  if (text.find('<') == std::string::npos) require(parse(text).to_string() == text);
}

bool stands(const Mask& mask, const MaskShape& shape) {
  try {
    mask.validate(shape);
    return true;
  } catch (const qkv::InvalidArgument&) {
    return false;
  }
}

void require_agreement(const Mask& mask, const MaskShape& shape) {
  for (std::int64_t i = 0; i < shape.Tq; ++i) {
    const Tile row{.i_begin = i, .i_end = i + 1, .j_begin = 0, .j_end = shape.Tk};
    const TileClass sort = mask.classify(row, shape);
    const qkv::KeyRange hull = mask.hull(row, shape);
    const std::uint64_t bits = mask.row_bits({.i = i}, static_cast<int>(shape.Tk), shape);
    for (std::int64_t j = 0; j < shape.Tk; ++j) {
      const bool seen = mask.allows({.i = i, .j = j}, shape);
      require(seen == ((bits >> j & 1U) != 0));
      require(sort == TileClass::partial || seen == (sort == TileClass::full));
      require(!seen || (hull.begin <= j && j < hull.end));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto mask = parsed(text, qkv::parse_mask)) {
    require_round_trip(mask->to_string(), qkv::parse_mask);
    for (const MaskShape& shape :
         {MaskShape{.Tq = 4, .Tk = 4}, MaskShape{.Tq = 3, .Tk = 7}, MaskShape{.Tq = 6, .Tk = 2}}) {
      if (stands(*mask, shape)) require_agreement(*mask, shape);
    }
  }
  if (const auto bias = parsed(text, qkv::parse_bias)) require_round_trip(bias->to_string(), qkv::parse_bias);
  return 0;
}
