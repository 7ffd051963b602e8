#include "view/json_of.h"

#include <vector>

namespace qkv::view_detail {

Json json_of(const Shape& shape) { return std::vector<std::int64_t>(shape.begin(), shape.end()); }

Json json_of(const Tensor& tensor) {
  Json json{{"dtype", name_of(tensor.dtype())}, {"shape", json_of(tensor.shape())}};
  if (tensor.dtype() == DType::i64) {
    const auto values = tensor.values<std::int64_t>();
    json["values"] = std::vector<std::int64_t>(values.begin(), values.end());
  } else {
    json["values"] = tensor.to_vector();
  }
  return json;
}

}  // namespace qkv::view_detail
