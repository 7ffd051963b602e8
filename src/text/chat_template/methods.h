// Methods of strings, lists, dicts and loops. What would change a list or a dict does not exist, as in Jinja's
// immutable sandbox.
#pragma once

#include <string_view>

#include "text/chat_template/arguments.h"

namespace qkv::text::jinja {

[[nodiscard]] bool has_method(const Value& value, std::string_view name);
[[nodiscard]] Value call_method(Budget& budget, const Value& value, std::string_view name, const Arguments& arguments);

/// The parts of str.split(): at white space if there is no separator. `most` cuts; without a limit if negative.
[[nodiscard]] std::vector<MarkedText> split(Budget& budget, const MarkedText& text, const MarkedText* separator,
                                            std::int64_t most);
[[nodiscard]] MarkedText replaced(Budget& budget, const MarkedText& text, const MarkedText& old, const MarkedText& now,
                                  std::int64_t most);
/// str.splitlines(), without line ends.
[[nodiscard]] std::vector<MarkedText> lines_of(const MarkedText& text);

}  // namespace qkv::text::jinja
