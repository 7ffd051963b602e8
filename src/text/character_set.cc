#include "text/character_set.h"

#include <algorithm>
#include <array>
#include <utility>

#include "qkv/error.h"

namespace qkv::text {
namespace {

constexpr std::string_view kBrackets = "[^";
constexpr std::string_view kSpaces = R"(\t-\r\x{85}\p{Z})";
constexpr std::string_view kWords =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
constexpr std::string_view kLatinNumbers = R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";
constexpr std::string_view kHexadecimal = "0-9A-Fa-f";
constexpr std::string_view kGraphs = R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})";

using Names = std::pair<std::string_view, std::string_view>;

// "word" is not among them: it is \w.
constexpr std::array<Names, 13> kPosix = {{{"alnum", R"(\p{Alphabetic}\p{Nd})"},
                                           {"alpha", R"(\p{Alphabetic})"},
                                           {"ascii", R"(\x{0}-\x{7F})"},
                                           {"blank", R"(\t\p{Zs})"},
                                           {"cntrl", R"(\p{Cc})"},
                                           {"digit", R"(\p{Nd})"},
                                           {"graph", kGraphs},
                                           {"lower", R"(\p{Lowercase})"},
                                           {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
                                           {"punct", R"(\p{P}\p{S})"},
                                           {"space", kSpaces},
                                           {"upper", R"(\p{Uppercase})"},
                                           {"xdigit", kHexadecimal}}};

constexpr std::array<Names, 43> kCategories = {{{"any", R"(\p{Any})"},
                                                {"assigned", R"(\P{Cn})"},
                                                {"punct", R"(\p{P})"},
                                                {"other", R"(\p{C})"},
                                                {"control", R"(\p{Cc})"},
                                                {"format", R"(\p{Cf})"},
                                                {"unassigned", R"(\p{Cn})"},
                                                {"privateuse", R"(\p{Co})"},
                                                {"surrogate", R"(\p{Cs})"},
                                                {"letter", R"(\p{L})"},
                                                {"lc", R"(\p{L&})"},
                                                {"casedletter", R"(\p{L&})"},
                                                {"lowercaseletter", R"(\p{Ll})"},
                                                {"modifierletter", R"(\p{Lm})"},
                                                {"otherletter", R"(\p{Lo})"},
                                                {"titlecaseletter", R"(\p{Lt})"},
                                                {"uppercaseletter", R"(\p{Lu})"},
                                                {"mark", R"(\p{M})"},
                                                {"combiningmark", R"(\p{M})"},
                                                {"spacingmark", R"(\p{Mc})"},
                                                {"enclosingmark", R"(\p{Me})"},
                                                {"nonspacingmark", R"(\p{Mn})"},
                                                {"number", R"(\p{N})"},
                                                {"decimalnumber", R"(\p{Nd})"},
                                                {"letternumber", R"(\p{Nl})"},
                                                {"othernumber", R"(\p{No})"},
                                                {"punctuation", R"(\p{P})"},
                                                {"connectorpunctuation", R"(\p{Pc})"},
                                                {"dashpunctuation", R"(\p{Pd})"},
                                                {"closepunctuation", R"(\p{Pe})"},
                                                {"finalpunctuation", R"(\p{Pf})"},
                                                {"initialpunctuation", R"(\p{Pi})"},
                                                {"otherpunctuation", R"(\p{Po})"},
                                                {"openpunctuation", R"(\p{Ps})"},
                                                {"symbol", R"(\p{S})"},
                                                {"currencysymbol", R"(\p{Sc})"},
                                                {"modifiersymbol", R"(\p{Sk})"},
                                                {"mathsymbol", R"(\p{Sm})"},
                                                {"othersymbol", R"(\p{So})"},
                                                {"separator", R"(\p{Z})"},
                                                {"lineseparator", R"(\p{Zl})"},
                                                {"paragraphseparator", R"(\p{Zp})"},
                                                {"spaceseparator", R"(\p{Zs})"}}};

// Properties that are yes or no; any other name is a script.
constexpr std::array<std::string_view, 40> kProperties = {"alphabetic",
                                                          "uppercase",
                                                          "lowercase",
                                                          "whitespace",
                                                          "math",
                                                          "hexdigit",
                                                          "asciihexdigit",
                                                          "dash",
                                                          "diacritic",
                                                          "extender",
                                                          "ideographic",
                                                          "unifiedideograph",
                                                          "radical",
                                                          "quotationmark",
                                                          "terminalpunctuation",
                                                          "sentenceterminal",
                                                          "softdotted",
                                                          "joincontrol",
                                                          "variationselector",
                                                          "patternsyntax",
                                                          "patternwhitespace",
                                                          "noncharactercodepoint",
                                                          "regionalindicator",
                                                          "logicalorderexception",
                                                          "deprecated",
                                                          "defaultignorablecodepoint",
                                                          "bidicontrol",
                                                          "cased",
                                                          "caseignorable",
                                                          "idstart",
                                                          "idcontinue",
                                                          "xidstart",
                                                          "xidcontinue",
                                                          "graphemebase",
                                                          "graphemeextend",
                                                          "emoji",
                                                          "emojipresentation",
                                                          "emojimodifier",
                                                          "emojimodifierbase",
                                                          "extendedpictographic"};

template <std::size_t count>
std::optional<CharacterSet> named(const std::array<Names, count>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name, &Names::first);
  return found == names.end() ? std::nullopt : std::optional(CharacterSet(std::string(found->second)));
}

CharacterSet words_at(WordPlace place) {
  CharacterSet words{std::string(kWords)};
  if (place == WordPlace::outside) words.add(kLatinNumbers);
  return words;
}

// As names of properties are compared: without regard to case, blanks, hyphens and low lines.
std::string loose(std::string_view name) {
  std::string made;
  for (const char c : name) {
    if (c == ' ' || c == '_' || c == '-') continue;
    made += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return made;
}

bool is_block(std::string_view name) {
  return name.starts_with("in") && !name.starts_with("inherited") && !name.starts_with("inscriptional");
}

// "lu" as "Lu".
bool is_short_category(std::string_view name) {
  constexpr std::string_view kFirst = "clmnpsz";
  constexpr std::string_view kSecond = "cfnosklmtudei&p";
  return (name.size() == 1 || (name.size() == 2 && kSecond.find(name[1]) != std::string_view::npos)) &&
         kFirst.find(name[0]) != std::string_view::npos;
}

// Of one property or of \d, in brackets; empty for others.
std::string opposite_of(std::string_view members) {
  if (members == R"(\d)") return R"(\D)";
  const bool is_one = members.starts_with(R"(\p{)") && members.find('}') + 1 == members.size();
  return is_one ? "\\P" + std::string(members.substr(2)) : std::string();
}

std::string look_ahead(const std::string& set) {
  return set.starts_with(kBrackets) ? "(?![" + set.substr(kBrackets.size()) + ")" : "(?=" + set + ")";
}

}  // namespace

void CharacterSet::add(const CharacterSet& other) {
  const std::string opposite = other.negated_ && other.others_.empty() ? opposite_of(other.members_) : "";
  if (!opposite.empty()) {
    members_ += opposite;
  } else if (other.negated_) {
    others_.push_back(other.regex());
  } else {
    members_ += other.members_;
    others_.insert(others_.end(), other.others_.begin(), other.others_.end());
  }
}

void CharacterSet::negate() { negated_ = !negated_; }

void CharacterSet::keep_those_of(const CharacterSet& other) {
  const std::string both = "(?:" + look_ahead(other.regex()) + regex() + ")";
  *this = CharacterSet();
  others_.push_back(both);
}

std::string CharacterSet::regex() const {
  if (others_.empty() && !members_.empty()) return (negated_ ? "[^" : "[") + members_ + "]";
  std::vector<std::string> parts;
  if (!members_.empty()) parts.push_back("[" + members_ + "]");
  parts.insert(parts.end(), others_.begin(), others_.end());
  const auto joined = [&] {
    std::string all;
    for (const std::string& part : parts) all += (all.empty() ? "" : "|") + part;
    return all;
  };
  if (!negated_) return parts.size() == 1 ? parts.front() : "(?:" + joined() + ")";
  // Everything outside the parts. Outside a part that is itself negated are its members.
  std::string base = R"(\p{Any})";
  const auto negated = std::ranges::find_if(parts, [](const std::string& part) { return part.starts_with(kBrackets); });
  if (negated != parts.end()) {
    base = "[" + negated->substr(kBrackets.size());
    parts.erase(negated);
  }
  return parts.empty() ? base : "(?:(?!" + joined() + ")" + base + ")";
}

std::optional<CharacterSet> set_of_escape(char letter, WordPlace place) {
  const bool negated = letter >= 'A' && letter <= 'Z';
  const char small = negated ? static_cast<char>(letter - 'A' + 'a') : letter;
  std::optional<CharacterSet> set;
  if (small == 's') set = CharacterSet(std::string(kSpaces));
  if (small == 'w') set = words_at(place);
  if (small == 'd') set = CharacterSet(R"(\d)");
  if (small == 'h') set = CharacterSet(std::string(kHexadecimal));
  if (set && negated) set->negate();
  return set;
}

std::optional<CharacterSet> set_of_posix(std::string_view name) {
  const bool negated = name.starts_with('^');
  if (negated) name.remove_prefix(1);
  std::optional<CharacterSet> set = name == "word" ? words_at(WordPlace::in_brackets) : named(kPosix, name);
  if (set && negated) set->negate();
  return set;
}

CharacterSet set_of_property(std::string_view name) {
  const std::string key = loose(name);
  if (key == "word") return words_at(WordPlace::outside);
  if (const auto category = named(kCategories, key)) return *category;
  if (const auto posix = named(kPosix, key)) return *posix;
  if (key.empty() || is_block(key) || key.find_first_of("=:^{}\\[]") != std::string::npos) {
    throw Error("\\p{" + std::string(name) + "}, which is no category, script or property");
  }
  if (is_short_category(key)) {
    std::string upper = key;
    upper[0] = static_cast<char>(key[0] - 'a' + 'A');
    return CharacterSet("\\p{" + upper + "}");
  }
  const bool is_property = std::ranges::find(kProperties, key) != kProperties.end();
  // PCRE2 takes a script alone for its Script_Extensions, which punctuation beside it has, too.
  return CharacterSet((is_property ? "\\p{" : "\\p{sc=") + std::string(name) + "}");
}

}  // namespace qkv::text
