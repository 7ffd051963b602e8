// Changes inside a model as a request has them: "remove 1.0; cut 7:3".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/insight/interventions.h"

namespace qkv::api_detail {

/// The parts between separators, without the spaces around them; empty ones are left out.
[[nodiscard]] std::vector<std::string> parts_of(std::string_view text, char separator);

/// Throws InvalidArgument naming `changes`.
[[nodiscard]] std::vector<Intervention> changes_in(const std::string& text);

/// Throws InvalidArgument naming `field` for a change that is there already.
void add_change(const char* field, Intervention one, std::vector<Intervention>& all);

/// The library's arguments of which `changes` is made.
[[nodiscard]] std::vector<std::string> kinds_of_change();

}  // namespace qkv::api_detail
