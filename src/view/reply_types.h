// The kinds of objects in a reply.
#pragma once

#include <string>
#include <vector>

#include "qkv/view/member.h"

namespace qkv::view_detail {

/// "list of number, or null"; an object by its name.
[[nodiscard]] std::string type_in_words(const ReplyType& type);

/// The object types that a type is made of, each once and before what holds it.
void collect_objects(const ReplyType& type, std::vector<const ReplyType*>& objects);

}  // namespace qkv::view_detail
