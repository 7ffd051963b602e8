#include "files/json_keys.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace qkv::files {
namespace {

using Json = nlohmann::json;

// Finds the first key that stands twice in one object.
struct KeyWatch : nlohmann::json_sax<Json> {
  std::vector<std::set<std::string>> keys;  // of each object that is open
  std::optional<std::string> twice;

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override {
    keys.emplace_back();
    return true;
  }
  bool key(string_t& value) override {
    if (!keys.back().insert(value).second) twice = value;
    return !twice;
  }
  bool end_object() override {
    keys.pop_back();
    return true;
  }
  bool start_array(std::size_t /*size*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t /*place*/, const std::string& /*token*/, const Json::exception& /*error*/) override {
    return false;  // Json::parse() says it
  }
};

}  // namespace

// A callback of Json::parse() would tell of keys, too, and takes a time that is quadratic in them.
std::optional<std::string> key_there_twice(std::string_view json) {
  KeyWatch watch;
  Json::sax_parse(json, &watch);
  return watch.twice;
}

}  // namespace qkv::files
