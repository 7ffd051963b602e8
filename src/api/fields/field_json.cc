#include "api/fields/field_json.h"

#include <limits>

namespace qkv {

api_detail::Json api_detail::json_of(const FieldInfo& field) {
  Json json{{"name", field.name}, {"type", name_of(field.type)}, {"form", field.form}, {"meaning", field.meaning}};
  json["example"] = field.example;
  if (!field.fallback.empty()) json["fallback"] = field.fallback;
  if (field.least != std::numeric_limits<std::int64_t>::min()) json["least"] = field.least;
  if (field.most != std::numeric_limits<std::int64_t>::max()) json["most"] = field.most;
  if (!field.words.empty()) json["words"] = field.words;
  return json;
}

}  // namespace qkv
