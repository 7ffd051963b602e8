// Functions that every template has, beside those of Jinja what `transformers` adds.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "text/chat_template/arguments.h"

namespace qkv::text::jinja {

/// The time as strftime() of the C locale writes it. Throws Fault for letters of a format that it does not know.
[[nodiscard]] std::string date_text(const std::tm& time, std::string_view format);

/// range(…), with at most 100,000 numbers, as in Jinja's sandbox.
[[nodiscard]] Value range(Budget& budget, const Arguments& arguments);
[[nodiscard]] Value new_dict(Budget& budget, const Arguments& arguments);

}  // namespace qkv::text::jinja
