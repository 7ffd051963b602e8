// Objects of JSON that hold numbers alone, such as the lines of a log. This header brings no nlohmann-json.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace qkv::files {

/// A whole number, or another one.
using JsonNumber = std::variant<std::int64_t, double>;

/// {"step":1,"loss":0.5}, in this order; numbers that are not finite are null.
[[nodiscard]] std::string numbers_as_json(std::span<const std::pair<const char*, JsonNumber>> numbers);

/// The members of an object that are numbers; nullopt for what is no object of JSON.
[[nodiscard]] std::optional<std::map<std::string, JsonNumber, std::less<>>> numbers_in_json(std::string_view text);

}  // namespace qkv::files
