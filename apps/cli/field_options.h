// Options made from the fields of a request.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli11_names.h"
#include "qkv/view/field.h"

namespace qkv::cli {

/// "key_totals" as "--key-totals".
[[nodiscard]] std::string option_of(std::string_view field);

/// Adds the option of one field, whose text `set` is handed.
void add_field(CLI::App& command, const FieldInfo& field, std::function<void(const FieldValue&)> set);

/// Says which options need which, once all are there.
void add_needs(CLI::App& command, std::span<const FieldInfo> fields);

/// An option for each field of the request but the first `without_name`, which the command takes by their place, in the
/// fields' order and groups. `fields` outlives the command.
template <class Request>
void add_fields(CLI::App& command, Request& request, const Fields<Request>& fields, std::size_t without_name = 0) {
  for (std::size_t n = without_name; n < fields.infos().size(); ++n) {
    add_field(command, fields.infos()[n],
              [&request, &fields, n](const FieldValue& value) { fields.set(request, n, value); });
  }
  add_needs(command, fields.infos());
}

}  // namespace qkv::cli
