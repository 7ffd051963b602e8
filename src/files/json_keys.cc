#include "files/json_keys.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
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

std::string in_quotes(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Writes each member of the outermost object as it reads it.
struct MemberWatch : KeyWatch {
  WrittenObject object;
  std::size_t depth = 0;  // of arrays and objects that are open

  bool null() override { return put("null"); }
  bool boolean(bool value) override { return put(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return put(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return put(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { return put(text); }
  bool string(string_t& value) override { return put(in_quotes(value)); }
  bool start_object(std::size_t size) override {
    if (depth > 0) put("{");
    ++depth;
    return KeyWatch::start_object(size);
  }
  bool key(string_t& value) override {
    if (depth == 1) {
      object.members.emplace_back(value, "");
    } else {
      put(in_quotes(value) + ":");
    }
    return KeyWatch::key(value);
  }
  bool end_object() override {
    close('}');
    return KeyWatch::end_object();
  }
  bool start_array(std::size_t /*size*/) override {
    put("[");
    ++depth;
    return true;
  }
  bool end_array() override {
    close(']');
    return true;
  }
  bool parse_error(std::size_t /*place*/, const std::string& token, const Json::exception& error) override {
    constexpr int kOverflow = 406;
    if (error.id == kOverflow) object.too_large = token;
    return false;
  }

 private:
  bool put(std::string_view piece) {
    if (object.members.empty()) return true;
    std::string& text = object.members.back().second;
    const bool is_first = text.empty() || text.back() == '[' || text.back() == '{' || text.back() == ':';
    if (!is_first) text += ',';
    text += piece;
    return true;
  }
  void close(char bracket) {
    --depth;
    if (depth > 0 && !object.members.empty()) object.members.back().second += bracket;
  }
};

}  // namespace

// A callback of Json::parse() would tell of keys, too, and takes a time that is quadratic in them.
std::optional<std::string> key_there_twice(std::string_view json) {
  KeyWatch watch;
  Json::sax_parse(json, &watch);
  return watch.twice;
}

WrittenObject written_object(std::string_view json) {
  MemberWatch watch;
  Json::sax_parse(json, &watch);
  watch.object.twice = watch.twice;
  return std::move(watch.object);
}

}  // namespace qkv::files
