#include "text/byte_level.h"

#include <array>

namespace qkv::text {
namespace {

constexpr std::size_t kBytes = 256;

bool can_be_seen(std::size_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct ByteCharacters {
  ByteCharacters() {
    char32_t other = kBytes;
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      values[byte] = can_be_seen(byte) ? static_cast<char32_t>(byte) : other++;
      texts[byte] = to_utf8(values[byte]);
    }
  }
  std::array<char32_t, kBytes> values{};
  std::array<std::string, kBytes> texts;
};

const ByteCharacters& byte_characters() {
  static const ByteCharacters kTable;
  return kTable;
}

}  // namespace

std::string_view byte_character(unsigned char byte) noexcept { return byte_characters().texts[byte]; }

void append_byte_level(AlignedText& changed, const AlignedText& text, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; ++at) {
    changed.append(byte_character(static_cast<unsigned char>(text.text()[at])), text.origin(at));
  }
}

std::optional<unsigned char> byte_of(char32_t character) noexcept {
  static const auto kBack = [] {
    std::array<std::optional<unsigned char>, 2 * kBytes> back{};
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      back[byte_characters().values[byte]] = static_cast<unsigned char>(byte);
    }
    return back;
  }();
  return character < kBack.size() ? kBack[character] : std::nullopt;
}

}  // namespace qkv::text
