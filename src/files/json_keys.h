// Keys of JSON texts, of which a parser keeps one of two, and numbers as they were written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qkv::files {

/// The first key that stands twice in one object of a text; none of a text that is no JSON up to there.
[[nodiscard]] std::optional<std::string> key_there_twice(std::string_view json);

/// What an object's text says that its parsed value no longer does.
struct WrittenObject {
  std::optional<std::string> twice;  // as key_there_twice()
  /// Each member's key and value, without blanks, its numbers that are not whole as they were written.
  std::vector<std::pair<std::string, std::string>> members;
  /// A number that f64 does not hold stands in the last of the members; this is the number.
  std::optional<std::string> too_large;
};

/// Up to the first mistake; of a text that is no object, no members.
[[nodiscard]] WrittenObject written_object(std::string_view json);

}  // namespace qkv::files
