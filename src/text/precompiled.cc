// SentencePiece's table of replacements: a double array (Darts) of what is replaced, and the replacements, each of
// which ends with a zero byte. https://github.com/google/sentencepiece/blob/master/src/normalizer.cc
#include <utf8proc.h>

#include <optional>

#include "text/base64.h"
#include "text/normalizer.h"

namespace qkv::text {
namespace {

class Precompiled final : public Normalizer {
 public:
  Precompiled(std::vector<std::uint32_t> units, std::string replacements)
      : units_(std::move(units)), replacements_(std::move(replacements)) {}

  void apply(AlignedText& text) const override {
    std::vector<Rewritten> written;
    written.reserve(text.size());
    const std::string_view whole = text.text();
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t end = end_of_grapheme(whole, at);
      replace_grapheme(whole.substr(at, end - at), written);
      at = end;
    }
    text.rewrite(written);
  }

 private:
  static std::size_t end_of_grapheme(std::string_view whole, std::size_t at) {
    utf8proc_int32_t state = 0;
    auto before = static_cast<utf8proc_int32_t>(character_at(whole, at));
    at += character_length(whole[at]);
    for (; at < whole.size(); at += character_length(whole[at])) {
      const auto next = static_cast<utf8proc_int32_t>(character_at(whole, at));
      if (utf8proc_grapheme_break_stateful(before, next, &state)) break;
      before = next;
    }
    return at;
  }

  // A short grapheme as a whole where there is a replacement, else each of its characters.
  void replace_grapheme(std::string_view grapheme, std::vector<Rewritten>& written) const {
    constexpr std::size_t kShort = 6;
    if (grapheme.size() < kShort) {
      if (const auto replacement = replacement_of(grapheme)) return write(grapheme, *replacement, written);
    }
    for (std::size_t at = 0; at < grapheme.size(); at += character_length(grapheme[at])) {
      const std::string_view one = grapheme.substr(at, character_length(grapheme[at]));
      if (const auto replacement = replacement_of(one)) {
        write(one, *replacement, written);
      } else {
        written.push_back({.character = character_at(one, 0)});
      }
    }
  }

  static void write(std::string_view old, std::string_view replacement, std::vector<Rewritten>& written) {
    const auto had = static_cast<int>(count_characters(old));
    const auto has = static_cast<int>(count_characters(replacement));
    int n = 0;
    for_each_character(replacement,
                       [&](char32_t c) { written.push_back({.character = c, .change = n++ < had ? 0 : 1}); });
    // What was removed goes with the last character, as far as there is one.
    if (has < had && !written.empty()) written.back().change += has - had;
  }

  // That of the shortest beginning of `key` which the table has, as its other readers take it.
  std::optional<std::string_view> replacement_of(std::string_view key) const {
    std::uint32_t place = 0;
    if (units_.empty()) return std::nullopt;
    place ^= offset_of(units_[place]);
    for (const char byte : key) {
      const auto label = static_cast<unsigned char>(byte);
      if (label == 0) return std::nullopt;
      place ^= label;
      if (place >= units_.size() || label_of(units_[place]) != label) return std::nullopt;
      const std::uint32_t unit = units_[place];
      place ^= offset_of(unit);
      if (!has_leaf(unit)) continue;
      if (place >= units_.size()) return std::nullopt;
      const std::size_t begin = units_[place] & 0x7FFFFFFFU;
      if (begin >= replacements_.size()) return std::nullopt;
      return std::string_view(replacements_).substr(begin, replacements_.find('\0', begin) - begin);
    }
    return std::nullopt;
  }

  static std::uint32_t offset_of(std::uint32_t unit) noexcept { return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U); }
  static std::uint32_t label_of(std::uint32_t unit) noexcept { return unit & ((1U << 31U) | 0xFFU); }
  static bool has_leaf(std::uint32_t unit) noexcept { return ((unit >> 8U) & 1U) != 0; }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t n = 4; n-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + n]);
  return value;
}

}  // namespace

NormalizerPtr read_precompiled(const JsonField& field) {
  field.require_only({"type", "precompiled_charsmap"});
  const auto table = field.find("precompiled_charsmap");
  if (!table) return std::make_shared<Precompiled>(std::vector<std::uint32_t>(), std::string());
  constexpr std::size_t kUnit = 4;
  const auto bytes = from_base64(table->string());
  if (!bytes) table->fail("base64");
  if (bytes->empty()) return std::make_shared<Precompiled>(std::vector<std::uint32_t>(), std::string());
  const std::size_t size = bytes->size() < kUnit ? 0 : little_endian(*bytes, 0);
  if (size == 0 || size % kUnit != 0 || size > bytes->size() - kUnit) {
    table->fail("a double array of whole units within the table",
                std::to_string(size) + " of " + std::to_string(bytes->size()) + " bytes");
  }
  std::vector<std::uint32_t> units(size / kUnit);
  for (std::size_t n = 0; n < units.size(); ++n) units[n] = little_endian(*bytes, kUnit * (n + 1));
  std::string replacements = bytes->substr(kUnit + size);
  if (with_replacements(replacements) != replacements) table->fail("replacements in UTF-8", "other bytes");
  return std::make_shared<Precompiled>(std::move(units), std::move(replacements));
}

}  // namespace qkv::text
