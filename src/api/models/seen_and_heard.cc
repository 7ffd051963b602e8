#include "api/models/seen_and_heard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "api/fields/refuse.h"
#include "api/models/pass_bounds.h"
#include "files/reading.h"
#include "qkv/files.h"
#include "qkv/png.h"
#include "text/base64.h"

namespace qkv::api_detail {
namespace {

constexpr std::string_view kDataUrl = "data:";

// Bytes of a file, and what errors call them.
struct MediaBytes {
  std::vector<std::byte> bytes;
  std::string source;
};

void require_few_bytes(std::string_view field, std::size_t bytes) {
  const std::size_t most = answer_bounds().media_bytes;
  if (bytes > most) refuse(field, fmt::format("a file of at most {} bytes here", most), std::to_string(bytes));
}

MediaBytes bytes_of_url(std::string_view field, std::string_view url, std::string_view media) {
  const std::string head = fmt::format("{}{};base64,", kDataUrl, media);
  if (!url.starts_with(head)) {
    constexpr std::size_t kShown = 40;
    refuse(field, fmt::format("a file, or \"{}…\"", head), fmt::format("\"{}\"", url.substr(0, kShown)));
  }
  url.remove_prefix(head.size());
  require_few_bytes(field, url.size() / 4 * 3);
  const std::optional<std::string> bytes = text::from_base64(url);
  if (!bytes) refuse(field, fmt::format("base64 after \"{}\"", head), "another text");
  const std::span<const char> all(*bytes);
  const auto* const first = reinterpret_cast<const std::byte*>(all.data());
  return {.bytes = {first, first + all.size()}, .source = "data:" + std::string(media)};
}

MediaBytes media_in(std::string_view field, const std::string& text, std::string_view media) {
  if (text.starts_with(kDataUrl)) return bytes_of_url(field, text, media);
  files::ReadPlaces places = files::places_of_thread();
  places.most_bytes = std::min(places.most_bytes, answer_bounds().media_bytes);
  const files::ReadWithin within(places);
  return {.bytes = read_file(text), .source = text};
}

// Width and height stand in a PNG's first chunk. What is none, its reader says.
void require_few_pixels(std::string_view field, std::span<const std::byte> png) {
  constexpr std::size_t kWidthAt = 16;
  constexpr std::size_t kHead = 24;
  if (png.size() < kHead) return;
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t n = at; n < at + 4; ++n) value = value << 8U | std::to_integer<std::uint64_t>(png[n]);
    return value;
  };
  const std::uint64_t pixels = number(kWidthAt) * number(kWidthAt + 4);
  const std::uint64_t most = answer_bounds().picture_pixels;
  if (pixels > most) refuse(field, fmt::format("a picture of at most {} pixels here", most), std::to_string(pixels));
}

Tensor numbers_in(std::string_view field, const std::string& text) {
  return of_field(field, [&] { return tensor_from_text(text); });
}

Tensor pixels_in(std::string_view field, const std::string& text) {
  const Tensor numbers = numbers_in(field, text);
  if (numbers.rank() != 3 || numbers.dim(2) != 3) {
    refuse(field, "numbers [height, width, 3]", numbers.shape().to_string());
  }
  for (const double value : numbers.to_vector()) {
    constexpr double kMost = 255;
    if (value >= 0 && value <= kMost && value == std::floor(value)) continue;
    refuse(field, "whole numbers from 0 to 255", fmt::format("{}", value));
  }
  return numbers.to(DType::u8);
}

void require_short(std::string_view field, const Sound& sound) {
  const double most = answer_bounds().sound_seconds;
  const double seconds = static_cast<double>(sound.samples.size()) / static_cast<double>(sound.rate);
  if (seconds > most)
    refuse(field, fmt::format("a sound of at most {:.0f} s here", most), fmt::format("{:.1f}", seconds));
}

}  // namespace

Tensor picture_in(std::string_view field, const std::string& text) {
  if (is_tensor_text(text)) return pixels_in(field, text);
  return of_path(field, [&] {
    const MediaBytes media = media_in(field, text, "image/png");
    require_few_pixels(field, media.bytes);
    return decode_png(media.bytes, media.source);
  });
}

Sound sound_in(std::string_view field, const std::string& text, std::int64_t rate) {
  Sound sound;
  if (is_tensor_text(text)) {
    const Tensor numbers = numbers_in(field, text);
    if (numbers.rank() != 1) refuse(field, "samples [N]", numbers.shape().to_string());
    sound = {.rate = rate, .samples = numbers.to(DType::f32)};
  } else {
    sound = of_path(field, [&] {
      const MediaBytes media = media_in(field, text, "audio/wav");
      return decode_wav(media.bytes, media.source);
    });
  }
  require_short(field, sound);
  return sound;
}

bool names_file(std::string_view text) { return !text.empty() && !is_tensor_text(text) && !text.starts_with(kDataUrl); }

std::string media_name(const std::string& text) {
  if (names_file(text)) return text;
  return is_tensor_text(text) ? "numbers" : text.substr(0, text.find(';'));
}

}  // namespace qkv::api_detail
