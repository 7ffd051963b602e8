#include "view/refuse.h"

namespace qkv::view_detail {

void refuse(std::string_view field, std::string_view expected, std::string_view got) {
  throw InvalidArgument(kRequest, field, expected, got);
}

}  // namespace qkv::view_detail
