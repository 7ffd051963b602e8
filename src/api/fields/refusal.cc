#include "qkv/api/refusal.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "api/fields/refuse.h"
#include "core/shortened.h"
#include "mask/language_word.h"
#include "qkv/files.h"
#include "qkv/mask.h"
#include "qkv/model/box.h"

namespace qkv {
namespace {

// The file of "FILE.npz:NAME", or of a model of the box.
std::vector<std::string> paths_of(const std::string& value) {
  std::vector<std::string> paths = {value};
  try {
    paths.push_back(parse_tensor_path(value).file);
  } catch (const Error&) {  // no tensor
  }
  try {
    paths.push_back(trained_model_path(value));
  } catch (const Error&) {  // no model
  }
  return paths;
}

// Whether what an error calls a place is this path, lies in this folder, or is a place in this file.
bool leads_to(std::string_view place, std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return place.starts_with(path) &&
         (place.size() == path.size() || std::string_view("/:,").find(place[path.size()]) != std::string_view::npos);
}

std::vector<std::string> texts_of(const FieldInfo& field, const FieldValue& value) {
  if (!field.words.empty() || field.form == "TEXT") return {};
  if (const auto* text = std::get_if<std::string>(&value)) return {*text};
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return *texts;
  return {};
}

// The fields with the longest of the paths that lead there: "a" is not what "a/b" is about.
std::string fields_of_place(std::string_view place, std::span<const FieldInfo> fields, const FieldValues& values) {
  std::string names;
  std::size_t longest = 0;
  for (const auto& [n, value] : values) {
    for (const std::string& text : texts_of(fields[n], value)) {
      if (text.empty()) continue;
      for (const std::string& path : paths_of(text)) {
        if (path.size() < longest || !leads_to(place, path)) continue;
        const std::string& name = fields[n].name;
        const bool is_first = path.size() > longest || names.empty();
        if (is_first || !names.ends_with(name)) names = is_first ? name : names + ", " + name;
        longest = path.size();
      }
    }
  }
  return names;
}

// The field that the library calls otherwise; one that was given, if there is one.
std::string field_of_argument(const std::string& argument, std::span<const FieldInfo> fields,
                              const FieldValues& values) {
  if (const std::size_t colon = argument.find(": "); colon != std::string::npos) {  // "images: \"a cat\""
    return field_of_argument(argument.substr(0, colon), fields, values) + argument.substr(colon);
  }
  const std::size_t bracket = argument.ends_with(']') ? argument.find('[') : std::string::npos;
  const std::string name = argument.substr(0, bracket);
  const bool is_given = std::ranges::any_of(values, [&](const auto& one) { return fields[one.first].name == name; });
  if (is_given) return argument;
  const auto has = [&](const FieldInfo& field) {
    return std::ranges::find(field.arguments, name) != field.arguments.end();
  };
  std::string field;
  std::size_t last = 0;
  for (const auto& [n, value] : values) {
    if (n < last || !has(fields[n])) continue;
    last = n;
    field = fields[n].name;
  }
  if (!field.empty()) return field;
  const auto first = std::ranges::find_if(fields, [&](const FieldInfo& one) { return one.name == name || has(one); });
  return first == fields.end() || first->name == name ? argument : first->name;
}

std::string name_for(const InvalidArgument& error, std::span<const FieldInfo> fields, const FieldValues& values) {
  if (const auto word = mask_detail::language_word(error.function())) {
    return std::string(word->language) + ": " + std::string(word->word);
  }
  if (error.argument() != "path") return field_of_argument(error.argument(), fields, values);
  for (const auto& [n, value] : values) {
    for (const std::string& text : texts_of(fields[n], value)) {
      if (error.got() == core::shortened("\"" + text + "\"")) return fields[n].name;
    }
  }
  return error.argument();
}

}  // namespace

void rethrow_for(std::span<const FieldInfo> fields, const FieldValues& values) {
  try {
    throw;
  } catch (const MaskSyntaxError&) {
    throw;
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads") throw;  // a value of the environment
    api_detail::refuse(name_for(error, fields, values), error.expected(), error.got());
  } catch (const FileError& error) {
    const std::string field = fields_of_place(error.place(), fields, values);
    if (field.empty()) throw;
    throw NotThere(field, error.what());
  }
}

Refusal refusal_of(const std::exception& error) {
  if (const auto* syntax = dynamic_cast<const MaskSyntaxError*>(&error)) {
    const std::string field = syntax->function() == "parse_bias" ? "bias" : "mask";
    return {.field = field, .message = syntax->argument() + ": " + syntax->fault(), .column = syntax->column()};
  }
  if (const auto* invalid = dynamic_cast<const InvalidArgument*>(&error)) {
    // "mask: keys" is a word of the mask.
    const std::size_t colon = invalid->argument().find(": ");
    if (colon == std::string::npos) return {.field = invalid->argument(), .message = invalid->fault()};
    return {.field = invalid->argument().substr(0, colon),
            .message = invalid->argument().substr(colon + 2) + ": " + invalid->fault()};
  }
  if (const auto* missing = dynamic_cast<const NotThere*>(&error)) {
    return {.field = missing->field(), .message = missing->what()};
  }
  return {.field = {}, .message = error.what()};
}

}  // namespace qkv
