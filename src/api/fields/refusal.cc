#include "qkv/api/refusal.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/fields/refuse.h"
#include "mask/language_word.h"
#include "qkv/cancel.h"
#include "qkv/files.h"
#include "qkv/mask.h"
#include "qkv/model/box.h"
#include "qkv/number_text.h"

namespace qkv {
namespace {

// What stands before a path in an error of a file, of which the path is the first word otherwise.
constexpr std::array<std::string_view, 5> kBefore = {"cannot read ", "cannot write ", "no model \"", "\"", ""};

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

bool begins_with_path(std::string_view message, std::string_view path) {
  return std::ranges::any_of(kBefore, [&](std::string_view before) {
    if (!message.starts_with(before)) return false;
    const std::string_view rest = message.substr(before.size());
    return rest.starts_with(path) &&
           (rest.size() == path.size() || std::string_view(":/\", ").find(rest[path.size()]) != std::string_view::npos);
  });
}

std::vector<std::string> texts_of(const FieldInfo& field, const FieldValue& value) {
  if (!field.words.empty() || field.form == "TEXT") return {};
  if (const auto* text = std::get_if<std::string>(&value)) return {*text};
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return *texts;
  return {};
}

// The fields with the longest of the paths that the message begins with: "a" is not what "a/b: …" is about.
std::string fields_of_path(std::string_view message, std::span<const FieldInfo> fields, const FieldValues& values) {
  std::string names;
  std::size_t longest = 0;
  for (const auto& [n, value] : values) {
    for (const std::string& text : texts_of(fields[n], value)) {
      if (text.empty()) continue;
      for (const std::string& path : paths_of(text)) {
        if (path.size() < longest || !begins_with_path(message, path)) continue;
        const std::string& name = fields[n].name;
        const bool is_first = path.size() > longest || names.empty();
        if (is_first || !names.ends_with(name)) names = is_first ? name : names + ", " + name;
        longest = path.size();
      }
    }
  }
  return names;
}

// The field that the library calls otherwise.
std::string field_of_argument(const std::string& argument, std::span<const FieldInfo> fields,
                              const FieldValues& values) {
  const std::size_t bracket = argument.ends_with(']') ? argument.find('[') : std::string::npos;
  const std::string name = argument.substr(0, bracket);
  const bool is_given = std::ranges::any_of(values, [&](const auto& one) { return fields[one.first].name == name; });
  if (is_given) return argument;
  std::string field = argument;
  std::size_t last = 0;
  for (const auto& [n, value] : values) {
    if (n < last || std::ranges::find(fields[n].arguments, name) == fields[n].arguments.end()) continue;
    last = n;
    field = fields[n].name;
  }
  return field;
}

// An argument that is a path is the field whose value it is.
std::string name_for(const InvalidArgument& error, std::span<const FieldInfo> fields, const FieldValues& values) {
  if (const auto word = mask_detail::language_word(error.function())) {
    return std::string(word->language) + ": " + std::string(word->word);
  }
  if (error.argument() == "path") {
    const std::string names = fields_of_path(error.got(), fields, values);
    if (!names.empty()) return names;
  }
  const std::string names =
      api_detail::is_place(error.argument()) ? fields_of_path(error.argument(), fields, values) : "";
  if (!names.empty()) return names + ": " + error.argument();
  return field_of_argument(error.argument(), fields, values);
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
  } catch (const NotThere&) {
    throw;
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    const std::string field = fields_of_path(error.what(), fields, values);
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
