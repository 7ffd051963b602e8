#include "files/json_numbers.h"

#include <nlohmann/json.hpp>

namespace qkv::files {

std::string numbers_as_json(std::span<const std::pair<const char*, JsonNumber>> numbers) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, number] : numbers) {
    std::visit([&](const auto& value) { object[name] = value; }, number);
  }
  return object.dump();
}

std::optional<std::map<std::string, JsonNumber, std::less<>>> numbers_in_json(std::string_view text) {
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  std::map<std::string, JsonNumber, std::less<>> numbers;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number_integer()) numbers.emplace(name, value.get<std::int64_t>());
    if (value.is_number_float()) numbers.emplace(name, value.get<double>());
  }
  return numbers;
}

}  // namespace qkv::files
