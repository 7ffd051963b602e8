#include "model/config.h"

#include "qkv/number_text.h"

namespace qkv {

const std::string& ConfigReader::text(const std::string& word) const {
  const auto found = config_.find(word);
  if (found == config_.end()) throw InvalidArgument(function_, word, "a value", "none");
  return found->second;
}

std::int64_t ConfigReader::number(const std::string& word) const {
  const std::string& digits = text(word);
  if (const auto value = number_from<std::int64_t>(digits)) return *value;
  throw InvalidArgument(function_, word, "a whole number", "\"" + digits + "\"");
}

std::optional<std::int64_t> ConfigReader::number_if_there(const std::string& word) const {
  return has(word) ? std::optional<std::int64_t>(number(word)) : std::nullopt;
}

bool ConfigReader::truth(const std::string& word) const {
  if (text(word) == "yes" || text(word) == "no") return text(word) == "yes";
  throw InvalidArgument(function_, word, "yes or no", "\"" + text(word) + "\"");
}

void ConfigReader::require(const std::string& word, const std::string& value) const {
  if (text(word) != value) throw InvalidArgument(function_, word, value, "\"" + text(word) + "\"");
}

}  // namespace qkv
