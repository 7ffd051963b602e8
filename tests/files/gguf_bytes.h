// The bytes of a GGUF file, written field by field.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::tests {

template <class Number>
std::string gguf_number(Number value) {
  std::string bytes(sizeof(Number), '\0');
  const auto* first = reinterpret_cast<const char*>(&value);
  bytes.assign(first, sizeof(Number));
  return bytes;
}

inline std::string gguf_text(std::string_view text) {
  return gguf_number<std::uint64_t>(text.size()) + std::string(text);
}

struct GgufTensor {
  std::string name;
  std::uint32_t type = 0;
  std::vector<std::uint64_t> extents;  // as in the file, the innermost first
  std::string data;
};

class GgufBytes {
 public:
  GgufBytes& add(std::string_view key, std::uint32_t type, const std::string& value) {
    pairs_ += gguf_text(key) + gguf_number(type) + value;
    ++pair_count;
    return *this;
  }
  GgufBytes& text(std::string_view key, std::string_view value) { return add(key, 8, gguf_text(value)); }
  GgufBytes& u32(std::string_view key, std::uint32_t value) { return add(key, 4, gguf_number(value)); }
  GgufBytes& f32(std::string_view key, float value) { return add(key, 6, gguf_number(value)); }
  GgufBytes& boolean(std::string_view key, bool value) { return add(key, 7, std::string(1, value ? '\1' : '\0')); }
  GgufBytes& texts(std::string_view key, const std::vector<std::string>& values) {
    std::string all = gguf_number<std::uint32_t>(8) + gguf_number<std::uint64_t>(values.size());
    for (const std::string& value : values) all += gguf_text(value);
    return add(key, 9, all);
  }
  template <class Number>
  GgufBytes& numbers(std::string_view key, std::uint32_t type, const std::vector<Number>& values) {
    std::string all = gguf_number(type) + gguf_number<std::uint64_t>(values.size());
    for (const Number value : values) all += gguf_number(value);
    return add(key, 9, all);
  }
  /// Behind the tensors before it.
  GgufBytes& tensor(const GgufTensor& tensor) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment, '\0');
    return tensor_at(tensor, data_.size());
  }
  GgufBytes& tensor_at(const GgufTensor& tensor, std::uint64_t place) {
    tensors_ += gguf_text(tensor.name) + gguf_number(static_cast<std::uint32_t>(tensor.extents.size()));
    for (const std::uint64_t extent : tensor.extents) tensors_ += gguf_number(extent);
    tensors_ += gguf_number(tensor.type) + gguf_number(place);
    data_ += tensor.data;
    ++tensor_count;
    return *this;
  }

  [[nodiscard]] std::string text_of() const {
    std::string bytes = magic + gguf_number(version) + gguf_number(tensor_count) + gguf_number(pair_count);
    bytes += pairs_ + tensors_;
    if (tensor_count > 0) bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
    return bytes + data_;
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    const std::string text = text_of();
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
  }

  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::uint64_t tensor_count = 0;
  std::uint64_t pair_count = 0;
  std::size_t alignment = 32;

 private:
  std::string pairs_;
  std::string tensors_;
  std::string data_;
};

}  // namespace qkv::tests
