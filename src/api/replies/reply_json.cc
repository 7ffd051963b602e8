#include "api/replies/reply_json.h"

#include <cmath>
#include <cstring>

#include "core/watched.h"

namespace qkv::api_detail {

void WireWriter::value(double number) {
  if (std::isfinite(number)) {
    put(number);
  } else {
    put(nullptr);
  }
}

Json& WireWriter::put(Json json) {
  if (open_.empty()) return root_ = std::move(json);
  Json& parent = *open_.back();
  if (parent.is_array()) {
    parent.push_back(std::move(json));
    return parent.back();
  }
  return parent[key_] = std::move(json);
}

void WireWriter::value(const Tensor& tensor) {
  core::look();
  constexpr std::size_t kAlignment = 8;
  const Tensor dense = tensor.contiguous();
  const std::size_t bytes = static_cast<std::size_t>(dense.size()) * size_of(dense.dtype());
  const std::size_t at = blocks_.size();
  blocks_.resize(at + (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (bytes > 0) std::memcpy(blocks_.data() + at, dense.data(), bytes);
  put({{"dtype", name_of(tensor.dtype())}, {"shape", json_of(tensor.shape())}, {"at", at}});
}

}  // namespace qkv::api_detail
