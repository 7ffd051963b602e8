#include "api/replies/json_of.h"

#include <string>
#include <string_view>
#include <vector>

namespace qkv::api_detail {

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json json_of(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }

void write_json(ReplyWriter& writer, const Json& json) {
  if (json.is_object()) {
    writer.begin_object();
    for (const auto& [name, value] : json.items()) {
      writer.key(name);
      write_json(writer, value);
    }
    writer.end_object();
  } else if (json.is_array()) {
    writer.begin_list();
    for (const Json& value : json) write_json(writer, value);
    writer.end_list();
  } else if (json.is_boolean()) {
    writer.value(json.get<bool>());
  } else if (json.is_number_integer()) {
    writer.value(json.get<std::int64_t>());
  } else if (json.is_number()) {
    writer.value(json.get<double>());
  } else if (json.is_string()) {
    writer.value(std::string_view(json.get_ref<const std::string&>()));
  } else {
    writer.nothing();
  }
}

}  // namespace qkv::api_detail
