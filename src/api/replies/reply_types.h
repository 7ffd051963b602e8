// The kinds of objects in a reply, and their tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/member.h"

namespace qkv::api_detail {

/// Of a table in Markdown, where a bare | would end the cell.
[[nodiscard]] std::string table_cell(std::string_view text);

/// "list of number, or null"; an object by its name.
[[nodiscard]] std::string type_in_words(const ReplyType& type);
/// Likewise, with ", or left out" where it may be.
[[nodiscard]] std::string type_in_words(const ReplyMember& member);

/// The object types that a type is made of, each once and before what holds it.
void collect_objects(const ReplyType& type, std::vector<const ReplyType*>& objects);

}  // namespace qkv::api_detail
