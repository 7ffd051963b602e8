#include "files/checksum.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace qkv::files {
namespace {

constexpr std::string_view kKind = "checksum.kind";
constexpr std::string_view kValue = "checksum.value";
constexpr std::string_view kNone = "00000000";

// Where the digits begin; npos where there are none. Neither word can stand in a header but as a key of its metadata:
// there, quotes within a text have a backslash before them.
std::size_t digits_begin(std::span<const std::byte> bytes) {
  constexpr std::size_t kLength = 8;
  std::uint64_t length = 0;
  for (std::size_t i = kLength; i-- > 0;) length = length << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + kLength,
                                std::min<std::uint64_t>(length, bytes.size() - kLength));
  const std::string key = fmt::format("\"{}\":\"", kValue);
  const std::size_t at = header.find(key);
  const bool has_digits = at != std::string_view::npos && header.size() - at - key.size() >= kNone.size();
  return has_digits ? kLength + at + key.size() : std::string_view::npos;
}

std::string checksum_of(std::span<const std::byte> bytes, std::size_t digits) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  const std::size_t behind = digits + kNone.size();
  uLong sum = crc32_z(0, data, digits);
  sum = crc32_z(sum, reinterpret_cast<const Bytef*>(kNone.data()), kNone.size());
  sum = crc32_z(sum, data + behind, bytes.size() - behind);
  return fmt::format("{:08x}", sum);
}

}  // namespace

std::vector<std::byte> encode_checked_safetensors(std::span<const NamedView> tensors,
                                                  const std::map<std::string, std::string>& metadata) {
  std::map<std::string, std::string> words = metadata;
  words[std::string(kKind)] = "crc-32";
  words[std::string(kValue)] = kNone;
  std::vector<std::byte> bytes = encode_safetensors(tensors, words);
  const std::size_t digits = digits_begin(bytes);
  const std::string sum = checksum_of(bytes, digits);
  std::memcpy(bytes.data() + digits, sum.data(), sum.size());
  return bytes;
}

void require_sound(const Safetensors& file) {
  const bool has_kind = file.metadata().contains(std::string(kKind));
  const bool has_value = file.metadata().contains(std::string(kValue));
  if (!has_kind && !has_value) return;
  const std::span<const std::byte> bytes = file.bytes();
  const std::size_t digits = digits_begin(bytes);
  const bool is_sound = has_kind && digits != std::string_view::npos &&
                        std::string_view(reinterpret_cast<const char*>(bytes.data()) + digits, kNone.size()) ==
                            checksum_of(bytes, digits);
  if (!is_sound)
    throw FileError(file.source(), "damaged: its bytes do not give the checksum that was written with them");
}

}  // namespace qkv::files
