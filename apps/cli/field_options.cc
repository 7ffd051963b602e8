#include "field_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace qkv::cli {

std::string option_of(std::string_view field) {
  std::string option = "--" + std::string(field);
  std::ranges::replace(option, '_', '-');
  return option;
}

void add_field(CLI::App& command, const FieldInfo& field, std::function<void(const FieldValue&)> set) {
  const std::string group = field.group.empty() ? "Options" : field.group;
  if (field.type == FieldType::flag) {
    command.add_flag_callback(option_of(field.name), [set] { set(true); }, field.meaning)->group(group);
    return;
  }
  if (field.type == FieldType::toggle) {
    const std::string names = option_of(field.name) + ",!" + option_of("no_" + field.name);
    command.add_flag_function(names, [set](std::int64_t count) { set(count > 0); }, field.meaning)->group(group);
    return;
  }
  const auto read = [&field, set = std::move(set)](const std::string& text) { set(field_value(field, text)); };
  command.add_option_function<std::string>(option_of(field.name), read, field.meaning)
      ->type_name(field.form)
      ->group(group)
      ->default_str(field.fallback);
}

void add_needs(CLI::App& command, std::span<const FieldInfo> fields) {
  for (const FieldInfo& field : fields) {
    for (const std::string& other : field.needs) {
      command.get_option(option_of(field.name))->needs(command.get_option(option_of(other)));
    }
  }
}

}  // namespace qkv::cli
