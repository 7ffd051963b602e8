// Replacements by SentencePiece's table, as the `tokenizers` library applies it.
#include <utf8proc.h>

#include <optional>

#include "text/base64.h"
#include "text/chars_map.h"
#include "text/growth.h"
#include "text/normalizer.h"

namespace qkv::text {
namespace {

class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(CharsMap map) : map_(std::move(map)) {}

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
    require_growth(written.size() + replacement.size());
    const auto had = static_cast<int>(count_characters(old));
    const auto has = static_cast<int>(count_characters(replacement));
    int n = 0;
    for_each_character(replacement,
                       [&](char32_t c) { written.push_back({.character = c, .change = n++ < had ? 0 : 1}); });
    // What was removed goes with the last character, as far as there is one.
    if (has < had && !written.empty()) written.back().change += has - had;
  }

  // That of the shortest beginning of `key` which the table has, as its other readers take it.
  [[nodiscard]] std::optional<std::string_view> replacement_of(std::string_view key) const {
    const auto match = map_.shortest(key);
    return match ? std::optional(match->replacement) : std::nullopt;
  }

  CharsMap map_;
};

}  // namespace

NormalizerPtr read_precompiled(const JsonField& field) {
  field.require_only({"type", "precompiled_charsmap"});
  const auto table = field.find("precompiled_charsmap");
  if (!table) return std::make_shared<Precompiled>(CharsMap());
  const auto bytes = from_base64(table->string());
  if (!bytes) table->fail("base64");
  return std::make_shared<Precompiled>(CharsMap(*bytes, table->place()));
}

}  // namespace qkv::text
