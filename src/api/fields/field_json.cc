#include "api/fields/field_json.h"

#include <cmath>
#include <utility>

#include "api/fields/named_values.h"

namespace qkv {
namespace {

// Whole numbers as such.
api_detail::Json number_in_json(double number) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(number) <= kExact && std::trunc(number) == number) return static_cast<std::int64_t>(number);
  return number;
}

void put_bound(api_detail::Json& json, const char* name, const char* open, const Bound& bound) {
  if (!bound.is_finite()) return;
  json[name] = number_in_json(bound.at);
  if (bound.is_open) json[open] = true;
}

}  // namespace

api_detail::Json api_detail::json_of(const FieldInfo& field) {
  Json json{{"name", field.name}, {"type", name_of(field.type)}, {"form", field.form}, {"meaning", field.meaning}};
  json["example"] = field.example;
  if (!field.fallback.empty()) json["fallback"] = field.fallback;
  if (!field.otherwise.empty()) json["otherwise"] = field.otherwise;
  put_bound(json, "least", "above", field.least);
  put_bound(json, "most", "below", field.most);
  if (!field.words.empty()) json["words"] = field.words;
  for (const auto& [name, others] : {std::pair("needs", &field.needs),
                                     {"needs_one", &field.needs_one},
                                     {"excludes", &field.excludes},
                                     {"one_of", &field.one_of}}) {
    if (!others->empty()) json[name] = *others;
  }
  if (!field.reasons.empty()) json["reasons"] = field.reasons;
  for (const auto& [others, needs_one] : field.beside) {
    json["beside"].push_back({{"fields", others}, {"needs_one", needs_one}});
  }
  return json;
}

std::string as_json(const FieldValue& value) {
  using api_detail::Json;
  return std::visit([](const auto& held) { return Json(held).dump(-1, ' ', false, Json::error_handler_t::replace); },
                    value);
}

std::string as_json(const NamedValues& named) {
  std::string text;
  for (const auto& [name, value] : named) {
    text += (text.empty() ? "{" : ",") + as_json(FieldValue(name)) + ":" + as_json(value);
  }
  return text.empty() ? "{}" : text + "}";
}

std::string FieldTable::json_of(const void* request, const void* plain) const {
  api_detail::Json json = api_detail::Json::object();
  for (const auto& [n, value] : said_by(request, plain)) {
    std::visit([&](const auto& held) { json[infos_[n].name] = held; }, value);
  }
  return json.dump();
}

}  // namespace qkv
