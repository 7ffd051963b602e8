#include "text/base64.h"

#include <cstdint>

namespace qkv::text {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr unsigned kBits = 6;
constexpr unsigned kByte = 8;
constexpr std::size_t kGroup = 4;

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char byte : bytes) {
    held = held << kByte | static_cast<unsigned char>(byte);
    for (bits += kByte; bits >= kBits; bits -= kBits) text += kDigits[held >> (bits - kBits) & 0x3FU];
  }
  if (bits > 0) text += kDigits[held << (kBits - bits) & 0x3FU];
  while (text.size() % kGroup != 0) text += '=';
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % kGroup != 0) return std::nullopt;
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char digit : text) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    held = held << kBits | static_cast<std::uint32_t>(value);
    bits += kBits;
    if (bits < kByte) continue;
    bits -= kByte;
    bytes += static_cast<char>(held >> bits & 0xFFU);
  }
  return bytes;
}

}  // namespace qkv::text
