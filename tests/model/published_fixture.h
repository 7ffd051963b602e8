// Fixtures that hold an object of entries by their names, of which each is a test.
#pragma once

#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace qkv::tests {

inline nlohmann::json published_fixture(const std::string& file) {
  std::ifstream text(QKV_SOURCE_DIR "/tests/model/fixtures/" + file);
  return nlohmann::json::parse(text);
}

inline std::vector<std::string> names_of(const nlohmann::json& entries) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries.items()) names.push_back(name);
  return names;
}

// As a test may be called: letters and digits alone.
inline std::string test_name(std::string name) {
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace qkv::tests
