#include "mask/packed_flags.h"

#include <algorithm>
#include <cstring>

#include "mask/node.h"

namespace qkv::mask_detail {
namespace {

// Eight bytes as bits, 1 for any that is not 0.
std::uint64_t packed_eight(const std::uint8_t* bytes) noexcept {
  constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7FU;
  constexpr std::uint64_t kGather = 0x0102040810204080U;  // brings bit 8 n to bit 56 + n, without carries
  std::uint64_t word = 0;
  for (int n = 0; n < 8; ++n) word |= std::uint64_t{bytes[n]} << (8 * n);  // one load where bytes are little-endian
  const std::uint64_t tops = (((word & kLow) + kLow) | word) & ~kLow;
  return ((tops >> 7) * kGather) >> 56;
}

std::uint64_t packed(const std::uint8_t* bytes, std::int64_t stride, std::int64_t count) noexcept {
  std::uint64_t bits = 0;
  std::int64_t n = 0;
  if (stride == 1) {
    for (; n + 8 <= count; n += 8) bits |= packed_eight(bytes + n) << n;
  }
  for (; n < count; ++n) bits |= std::uint64_t{bytes[n * stride] != 0} << n;
  return bits;
}

void append_rows(std::vector<std::uint64_t>& words, const TensorView& flags) {
  if (flags.rank() > 1) {
    for (std::int64_t n = 0; n < flags.dim(0); ++n) append_rows(words, flags.select(0, n));
    return;
  }
  const auto* bytes = static_cast<const std::uint8_t*>(flags.data());
  const std::int64_t columns = flags.rank() == 0 ? 1 : flags.dim(0);
  const std::int64_t stride = flags.rank() == 0 ? 1 : flags.strides()[0];
  for (std::int64_t column = 0; column < columns; column += 64) {
    words.push_back(packed(bytes + column * stride, stride, std::min<std::int64_t>(64, columns - column)));
  }
}

}  // namespace

PackedFlags::PackedFlags(std::string_view function, std::string_view argument, const TensorView& flags)
    : layout_(function, argument, flags.shape()), columns_(flags.rank() == 0 ? 1 : flags.dim(-1)) {
  require_flags(function, argument, flags);
  words_per_row_ = (columns_ + 63) / 64;
  const std::int64_t rows = columns_ == 0 ? 0 : flags.size() / columns_;
  words_.reserve(static_cast<std::size_t>(rows * words_per_row_ + 1));
  if (rows > 0) append_rows(words_, flags);
  words_.push_back(0);
}

Tensor PackedFlags::unpacked() const {
  Tensor flags(DType::b8, layout_.shape());
  bool* flag = static_cast<bool*>(flags.data());
  for (std::int64_t n = 0; n < flags.size(); ++n) {
    const std::int64_t column = n % columns_;
    const std::uint64_t word = words_[static_cast<std::size_t>(n / columns_ * words_per_row_ + column / 64)];
    *flag++ = (word >> (column % 64) & 1U) != 0;
  }
  return flags;
}

std::uint64_t PackedFlags::bits(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t first,
                                int count) const noexcept {
  const std::int64_t begin = layout_.offset(b, h, row, 0) / columns_ * words_per_row_;
  if (repeats_columns()) return words_[static_cast<std::size_t>(begin)] != 0 ? low_bits(count) : 0;
  const std::uint64_t* word = words_.data() + begin + first / 64;
  const auto shift = static_cast<unsigned>(first % 64);
  std::uint64_t bits = *word >> shift;
  if (shift > 0) bits |= word[1] << (64 - shift);
  return bits & low_bits(count);
}

}  // namespace qkv::mask_detail
