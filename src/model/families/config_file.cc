#include "model/families/config_file.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "files/json_text.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

nlohmann::json parsed(const std::string& path) {
  nlohmann::json json = files::read_json(path);
  if (!json.is_object()) throw FileError(path, "expected a JSON object, got " + files::json_for_message(json));
  return json;
}

// Those of `json` at `place` that are not in `read`.
void add_unread(const nlohmann::json& json, const std::string& place, const std::set<std::string, std::less<>>& read,
                std::vector<UnreadWord>& all) {
  for (const auto& [word, found] : json.items()) {
    const std::string name = place + word;
    if (found.is_null() || read.contains(name + ".*")) continue;
    if (!read.contains(name)) {
      all.push_back({.place = name, .word = word, .value = &found});
    } else if (found.is_object()) {
      add_unread(found, name + ".", read, all);
    }
  }
}

nlohmann::json as_json(const ConfigValue& value) {
  return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

}  // namespace

ConfigFile::ConfigFile(const std::string& path) : ConfigFile(parsed(path), path) {}

ConfigFile::ConfigFile(nlohmann::json json, std::string path)
    : json_(std::make_shared<const nlohmann::json>(std::move(json))), path_(std::move(path)) {}

ConfigFile ConfigFile::without_words(std::string path) { return {nlohmann::json::object(), std::move(path)}; }

const nlohmann::json* ConfigFile::find(std::string_view word) const {
  record_->asked.insert(place_ + std::string(word));
  if (!other_.empty()) record_->asked.insert(other_ + std::string(word));
  const auto found = json_->find(word);
  return found == json_->end() ? nullptr : &*found;
}

bool ConfigFile::has(std::string_view word) const {
  const auto* found = find(word);
  return found != nullptr && !found->is_null();
}

const nlohmann::json& ConfigFile::value(std::string_view word, std::string_view expected) const {
  if (!has(word)) refuse(word, expected);
  return *find(word);
}

std::string ConfigFile::shown(std::string_view word) const {
  const auto found = json_->find(word);
  return found == json_->end() ? "nothing" : files::json_for_message(*found);
}

void ConfigFile::refuse(std::string_view word, std::string_view expected) const {
  throw FileError(path_, std::string(word) + ": expected " + std::string(expected) + ", got " + shown(word));
}

std::int64_t ConfigFile::integer(std::string_view word) const {
  constexpr std::string_view kExpected = "a whole number from 0 to 2^31";
  const nlohmann::json& found = value(word, kExpected);
  const double number = found.is_number() ? found.get<double>() : -1;
  const bool fits = number >= 0 && number <= static_cast<double>(kLargest) && number == std::floor(number);
  if (!fits) refuse(word, kExpected);
  return static_cast<std::int64_t>(number);
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
  constexpr std::string_view kExpected = "a whole number, or a list of them";
  const nlohmann::json& found = value(word, kExpected);
  std::vector<std::int64_t> all;
  for (const nlohmann::json& one : found.is_array() ? found : nlohmann::json::array({found})) {
    const double number = one.is_number() ? one.get<double>() : kNoNumber;
    if (!(std::abs(number) <= static_cast<double>(kLargest)) || number != std::floor(number)) refuse(word, kExpected);
    all.push_back(static_cast<std::int64_t>(number));
  }
  return all;
}

double ConfigFile::number(std::string_view word) const {
  const nlohmann::json& found = value(word, "a number");
  if (!found.is_number() || !std::isfinite(found.get<double>())) refuse(word, "a number");
  return found.get<double>();
}

double ConfigFile::number(std::string_view word, double otherwise) const {
  return has(word) ? number(word) : otherwise;
}

std::optional<double> ConfigFile::number_or_null(std::string_view word, std::optional<double> otherwise) const {
  if (find(word) == nullptr) return otherwise;
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
    if (!one.is_number() || !std::isfinite(one.get<double>())) refuse(word, kExpected);
    all.push_back(one.get<double>());
  }
  return all;
}

bool ConfigFile::has_object(std::string_view word) const {
  const auto* found = find(word);
  return found != nullptr && found->is_object();
}

bool ConfigFile::has_list(std::string_view word) const {
  const auto* found = find(word);
  return found != nullptr && found->is_array();
}

std::vector<std::string> ConfigFile::words() const {
  std::vector<std::string> all;
  for (const auto& [word, found] : json_->items()) all.push_back(word);
  return all;
}

ConfigFile ConfigFile::object(std::string_view word) const {
  if (!value(word, "an object").is_object()) refuse(word, "an object");
  return object_or_none(word);
}

ConfigFile ConfigFile::object_or_none(std::string_view word) const {
  if (has(word) && !find(word)->is_object()) refuse(word, "an object");
  ConfigFile inner(has(word) ? *find(word) : nlohmann::json::object(), path_ + ": " + std::string(word));
  inner.place_ = place_ + std::string(word) + ".";
  inner.record_ = record_;
  return inner;
}

ConfigFile ConfigFile::updated(const ConfigFile& other) const {
  nlohmann::json json = *json_;
  json.update(*other.json_);
  ConfigFile both = *this;
  both.json_ = std::make_shared<const nlohmann::json>(std::move(json));
  both.other_ = other.place_;
  return both;
}

ConfigFile ConfigFile::with_json(std::string_view word, nlohmann::json value) const {
  nlohmann::json json = *json_;
  json[std::string(word)] = std::move(value);
  ConfigFile changed = *this;
  changed.json_ = std::make_shared<const nlohmann::json>(std::move(json));
  return changed;
}

ConfigFile ConfigFile::with(std::string_view word, const ConfigValue& value) const {
  return with_json(word, as_json(value));
}

ConfigFile ConfigFile::with(std::string_view word,
                            std::initializer_list<std::pair<const char*, ConfigValue>> object) const {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : object) json[name] = as_json(value);
  return with_json(word, std::move(json));
}

ConfigFile ConfigFile::renamed(std::string_view word, std::string_view other) const {
  return has(other) ? with_json(word, *find(other)) : *this;
}

void ConfigFile::mark_read(std::string_view word) const { record_->asked.insert(place_ + std::string(word) + ".*"); }

std::vector<UnreadWord> ConfigFile::unread() const {
  std::vector<UnreadWord> all;
  add_unread(*json_, place_, record_->asked, all);
  return all;
}

void ConfigFile::remark(std::string_view word, std::string_view sentence) const {
  const std::string file = path_.substr(path_.rfind('/') + 1);
  record_->remarks.push_back(file + ": " + std::string(word) + ": " + std::string(sentence));
}

void ConfigFile::require(std::string_view word, const ConfigValue& value) const {
  const nlohmann::json only = as_json(value);
  record_->required[place_ + std::string(word)] = only.dump();
  if (has(word) && *find(word) != only) refuse(word, only.dump() + ", which is all that qkv computes");
}

}  // namespace qkv::families
