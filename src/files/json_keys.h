// Keys of JSON texts, of which a parser keeps one of two.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qkv::files {

/// The first key that stands twice in one object of a text; none of a text that is no JSON up to there.
[[nodiscard]] std::optional<std::string> key_there_twice(std::string_view json);

}  // namespace qkv::files
