#include "view/json_of.h"

#include <vector>

namespace qkv::view_detail {

Json json_of(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }

}  // namespace qkv::view_detail
