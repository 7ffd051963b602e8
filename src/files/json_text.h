// JSON files of others, as Python writes and reads them. This header brings nlohmann-json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace qkv::files {

/// The value of a JSON text. Also takes a UTF-8 byte order mark at its beginning, and the words NaN, Infinity and
/// -Infinity where a number may stand, which Python's json.dump writes: they become floats. Of a key that stands in
/// an object twice the last counts, as in Python. Throws Error "<source>: expected JSON, got other text at line 3,
/// column 7: …", with what the parser met there.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& source);

/// What is wrong with a text that is no JSON: "other text at line 3, column 7: …", with what the parser met there.
[[nodiscard]] std::string mistake_in_json(std::string_view text);

/// The same of a whole file. Throws Error naming the path if it cannot be read, too.
[[nodiscard]] nlohmann::json read_json(const std::string& path);

/// A value on one line for messages, cut where it is long; NaN and Infinity by their names.
[[nodiscard]] std::string json_for_message(const nlohmann::json& value);

}  // namespace qkv::files
