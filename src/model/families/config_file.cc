#include "model/families/config_file.h"

#include <fstream>
#include <utility>

#include "qkv/error.h"

namespace qkv::families {
namespace {

nlohmann::json parsed(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path + ": expected a file, got none that can be read");
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.is_object()) throw Error(path + ": expected a JSON object, got other bytes");
  return json;
}

}  // namespace

ConfigFile::ConfigFile(const std::string& path) : ConfigFile(parsed(path), path) {}

ConfigFile::ConfigFile(nlohmann::json json, std::string path) : json_(std::move(json)), path_(std::move(path)) {}

bool ConfigFile::has(std::string_view word) const {
  const auto found = json_.find(word);
  return found != json_.end() && !found->is_null();
}

const nlohmann::json& ConfigFile::value(std::string_view word, std::string_view expected) const {
  if (!has(word)) refuse(word, expected);
  return json_.at(std::string(word));
}

void ConfigFile::refuse(std::string_view word, std::string_view expected) const {
  const auto found = json_.find(word);
  const std::string got = found == json_.end() ? "nothing" : found->dump().substr(0, 60);
  throw Error(path_ + ": " + std::string(word) + ": expected " + std::string(expected) + ", got " + got);
}

std::int64_t ConfigFile::integer(std::string_view word) const {
  constexpr std::string_view kExpected = "a whole number from 0 to 2^31";
  const nlohmann::json& found = value(word, kExpected);
  const bool sound = found.is_number_integer() && found >= 0 && found <= std::int64_t{1} << 31;
  if (!sound) refuse(word, kExpected);
  return found.get<std::int64_t>();
}

std::int64_t ConfigFile::integer(std::string_view word, std::int64_t otherwise) const {
  return has(word) ? integer(word) : otherwise;
}

std::int64_t ConfigFile::layers(std::string_view word) const {
  constexpr std::int64_t kMost = 16384;
  const std::int64_t count = integer(word);
  if (count < 1 || count > kMost) refuse(word, "a whole number from 1 to " + std::to_string(kMost));
  return count;
}

std::int64_t ConfigFile::layers(std::string_view word, std::int64_t otherwise) const {
  return has(word) ? layers(word) : otherwise;
}

std::vector<std::int64_t> ConfigFile::integers(std::string_view word) const {
  if (!has(word)) return {};
  if (!value(word, "").is_array()) return {integer(word)};
  std::vector<std::int64_t> all;
  for (const nlohmann::json& one : value(word, "")) {
    if (!one.is_number_integer()) refuse(word, "a whole number, or a list of them");
    all.push_back(one.get<std::int64_t>());
  }
  return all;
}

double ConfigFile::number(std::string_view word) const {
  const nlohmann::json& found = value(word, "a number");
  if (!found.is_number()) refuse(word, "a number");
  return found.get<double>();
}

double ConfigFile::number(std::string_view word, double otherwise) const {
  return has(word) ? number(word) : otherwise;
}

std::optional<double> ConfigFile::number_or_null(std::string_view word, std::optional<double> otherwise) const {
  if (!json_.contains(word)) return otherwise;
  return has(word) ? std::optional<double>(number(word)) : std::nullopt;
}

bool ConfigFile::flag(std::string_view word, bool otherwise) const {
  if (!has(word)) return otherwise;
  const nlohmann::json& found = value(word, "true or false");
  if (!found.is_boolean()) refuse(word, "true or false");
  return found.get<bool>();
}

std::string ConfigFile::text(std::string_view word) const {
  const nlohmann::json& found = value(word, "a text");
  if (!found.is_string()) refuse(word, "a text");
  return found.get<std::string>();
}

std::string ConfigFile::text(std::string_view word, std::string_view otherwise) const {
  return has(word) ? text(word) : std::string(otherwise);
}

std::vector<std::string> ConfigFile::texts(std::string_view word) const {
  constexpr std::string_view kExpected = "a list of texts";
  const nlohmann::json& found = value(word, kExpected);
  std::vector<std::string> all;
  if (!found.is_array()) refuse(word, kExpected);
  for (const nlohmann::json& one : found) {
    if (!one.is_string()) refuse(word, kExpected);
    all.push_back(one.get<std::string>());
  }
  return all;
}

std::vector<double> ConfigFile::numbers(std::string_view word) const {
  constexpr std::string_view kExpected = "a list of numbers";
  const nlohmann::json& found = value(word, kExpected);
  std::vector<double> all;
  if (!found.is_array()) refuse(word, kExpected);
  for (const nlohmann::json& one : found) {
    if (!one.is_number()) refuse(word, kExpected);
    all.push_back(one.get<double>());
  }
  return all;
}

bool ConfigFile::has_object(std::string_view word) const {
  const auto found = json_.find(word);
  return found != json_.end() && found->is_object();
}

std::vector<std::string> ConfigFile::words() const {
  std::vector<std::string> all;
  for (const auto& [word, found] : json_.items()) all.push_back(word);
  return all;
}

ConfigFile ConfigFile::object(std::string_view word) const {
  const nlohmann::json& found = value(word, "an object");
  if (!found.is_object()) refuse(word, "an object");
  return {found, path_ + ": " + std::string(word)};
}

ConfigFile ConfigFile::updated(const ConfigFile& other) const {
  ConfigFile both = *this;
  both.json_.update(other.json_);
  return both;
}

void ConfigFile::require(std::string_view word, const nlohmann::json& only) const {
  if (has(word) && json_.at(std::string(word)) != only) refuse(word, only.dump() + ", which is all that qkv computes");
}

}  // namespace qkv::families
