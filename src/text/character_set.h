// Sets of characters, as Oniguruma's classes name them and as PCRE2 writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::text {

/// A union of what may stand in brackets and of expressions of one character; or all others.
class CharacterSet {
 public:
  CharacterSet() = default;
  /// `members` may stand in brackets of PCRE2 as they are.
  explicit CharacterSet(std::string members) : members_(std::move(members)) {}

  void add(std::string_view members) { members_ += members; }
  void add(const CharacterSet& other);
  void negate();
  void keep_those_of(const CharacterSet& other);
  /// An expression of one character.
  [[nodiscard]] std::string regex() const;

 private:
  std::string members_;
  std::vector<std::string> others_;
  bool negated_ = false;
};

/// \w inside of brackets is another set than outside of them.
enum class WordPlace : std::uint8_t { outside, in_brackets };

/// \s, \w, \d, \h and \S, \W, \D, \H; nullopt for another letter.
[[nodiscard]] std::optional<CharacterSet> set_of_escape(char letter, WordPlace place);
/// [:alpha:]; nullopt for a name that is none.
[[nodiscard]] std::optional<CharacterSet> set_of_posix(std::string_view name);
/// \p{name}: a category, a script, a class or a property. Throws Error for what PCRE2 has no name for.
[[nodiscard]] CharacterSet set_of_property(std::string_view name);

}  // namespace qkv::text
