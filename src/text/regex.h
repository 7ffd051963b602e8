// Regular expressions of tokenizer.json, by PCRE2 (UTF, Unicode properties, compiled to machine code).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::text {

/// Bytes [begin, end) of a text that match, or that lie between matches.
struct Part {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool matches = false;
};

/// The patterns are written for Oniguruma; what means something else in PCRE2 is translated.
/// Immutable.
class Regex {
 public:
  /// `place` names the pattern in errors. Throws Error for what PCRE2 cannot compile.
  Regex(const std::string& pattern, const std::string& place);

  /// Appends parts that cover all of `valid`, UTF-8; empty matches too, as Oniguruma's find_iter gives them. Throws
  /// Error where the pattern needs more steps or memory than PCRE2's limits allow.
  void find_all(std::string_view valid, std::vector<Part>& parts) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
  std::string place_;
};

/// A pattern of Oniguruma as PCRE2 reads it: classes, intersections, properties and options. Throws Error, which says
/// what, for syntax that PCRE2 has nothing for.
[[nodiscard]] std::string in_pcre2(std::string_view pattern);

}  // namespace qkv::text
