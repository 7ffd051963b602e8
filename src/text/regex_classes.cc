// Patterns of Oniguruma, which tokenizers are written for, as PCRE2 and the regular expressions of browsers read them.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "qkv/error.h"
#include "text/character_set.h"
#include "text/characters.h"
#include "text/regex.h"

namespace qkv::text {
namespace {

constexpr std::size_t kDeepestBrackets = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A pattern that is read from its begin.
class PatternText {
 public:
  explicit PatternText(std::string_view text) : text_(text) {}

  [[nodiscard]] bool is_at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] bool is_next(std::string_view what) const { return rest().starts_with(what); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool take(std::string_view what) {
    if (!is_next(what)) return false;
    at_ += what.size();
    return true;
  }
  std::string_view take_bytes(std::size_t count) {
    const std::string_view taken = rest().substr(0, count);
    at_ += taken.size();
    return taken;
  }
  std::string_view take_character() { return is_at_end() ? "" : take_bytes(character_length(text_[at_])); }
  /// Up to and with `end`; throws where there is none.
  std::string_view take_through(std::string_view end, const char* what) {
    const std::size_t place = rest().find(end);
    if (place == std::string_view::npos) throw Error(std::string(what) + " without " + std::string(end));
    return take_bytes(place + end.size());
  }
  template <class Is>
  std::string_view take_while(const Is& is, std::size_t most) {
    std::size_t count = 0;
    while (count < most && count < rest().size() && is(rest()[count])) ++count;
    return take_bytes(count);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Behind `\p` or `\P`; nullopt where the letter stands for itself.
std::optional<CharacterSet> take_property(PatternText& text, bool negated) {
  if (!text.take("{")) return std::nullopt;
  std::string_view name = text.take_through("}", "\\p{");
  name.remove_suffix(1);
  if (name.starts_with('^')) {
    name.remove_prefix(1);
    negated = !negated;
  }
  CharacterSet set = set_of_property(name);
  if (negated) set.negate();
  return set;
}

/// The number of a character behind `\x`, `\u` and `\o`, as PCRE2 writes it in brackets and outside.
std::string take_number(PatternText& text, char letter) {
  constexpr std::size_t kUnicode = 4;
  constexpr std::size_t kDigitsOfByte = 2;
  if (letter == 'o' || (letter == 'x' && text.is_next("{"))) {
    if (!text.is_next("{")) return "o";
    return std::string{'\\', letter} + std::string(text.take_through("}", "a number of a character"));
  }
  const std::string digits(text.take_while(is_hexadecimal, letter == 'u' ? kUnicode : kDigitsOfByte));
  const std::string whole = std::string{'\\', letter} + digits;
  if (digits.empty() || (letter == 'u' && digits.size() < kUnicode)) throw Error(whole + " without its digits");
  const bool is_byte = letter == 'x' && digits.size() == kDigitsOfByte && digits[0] >= '8';
  if (is_byte) throw Error(whole + ", a byte of a character; write \\x{…}");
  return "\\x{" + digits + "}";
}

/// What brackets hold, by their own rules.
class Brackets {
 public:
  explicit Brackets(PatternText& text) : text_(text) {}

  /// Behind the first bracket.
  CharacterSet read(std::size_t depth = 0) {
    if (depth > kDeepestBrackets) throw Error("brackets more than " + std::to_string(kDeepestBrackets) + " deep");
    const bool negated = text_.take("^");
    CharacterSet all;
    CharacterSet set;
    bool intersects = false;
    for (bool is_first = true; !ends(is_first); is_first = false) {
      if (text_.take("&&")) {
        join(all, set, intersects);
        set = CharacterSet();
        intersects = true;
      } else {
        add_next(set, depth);
      }
    }
    join(all, set, intersects);
    if (negated) all.negate();
    return all;
  }

 private:
  // A character as it is written in brackets, or a set.
  struct Item {
    std::string character = {};
    CharacterSet set = {};
  };

  static void join(CharacterSet& all, const CharacterSet& set, bool intersects) {
    if (intersects) {
      all.keep_those_of(set);
    } else {
      all = set;
    }
  }

  bool ends(bool is_first) {
    if (text_.is_at_end()) throw Error("[ without ]");
    const bool is_plain = is_first && text_.rest().find(']', 1) != std::string_view::npos;
    return !is_plain && text_.take("]");
  }

  void add_next(CharacterSet& set, std::size_t depth) {
    if (text_.is_next("[")) {
      set.add(nested(depth));
      return;
    }
    const Item first = item();
    const bool is_range = !first.character.empty() && text_.peek() == '-' && text_.peek(1) != ']' &&
                          text_.peek(1) != '[' && text_.peek(1) != '\0' && !text_.rest().substr(1).starts_with("&&");
    add(set, first);
    if (!is_range) return;
    text_.take("-");
    const Item last = item();
    set.add(last.character.empty() ? R"(\-)" : "-");
    add(set, last);
  }

  static void add(CharacterSet& set, const Item& item) {
    if (item.character.empty()) {
      set.add(item.set);
    } else {
      set.add(item.character);
    }
  }

  CharacterSet nested(std::size_t depth) {
    const std::size_t close = text_.is_next("[:") ? text_.rest().find(":]") : std::string_view::npos;
    if (close != std::string_view::npos) {
      if (auto set = set_of_posix(text_.rest().substr(2, close - 2))) {
        text_.take_bytes(close + 2);
        return *std::move(set);
      }
    }
    text_.take("[");
    return read(depth + 1);
  }

  Item item() {
    if (!text_.take("\\")) {
      const std::string plain(text_.take_character());
      const bool is_mark = plain.find_first_of("[]^-\\") != std::string::npos;
      return {.character = is_mark ? "\\" + plain : plain};
    }
    if (text_.is_at_end()) throw Error("\\ at the end");
    const std::string letter(text_.take_character());
    const char c = letter.front();
    if (c == 'p' || c == 'P') {
      if (auto set = take_property(text_, c == 'P')) return {.set = *std::move(set)};
    }
    if (auto set = set_of_escape(c, WordPlace::in_brackets)) return {.set = *std::move(set)};
    return {.character = character_of(letter)};
  }

  std::string character_of(const std::string& letter) {
    const char c = letter.front();
    if (c == 'b') return R"(\x{8})";
    if (c == 'v') return R"(\x{B})";
    if (c == 'x' || c == 'u' || c == 'o') return take_number(text_, c);
    if (c == 'c') return "\\c" + std::string(text_.take_character());
    if (std::string_view("tnrfae").find(c) != std::string_view::npos) return "\\" + letter;
    if (is_digit(c)) return "\\" + letter + std::string(text_.take_while(is_digit, 2));
    return is_ascii_letter(c) ? letter : "\\" + letter;
  }

  PatternText& text_;
};

class Translation {
 public:
  explicit Translation(std::string_view pattern) : text_(pattern) {}

  std::string made() {
    while (!text_.is_at_end()) add_next();
    if (groups_.size() > 1) throw Error("missing closing parenthesis");
    made_.append(groups_.back().closes, ')');
    return std::move(made_);
  }

 private:
  struct Group {
    std::size_t begin = 0;
    std::size_t closes = 0;  // of groups that options for the rest of this one have opened
    bool extended = false;
  };

  void add_next() {
    if (add_quantifiers()) return;
    if (groups_.back().extended && text_.is_next("#")) {
      const std::size_t end = text_.rest().find('\n');
      text_.take_bytes(end == std::string_view::npos ? text_.rest().size() : end);
      return;
    }
    if (text_.is_next("(")) return open_group();
    const std::size_t begin = made_.size();
    if (text_.is_next(")") && groups_.size() > 1) {
      text_.take(")");
      return close_group();
    }
    if (text_.take("[")) {
      made_ += Brackets(text_).read().regex();
    } else if (text_.take("\\")) {
      made_ += escape();
    } else {
      made_ += text_.take_character();
    }
    atom_ = begin;
  }

  void close_group() {
    const Group group = groups_.back();
    groups_.pop_back();
    made_.append(group.closes + 1, ')');
    atom_ = group.begin;
  }

  void open_group() {
    const std::size_t begin = made_.size();
    if (text_.is_next("(*")) throw Error("(*, a call");
    if (text_.take("(?#")) {
      text_.take_through(")", "(?#");
      return;
    }
    const bool extended = groups_.back().extended;
    if (text_.is_next("(?") && (is_ascii_letter(text_.peek(2)) || text_.peek(2) == '-')) return add_options(begin);
    groups_.push_back({.begin = begin, .extended = extended});
    made_ += text_.take_bytes(1);
    if (!text_.is_next("?")) return;
    if (text_.take("?(")) {
      made_ += "?(" + std::string(text_.take_through(")", "(?("));
      return;
    }
    constexpr std::array<std::string_view, 6> kHeads = {"?:", "?=", "?!", "?>", "?<=", "?<!"};
    for (const std::string_view head : kHeads) {
      if (!text_.take(head)) continue;
      made_ += head;
      return;
    }
    if (text_.is_next("?<")) {
      made_ += text_.take_through(">", "(?<");
    } else if (text_.is_next("?'")) {
      made_ += "?'";
      text_.take("?'");
      made_ += text_.take_through("'", "(?'");
    } else {
      throw Error("(" + std::string(text_.rest().substr(0, 2)) + ", a group that is not translated");
    }
  }

  // `(?i:…)`, or `(?i)` for the rest of the group, alternatives and all. Their m is PCRE2's s.
  void add_options(std::size_t begin) {
    text_.take("(?");
    const std::string_view letters =
        text_.take_while([](char c) { return is_ascii_letter(c) || c == '-'; }, text_.rest().size());
    std::string options;
    bool extended = groups_.back().extended;
    bool off = false;
    for (const char c : letters) {
      const bool is_known = c == '-' || c == 'i' || c == 'm' || c == 'x';
      if (!is_known) throw Error("(?" + std::string(letters) + ", options but i, m, x");
      off = off || c == '-';
      if (c == 'x') extended = !off;
      options += c == 'm' ? 's' : c;
    }
    made_ += "(?" + options + ":";
    if (text_.take(":")) {
      groups_.push_back({.begin = begin, .extended = extended});
    } else if (text_.take(")")) {
      ++groups_.back().closes;
      groups_.back().extended = extended;
      atom_ = made_.size();
    } else {
      throw Error("(?" + std::string(letters) + " without ) or :");
    }
  }

  // One behind the other are quantifiers of what is quantified; PCRE2 has other meanings for some of these.
  bool add_quantifiers() {
    bool some = false;
    while (!text_.is_at_end()) {
      const bool is_sign = text_.is_next("*") || text_.is_next("+") || text_.is_next("?");
      const std::string interval = is_sign ? std::string() : taken_interval();
      if (!is_sign && interval.empty()) break;
      if (some) {
        made_.insert(atom_, "(?:");
        made_ += ')';
      }
      some = true;
      made_ += is_sign ? std::string(text_.take_bytes(1)) : interval;
      const bool may_be_lazy = is_sign || interval.find(',') != std::string::npos;
      const bool may_be_possessive = is_sign;
      if ((may_be_lazy && text_.is_next("?")) || (may_be_possessive && text_.is_next("+"))) {
        made_ += text_.take_bytes(1);
      }
    }
    return some;
  }

  // `{2}`, `{2,}`, `{,2}`, `{2,3}`; empty, and nothing is taken, where it is none.
  std::string taken_interval() {
    if (!text_.is_next("{")) return {};
    PatternText ahead = text_;
    ahead.take("{");
    const std::size_t all = ahead.rest().size();
    const std::string least(ahead.take_while(is_digit, all));
    const bool has_comma = ahead.take(",");
    const std::string most(ahead.take_while(is_digit, all));
    if (!ahead.take("}") || (least.empty() && most.empty()) || (least.empty() && !has_comma)) return {};
    text_ = ahead;
    return "{" + (least.empty() ? "0" : least) + (has_comma ? "," : "") + most + "}";
  }

  std::string escape() {
    if (text_.is_at_end()) throw Error("\\ at the end");
    const std::string letter(text_.take_character());
    const char c = letter.front();
    if (c == 'p' || c == 'P') {
      const auto set = take_property(text_, c == 'P');
      return set ? short_form(set->regex()) : letter;
    }
    if (c == 'd' || c == 'D') return "\\" + letter;
    if (const auto set = set_of_escape(c, WordPlace::outside)) return set->regex();
    if (c == 'b' || c == 'B') return border(c == 'b');
    if (c == 'x' || c == 'u' || c == 'o') return take_number(text_, c);
    if (c == 'k' || c == 'g') return "\\" + letter + name_behind();
    if (c == 'c') return "\\c" + std::string(text_.take_character());
    if (c == 'v') return R"(\x{B})";
    if (c == 'O') return R"(\p{Any})";
    if (c == 'y' || c == 'Y') throw Error("\\" + letter + ", a border of graphemes or words");
    if ((c == 'M' || c == 'C') && text_.is_next("-")) throw Error("\\" + letter + "-, a byte");
    constexpr std::string_view kSame = "tnrfaeAzZGKRXN";
    return is_ascii_letter(c) && kSame.find(c) == std::string_view::npos ? letter : "\\" + letter;
  }

  // `[\p{L}]` as `\p{L}`, the pattern as it came.
  static std::string short_form(const std::string& set) {
    const bool negated = set.starts_with(R"([^\p{)");
    const std::size_t begin = negated ? 2 : 1;
    if (!set.starts_with(R"([\p{)") && !negated) return set;
    if (set.find('}') + 2 != set.size()) return set;
    return (negated ? R"(\P)" : R"(\p)") + set.substr(begin + 2, set.size() - begin - 3);
  }

  std::string name_behind() {
    if (text_.is_next("<")) return std::string(text_.take_through(">", "a name"));
    if (!text_.take("'")) return {};
    return "'" + std::string(text_.take_through("'", "a name"));
  }

  static std::string border(bool is_one) {
    const std::string word = set_of_escape('w', WordPlace::outside)->regex();
    const std::string behind = "(?<=" + word + ")";
    const std::string not_behind = "(?<!" + word + ")";
    const std::string ahead = "(?=" + word + ")";
    const std::string not_ahead = "(?!" + word + ")";
    return is_one ? "(?:" + behind + not_ahead + "|" + not_behind + ahead + ")"
                  : "(?:" + behind + ahead + "|" + not_behind + not_ahead + ")";
  }

  PatternText text_;
  std::string made_;
  std::vector<Group> groups_ = {{}};
  std::size_t atom_ = 0;  // where what a quantifier is of begins
};

}  // namespace

std::string in_pcre2(std::string_view pattern) { return Translation(pattern).made(); }

}  // namespace qkv::text
