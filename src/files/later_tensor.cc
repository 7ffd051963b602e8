#include "files/later_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/parallel.h"
#include "files/elements.h"
#include "files/gguf_header.h"
#include "files/quantise.h"
#include "files/safetensors_header.h"
#include "qkv/error.h"
#include "qkv/threads.h"

namespace qkv::files {
namespace {

constexpr std::int64_t kGgufAlignment = 32;

const GgufType& writable_type(const LaterTensor& tensor) {
  const GgufType* type = find_gguf_type(tensor.type);
  const bool is_known = type != nullptr && (type->dtype || (type->block && can_quantise(*type->block)));
  if (is_known) return *type;
  throw InvalidArgument("write_gguf", "\"" + tensor.name + "\"", "F64, F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0 or Q5_1",
                        tensor.type);
}

// Of plain numbers, which both formats name alike; nullopt of blocks.
std::optional<DType> plain_dtype(std::string_view type) {
  const SafetensorsType* known = find_safetensors_type(type);
  return known == nullptr ? std::nullopt : known->dtype;
}

std::int64_t numbers_of(const LaterTensor& tensor) {
  std::int64_t numbers = 1;
  for (const std::int64_t extent : tensor.shape) numbers *= extent;
  return numbers;
}

// The first number in the magnitude of which 16 bits have an infinity.
constexpr double kFirstBeyondHalf = 65520;

[[noreturn]] void fail_value(const LaterTensor& tensor, double value) {
  throw Error("\"" + tensor.name + "\": " + std::to_string(value) + " is among its numbers, which " + tensor.type +
              " does not hold");
}

std::vector<std::byte> in_blocks(const LaterTensor& tensor, const GgufType& type, const Tensor& values) {
  constexpr std::int64_t kBlocksOfTask = 4096;
  const Tensor floats(values, DType::f32);
  const std::span<const float> numbers = floats.values<float>();
  for (const float number : numbers) {
    if (!(std::fabs(number) < kFirstBeyondHalf)) fail_value(tensor, number);
  }
  const std::int64_t count = std::ssize(numbers) / type.numbers;
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * type.bytes));
  core::parallel_for(threads(), (count + kBlocksOfTask - 1) / kBlocksOfTask, [&](int /*worker*/, std::int64_t task) {
    const auto first = static_cast<std::size_t>(task * kBlocksOfTask);
    const auto some = static_cast<std::size_t>(std::min(kBlocksOfTask, count - task * kBlocksOfTask));
    const auto of_block = static_cast<std::size_t>(type.numbers);
    const auto size = static_cast<std::size_t>(type.bytes);
    quantise(*type.block, numbers.subspan(first * of_block, some * of_block),
             std::span(bytes).subspan(first * size, some * size));
  });
  return bytes;
}

// A number that is finite must stay so.
void require_held(const LaterTensor& tensor, DType dtype, const Tensor& values) {
  if (dtype != DType::f16 || values.dtype() == DType::f16) return;
  const Tensor floats(values, DType::f32);
  for (const float value : floats.values<float>()) {
    if (std::fabs(value) >= kFirstBeyondHalf && std::isfinite(value)) fail_value(tensor, value);
  }
}

template <class Number>
void append_number(std::vector<std::byte>& bytes, Number number) {
  using Bits =
      std::conditional_t<sizeof(Number) == 8, std::uint64_t,
                         std::conditional_t<sizeof(Number) == 4, std::uint32_t,
                                            std::conditional_t<sizeof(Number) == 2, std::uint16_t, std::uint8_t>>>;
  const auto bits = std::bit_cast<Bits>(number);
  for (std::size_t n = 0; n < sizeof(Number); ++n) bytes.push_back(static_cast<std::byte>(bits >> n * 8));
}

void append_gguf_text(std::vector<std::byte>& bytes, std::string_view text) {
  append_number<std::uint64_t>(bytes, text.size());
  append_text(bytes, text);
}

// A number of the metadata in the width that the file gives it.
template <class Number>
void append_as(std::vector<std::byte>& bytes, std::string_view type, Number value) {
  if (type == "u8" || type == "i8" || type == "bool") return append_number(bytes, static_cast<std::uint8_t>(value));
  if (type == "u16" || type == "i16") return append_number(bytes, static_cast<std::uint16_t>(value));
  if (type == "u32") return append_number(bytes, static_cast<std::uint32_t>(value));
  if (type == "i32") return append_number(bytes, static_cast<std::int32_t>(value));
  if (type == "f32") return append_number(bytes, static_cast<float>(value));
  if (type == "f64") return append_number(bytes, static_cast<double>(value));
  append_number(bytes, static_cast<std::int64_t>(value));
}

void append_value(std::vector<std::byte>& bytes, const GgufValue& value) {
  constexpr std::string_view kListOf = "list of ";
  const bool is_list = value.type.starts_with(kListOf);
  const std::string_view element = std::string_view(value.type).substr(is_list ? kListOf.size() : 0);
  if (is_list) append_number(bytes, number_of_gguf_value("list"));
  append_number(bytes, number_of_gguf_value(element));
  std::visit(
      [&]<class Value>(const Value& held) {
        if constexpr (std::is_same_v<Value, std::string>) {
          append_gguf_text(bytes, held);
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          append_number<std::uint64_t>(bytes, held.size());
          for (const std::string& text : held) append_gguf_text(bytes, text);
        } else if constexpr (std::is_same_v<Value, GgufOther>) {
          bytes.insert(bytes.end(), held.bytes.begin(), held.bytes.end());
        } else if constexpr (std::is_arithmetic_v<Value>) {
          append_as(bytes, element, held);
        } else {
          append_number<std::uint64_t>(bytes, held.size());
          for (const auto number : held) append_as(bytes, element, number);
        }
      },
      value.value);
}

std::int64_t aligned(std::int64_t size) { return (size + kGgufAlignment - 1) / kGgufAlignment * kGgufAlignment; }

std::vector<std::byte> gguf_begin(const GgufMetadata& metadata, std::span<const LaterTensor> tensors) {
  constexpr std::uint32_t kVersion = 3;
  std::vector<std::byte> bytes;
  append_text(bytes, "GGUF");
  append_number(bytes, kVersion);
  append_number<std::uint64_t>(bytes, tensors.size());
  append_number<std::uint64_t>(bytes, metadata.size());
  for (const auto& [key, value] : metadata) {
    append_gguf_text(bytes, key);
    append_value(bytes, value);
  }
  std::int64_t place = 0;
  for (const LaterTensor& tensor : tensors) {
    append_gguf_text(bytes, tensor.name);
    append_number(bytes, static_cast<std::uint32_t>(tensor.shape.size()));
    for (std::size_t n = tensor.shape.size(); n-- > 0;) append_number<std::int64_t>(bytes, tensor.shape[n]);
    append_number<std::uint32_t>(bytes, writable_type(tensor).number);
    append_number<std::int64_t>(bytes, place);
    place += aligned(bytes_of(tensor));
  }
  bytes.resize(static_cast<std::size_t>(aligned(std::ssize(bytes))));
  return bytes;
}

// The elements of a tensor of this type, little-endian.
std::vector<std::byte> elements_as(const LaterTensor& tensor, const Tensor& values) {
  const std::optional<DType> dtype = plain_dtype(tensor.type);
  if (!dtype) return in_blocks(tensor, writable_type(tensor), values);
  require_held(tensor, *dtype, values);
  std::vector<std::byte> bytes;
  append_elements(bytes, values.dtype() == *dtype ? values : Tensor(values, *dtype));
  return bytes;
}

std::int64_t bytes_of_all(std::span<const LaterTensor> tensors) {
  std::int64_t all = 0;
  for (const LaterTensor& tensor : tensors) all += bytes_of(tensor);
  return all;
}

}  // namespace

std::int64_t bytes_of(const LaterTensor& tensor) {
  if (const auto dtype = plain_dtype(tensor.type)) {
    return numbers_of(tensor) * static_cast<std::int64_t>(size_of(*dtype));
  }
  const GgufType& type = writable_type(tensor);
  if (type.numbers > 1 && (tensor.shape.empty() || tensor.shape.back() % type.numbers != 0)) {
    throw InvalidArgument("write_gguf", "\"" + tensor.name + "\"",
                          "rows of whole blocks of " + std::to_string(type.numbers) + " for " + tensor.type,
                          "rows of " + std::to_string(tensor.shape.empty() ? 1 : tensor.shape.back()));
  }
  return numbers_of(tensor) / type.numbers * type.bytes;
}

void write_gguf(StagedFile& file, const GgufMetadata& metadata, std::span<const LaterTensor> tensors,
                const WriteProgress& progress) {
  file.write(gguf_begin(metadata, tensors));
  const std::int64_t all = bytes_of_all(tensors);
  std::int64_t done = 0;
  for (const LaterTensor& tensor : tensors) {
    std::vector<std::byte> bytes = elements_as(tensor, tensor.values());
    done += std::ssize(bytes);
    bytes.resize(static_cast<std::size_t>(aligned(std::ssize(bytes))));
    file.write(bytes);
    if (progress) progress(done, all);
  }
}

void write_safetensors(StagedFile& file, const std::map<std::string, std::string>& metadata,
                       std::span<const LaterTensor> tensors, const WriteProgress& progress) {
  std::vector<SafetensorsEntry> entries;
  for (const LaterTensor& tensor : tensors) {
    if (!plain_dtype(tensor.type)) {
      throw InvalidArgument("write_safetensors", "\"" + tensor.name + "\"",
                            "F64, F32, F16, BF16, I64, I32, I8, U8 or BOOL", tensor.type);
    }
    entries.push_back({.name = tensor.name, .dtype = tensor.type, .shape = tensor.shape});
  }
  const SafetensorsLayout layout = safetensors_layout(std::move(entries), metadata);
  file.write(layout.begin);
  const std::int64_t all = bytes_of_all(tensors);
  std::int64_t done = 0;
  for (const std::size_t n : layout.order) {
    const std::vector<std::byte> bytes = elements_as(tensors[n], tensors[n].values());
    done += std::ssize(bytes);
    file.write(bytes);
    if (progress) progress(done, all);
  }
}

RoundingBound rounding_bound(std::string_view type) noexcept {
  if (type == "F16") return {.relative = 1.0 / 2048, .least = 1.0 / (1 << 25)};
  if (type == "BF16") return {.relative = 1.0 / 256, .least = static_cast<double>(std::numeric_limits<float>::min())};
  const GgufType* known = find_gguf_type(type);
  return known != nullptr && known->block ? quantising_bound(*known->block) : RoundingBound{};
}

}  // namespace qkv::files
