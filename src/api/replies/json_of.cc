#include "api/replies/json_of.h"

#include <string>
#include <string_view>
#include <vector>

namespace qkv::api_detail {

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json json_of(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }

}  // namespace qkv::api_detail
