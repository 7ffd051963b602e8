// Filters and tests by name.
#pragma once

#include <string>

#include "text/chat_template/arguments.h"

namespace qkv::text::jinja {

/// value|name(arguments). Throws Fault for a name that is no filter.
[[nodiscard]] Value filtered(Budget& budget, const std::string& name, const Value& value, const Arguments& arguments);
/// value is name(arguments). Throws Fault for a name that is no test.
[[nodiscard]] bool is_so(Budget& budget, const std::string& name, const Value& value, const Arguments& arguments);

/// json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort_keys); on one line without an indent.
struct JsonLayout {
  std::optional<std::size_t> indent = std::nullopt;
  bool sort_keys = false;
};
[[nodiscard]] MarkedText as_json(Budget& budget, const Value& value, const JsonLayout& layout);

using Filter = Value (*)(Budget&, const Value& value, const Arguments&);
/// nullptr if there is none.
[[nodiscard]] Filter filter_of_texts(std::string_view name);
[[nodiscard]] Filter filter_of_lists(std::string_view name);
[[nodiscard]] bool is_test(std::string_view name);

}  // namespace qkv::text::jinja
