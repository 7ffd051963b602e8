#include "qkv/gguf.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "files/elements.h"
#include "files/gguf_header.h"
#include "files/mapped_file.h"

namespace qkv {
namespace {

[[noreturn]] void fail_part(const std::string& source, std::string_view what, const std::string& fault) {
  throw FileError(source, std::string(what) + ": " + fault);
}

bool lies_aligned(std::span<const std::byte> data, DType dtype) {
  return std::endian::native == std::endian::little && std::bit_cast<std::uintptr_t>(data.data()) % size_of(dtype) == 0;
}

std::string in_five_digits(std::int64_t number) {
  constexpr std::size_t kDigits = 5;
  const std::string digits = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

// "-00002-of-00003.gguf"
std::string end_of_part(std::int64_t number, std::int64_t count) {
  return "-" + in_five_digits(number + 1) + "-of-" + in_five_digits(count) + ".gguf";
}

std::int64_t number_in(const GgufMetadata& metadata, std::string_view key, std::int64_t otherwise) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return otherwise;
  const auto* value = std::get_if<std::int64_t>(&found->second.value);
  return value == nullptr ? otherwise : *value;
}

constexpr std::string_view kSplitCount = "split.count";
constexpr std::string_view kSplitNumber = "split.no";
constexpr std::string_view kSplitTensors = "split.tensors.count";

}  // namespace

void Gguf::add_part(files::SharedBytes bytes, const std::string& source) {
  files::GgufHeader header = files::parse_gguf_header(bytes.bytes, source);
  for (GgufEntry& entry : header.entries) {
    entry.part = parts_.size();
    entries_.push_back(std::move(entry));
  }
  if (parts_.empty()) {
    version_ = header.version;
    metadata_ = std::move(header.metadata);
  } else if (const auto number = number_in(header.metadata, kSplitNumber, -1); number != std::ssize(parts_)) {
    fail_part(source, kSplitNumber, "expected " + std::to_string(parts_.size()) + ", got " + std::to_string(number));
  }
  parts_.push_back({.owner = std::move(bytes.owner), .bytes = bytes.bytes, .source = source});
}

void Gguf::index_names() {
  for (std::size_t n = 0; n < entries_.size(); ++n) {
    const auto [place, is_new] = numbers_.try_emplace(entries_[n].name, n);
    if (is_new) continue;
    fail_part(parts_[entries_[n].part].source, "\"" + entries_[n].name + "\"",
              "expected it in one part, got it in " + parts_[entries_[place->second].part].source + ", too");
  }
}

Gguf::Gguf(std::vector<std::byte> bytes, const std::string& source) {
  add_part(files::share_bytes(std::move(bytes)), source);
  if (const std::int64_t count = number_in(metadata_, kSplitCount, 0); count > 1) {
    fail_part(source, kSplitCount, "expected one file, got a part of " + std::to_string(count));
  }
  index_names();
}

Gguf Gguf::read(const std::string& path) { return read(files::map_file(path), path); }

Gguf Gguf::read(files::SharedBytes bytes, const std::string& path) {
  constexpr std::int64_t kMostParts = 65535;
  Gguf file;
  file.add_part(bytes, path);
  const std::int64_t count = number_in(file.metadata_, kSplitCount, 0);
  if (count > 1) {
    const std::int64_t number = number_in(file.metadata_, kSplitNumber, 0);
    const std::string end = count <= kMostParts ? end_of_part(number, count) : "";
    if (end.empty() || !path.ends_with(end)) {
      fail_part(path, kSplitCount,
                "expected a name that ends in -00001-of-00003.gguf, as parts have, for part " + std::to_string(number) +
                    " of " + std::to_string(count));
    }
    const std::string begin = path.substr(0, path.size() - end.size());
    file = Gguf();
    for (std::int64_t n = 0; n < count; ++n) {
      const std::string part = begin + end_of_part(n, count);
      file.add_part(part == path ? bytes : files::map_file(part), part);
    }
    const std::int64_t all = number_in(file.metadata_, kSplitTensors, std::ssize(file.entries_));
    if (all != std::ssize(file.entries_)) {
      fail_part(path, kSplitTensors,
                "expected " + std::to_string(all) + ", got " + std::to_string(file.entries_.size()) + " in all parts");
    }
  }
  file.index_names();
  return file;
}

const GgufEntry* Gguf::find(std::string_view name) const noexcept {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? nullptr : &entries_[found->second];
}

const GgufEntry& Gguf::entry_of(std::string_view name) const {
  if (const GgufEntry* entry = find(name)) return *entry;
  fail_part(parts_.front().source, "\"" + std::string(name) + "\"", "there is no such tensor");
}

std::span<const std::byte> Gguf::data_of(const GgufEntry& entry) const {
  return parts_[entry.part].bytes.subspan(static_cast<std::size_t>(entry.begin),
                                          static_cast<std::size_t>(entry.end - entry.begin));
}

std::optional<QuantisedTensor> Gguf::blocks(std::string_view name) const {
  const GgufEntry& entry = entry_of(name);
  const files::GgufType* type = files::find_gguf_type(entry.type);
  if (!type->block) return std::nullopt;
  const Shape shape{std::span<const std::int64_t>(entry.shape)};
  return QuantisedTensor(*type->block, shape, data_of(entry), parts_[entry.part].owner);
}

Tensor Gguf::load(std::string_view name) const {
  if (const auto quantised = blocks(name)) return quantised->dequantised();
  const GgufEntry& entry = entry_of(name);
  const Part& part = parts_[entry.part];
  const std::span<const std::byte> data = data_of(entry);
  const Shape shape{std::span<const std::int64_t>(entry.shape)};
  const files::GgufType* type = files::find_gguf_type(entry.type);
  if (!type->dtype) {
    fail_part(part.source, "\"" + entry.name + "\"",
              "expected " + files::read_gguf_types() + ", got " + entry.type + ", which qkv does not read");
  }
  if (!lies_aligned(data, *type->dtype)) {
    return files::tensor_from_bytes(data, *type->dtype, shape, std::endian::little);
  }
  return Tensor::borrow(TensorView(data.data(), *type->dtype, shape, contiguous_strides(shape)), part.owner);
}

}  // namespace qkv
