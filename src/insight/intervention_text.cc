// Interventions as text, and back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/number_text.h"
#include "core/place_text.h"
#include "qkv/insight/interventions.h"

namespace qkv {
namespace {

constexpr const char* kParse = "parse_intervention";
constexpr std::array<AttentionSite, 3> kSitesByName = {AttentionSite::tokens, AttentionSite::source,
                                                       AttentionSite::cross};
constexpr std::array<std::pair<std::string_view, PatternSource>, 4> kPatternWords = {
    {{"uniform", PatternSource::uniform},
     {"previous", PatternSource::previous},
     {"self", PatternSource::self},
     {"text", PatternSource::other}}};

constexpr std::array<std::pair<std::string_view, HeadValue>, 4> kValueWords = {
    {{"q", HeadValue::q}, {"k", HeadValue::k}, {"v", HeadValue::v}, {"out", HeadValue::out}}};

[[noreturn]] void refuse_text(const char* kind, const std::string& expected, std::string_view got) {
  throw InvalidArgument(kParse, kind, expected, fmt::format("\"{}\"", got));
}

// A count from 0; "*" gives none where it may stand.
bool read_count(std::string_view text, std::optional<std::int64_t>& value) {
  if (text == "*") return true;
  value = core::number_from<std::int64_t>(text);
  return value && *value >= 0;
}

HeadsAt read_heads(const char* kind, std::string_view text) {
  const std::string expected = "LAYER.HEAD such as 1.0 or 1.*, after source: or cross: of another site";
  HeadsAt place;
  std::string_view rest = text;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    bool is_site = false;
    for (const AttentionSite site : kSitesByName) {
      if (name_of(site) != text.substr(0, colon)) continue;
      place.site = site;
      is_site = true;
    }
    if (!is_site) refuse_text(kind, expected, text);
    rest.remove_prefix(colon + 1);
  }
  const auto head = core::head_from(rest);
  if (!head) refuse_text(kind, expected, text);
  place.layer = head->layer;
  place.head = head->head;
  return place;
}

Intervention read_pattern(std::string_view text) {
  const std::string expected = "LAYER.HEAD=uniform, previous, self, text, or the number of a key";
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) refuse_text("pattern", expected, text);
  ReplacedPattern pattern{.at = read_heads("pattern", text.substr(0, equals))};
  const std::string_view word = text.substr(equals + 1);
  for (const auto& [name, source] : kPatternWords) {
    if (name != word) continue;
    pattern.source = source;
    return pattern;
  }
  std::optional<std::int64_t> key;
  if (word == "*" || !read_count(word, key)) refuse_text("pattern", expected, text);
  pattern.source = PatternSource::key;
  pattern.key = *key;
  return pattern;
}

Intervention read_cut(std::string_view text) {
  const std::size_t equals = text.find('=');
  CutEdge cut;
  if (equals != std::string_view::npos) cut.at = read_heads("cut", text.substr(0, equals));
  const std::string_view edge = equals == std::string_view::npos ? text : text.substr(equals + 1);
  const auto numbers = core::numbers_from<std::int64_t>(edge, ':');
  if (!numbers || numbers->size() != 2 || numbers->front() < 0 || numbers->back() < 0) {
    refuse_text("cut", "QUERY:KEY, two places such as 7:3, or LAYER.HEAD=QUERY:KEY", text);
  }
  cut.query = numbers->front();
  cut.key = numbers->back();
  return cut;
}

// A number at the end is a head's, unless it is a block's.
Intervention read_patch(std::string_view text) {
  const std::string expected = "NAME, NAME.HEAD or NAME@PLACE, such as blocks.1@5 or blocks.1.attn.heads.3";
  PatchedValue patch;
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos && (text.substr(at + 1) == "*" || !read_count(text.substr(at + 1), patch.place))) {
    refuse_text("patch", expected, text);
  }
  std::string_view name = text.substr(0, at);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && !name.substr(0, dot).ends_with("blocks")) {
    const auto head = core::number_from<std::int64_t>(name.substr(dot + 1));
    if (head && *head >= 0) {
      patch.head = head;
      name = name.substr(0, dot);
    }
  }
  if (name.empty()) refuse_text("patch", expected, text);
  patch.name = name;
  return patch;
}

// 1.0=k:2,5:0.7
Intervention read_number(std::string_view text) {
  const std::string expected = "LAYER.HEAD=q, k, v or out:PLACE,COLUMN:NUMBER, such as 1.0=k:2,5:0.7";
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) refuse_text("set", expected, text);
  SetNumber number{.at = read_heads("set", text.substr(0, equals))};
  const auto written = core::number_at_place_from(text.substr(equals + 1));
  if (!number.at.layer || !number.at.head || !written) refuse_text("set", expected, text);
  const auto word = std::ranges::find(kValueWords, written->place.name, [](const auto& one) { return one.first; });
  if (word == kValueWords.end()) refuse_text("set", expected, text);
  number.value = word->second;
  number.place = written->place.row;
  number.column = written->place.column;
  number.to = written->to;
  return number;
}

std::string words_of(const std::optional<std::int64_t>& count) { return count ? fmt::format("{}", *count) : "*"; }

std::string words_of(const HeadsAt& place) {
  const std::string site = place.site == AttentionSite::tokens ? "" : fmt::format("{}:", name_of(place.site));
  return fmt::format("{}{}.{}", site, words_of(place.layer), words_of(place.head));
}

struct InterventionWords {
  std::string operator()(const RemovedHead& removed) const { return "remove " + words_of(removed.at); }
  std::string operator()(const ReplacedPattern& pattern) const {
    std::string word = fmt::format("{}", pattern.key);
    for (const auto& [name, source] : kPatternWords) {
      if (source == pattern.source) word = name;
    }
    return fmt::format("pattern {}={}", words_of(pattern.at), word);
  }
  std::string operator()(const CutEdge& cut) const {
    const std::string heads = cut.at == HeadsAt{} ? "" : words_of(cut.at) + "=";
    return fmt::format("cut {}{}:{}", heads, cut.query, cut.key);
  }
  std::string operator()(const PatchedValue& patch) const {
    return fmt::format("patch {}{}{}", patch.name, patch.head ? fmt::format(".{}", *patch.head) : "",
                       patch.place ? fmt::format("@{}", *patch.place) : "");
  }
  std::string operator()(const SetNumber& number) const {
    const auto word = std::ranges::find(kValueWords, number.value, [](const auto& one) { return one.second; });
    return fmt::format("set {}={}:{},{}:{}", words_of(number.at), word->first, number.place, number.column, number.to);
  }
  std::string operator()(const FrozenNorms& /*norms*/) const { return "freeze norms"; }
};

}  // namespace

Intervention parse_intervention(std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  const std::string_view rest = space == std::string_view::npos ? "" : text.substr(space + 1);
  if (word == "remove") return RemovedHead{read_heads("remove", rest)};
  if (word == "pattern") return read_pattern(rest);
  if (word == "cut") return read_cut(rest);
  if (word == "patch") return read_patch(rest);
  if (word == "set") return read_number(rest);
  if (word == "freeze" && rest == "norms") return FrozenNorms{};
  if (word == "freeze") refuse_text("freeze", "norms", rest);
  refuse_text("intervention", "remove, pattern, cut, patch, set or freeze norms, and what it is about", text);
}

std::string to_string(const Intervention& intervention) { return std::visit(InterventionWords(), intervention); }

bool reads_other_text(const Intervention& intervention) {
  const auto* pattern = std::get_if<ReplacedPattern>(&intervention);
  return std::holds_alternative<PatchedValue>(intervention) ||
         (pattern != nullptr && pattern->source == PatternSource::other);
}

}  // namespace qkv
