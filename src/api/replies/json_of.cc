#include "api/replies/json_of.h"

#include <vector>

namespace qkv::api_detail {

Json json_of(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }

}  // namespace qkv::api_detail
