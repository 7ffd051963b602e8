#include "qkv/api/refusal.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/fields/refuse.h"
#include "qkv/api/mask.h"
#include "qkv/bias.h"
#include "qkv/cancel.h"
#include "qkv/files.h"
#include "qkv/mask.h"
#include "qkv/model/box.h"

namespace qkv {
namespace {

// What stands before a path in an error of a file, of which the path is the first word otherwise.
constexpr std::array<std::string_view, 4> kBefore = {"cannot read ", "cannot write ", "no model \"", ""};

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

// The field with the longest of the paths that the message begins with: "a" is not what "a/b: …" is about.
std::string field_of_path(std::string_view message, std::span<const FieldInfo> fields, const FieldValues& values) {
  std::string field;
  std::size_t longest = 0;
  for (const auto& [n, value] : values) {
    for (const std::string& text : texts_of(fields[n], value)) {
      if (text.empty()) continue;
      for (const std::string& path : paths_of(text)) {
        if (path.size() <= longest || !begins_with_path(message, path)) continue;
        longest = path.size();
        field = fields[n].name;
      }
    }
  }
  return field;
}

}  // namespace

void rethrow_for(std::span<const FieldInfo> fields, const FieldValues& values) {
  try {
    throw;
  } catch (const MaskSyntaxError&) {
    throw;
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads") throw;  // a value of the environment
    const std::optional<LanguageWord> word = language_word(error.function());
    const std::string name = word ? std::string(word->field) + ": " + std::string(word->word) : error.argument();
    api_detail::refuse(name, error.expected(), error.got());
  } catch (const NotThere&) {
    throw;
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    const std::string field = field_of_path(error.what(), fields, values);
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
