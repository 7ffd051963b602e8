// Words of a file's metadata, under a first name: {"kind", "decoder"} under "model" is {"model.kind", "decoder"}.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace qkv {

using Words = std::map<std::string, std::string>;

[[nodiscard]] Words words_under(std::string_view name, const Words& words);
/// The counterpart: those under the name, without it.
[[nodiscard]] Words words_of(std::string_view name, const Words& metadata);

}  // namespace qkv
