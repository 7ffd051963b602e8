#include "api/fields/refuse.h"

#include "qkv/files.h"

namespace qkv::api_detail {

void refuse(std::string_view field, std::string_view expected, std::string_view got) {
  throw InvalidArgument(kRequest, field, expected, got);
}

Tensor read_field(std::string_view field, const std::string& path) {
  return of_field(field, [&] { return read_tensor(path); });
}

}  // namespace qkv::api_detail
