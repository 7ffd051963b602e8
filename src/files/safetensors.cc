#include "qkv/safetensors.h"

#include <algorithm>
#include <bit>
#include <set>

#include "core/listed.h"
#include "files/elements.h"
#include "files/mapped_file.h"
#include "files/safetensors_header.h"

namespace qkv {
namespace {

[[noreturn]] void fail_tensor(const std::string& source, std::string_view name, const std::string& what) {
  throw FileError(source, std::string(name) + ": " + what);
}

void require_tensor_names(std::span<const NamedView> tensors) {
  std::set<std::string> seen;
  for (const NamedView& tensor : tensors) {
    const auto refuse = [&](std::string_view expected) {
      throw InvalidArgument("encode_safetensors", "name", expected, "\"" + tensor.name + "\"");
    };
    if (tensor.name.empty() || tensor.name == files::kMetadataKey) {
      refuse("a name other than \"\" and \"__metadata__\"");
    }
    if (!files::is_utf8(tensor.name)) refuse("UTF-8");
    if (!seen.insert(tensor.name).second) refuse("each name once");
  }
}

// Files are mostly read from one end to the other: the entry behind the one found last is looked at first, without
// which reading all of 64,000 takes minutes.
const SafetensorsEntry* entry_named(const std::vector<SafetensorsEntry>& entries, std::string_view name) noexcept {
  static thread_local std::size_t next = 0;
  if (next < entries.size() && entries[next].name == name) return &entries[next++];
  const auto found = std::ranges::find(entries, name, &SafetensorsEntry::name);
  if (found == entries.end()) return nullptr;
  next = static_cast<std::size_t>(found - entries.begin()) + 1;
  return &*found;
}

bool can_lie_in_place(std::span<const std::byte> data, DType dtype) {
  if (dtype == DType::b8 || std::endian::native != std::endian::little) return false;
  return std::bit_cast<std::uintptr_t>(data.data()) % size_of(dtype) == 0;
}

}  // namespace

Safetensors::Safetensors(files::SharedBytes bytes, std::string source)
    : owner_(std::move(bytes.owner)), bytes_(bytes.bytes), source_(std::move(source)) {
  files::SafetensorsHeader header = files::parse_safetensors_header(bytes_, source_);
  data_begin_ = header.data_begin;
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
}

Safetensors::Safetensors(std::vector<std::byte> bytes, std::string source)
    : Safetensors(files::share_bytes(std::move(bytes)), std::move(source)) {}

Safetensors Safetensors::read(const std::string& path) { return {files::map_file(path), path}; }

bool Safetensors::contains(std::string_view name) const noexcept { return entry_named(entries_, name) != nullptr; }

Tensor Safetensors::load(std::string_view name) const {
  const SafetensorsEntry* entry = entry_named(entries_, name);
  if (entry == nullptr) {
    fail_tensor(source_, "TensorNotFound",
                "there is no tensor \"" + std::string(name) + "\"; it holds " +
                    core::listed(entries_, 20, &SafetensorsEntry::name));
  }
  const files::SafetensorsType* type = files::find_safetensors_type(entry->dtype);
  if (type == nullptr || !type->dtype) {
    fail_tensor(source_, entry->name, "qkv has no element type for the safetensors dtype " + entry->dtype);
  }
  if (entry->shape.size() > kMaxRank) {
    fail_tensor(source_, entry->name, "expected at most 8 axes, got " + std::to_string(entry->shape.size()));
  }
  const auto data = bytes_.subspan(data_begin_ + static_cast<std::size_t>(entry->begin),
                                   static_cast<std::size_t>(entry->end - entry->begin));
  const Shape shape{std::span<const std::int64_t>(entry->shape)};
  if (!can_lie_in_place(data, *type->dtype)) {
    return files::tensor_from_bytes(data, *type->dtype, shape, std::endian::little);
  }
  return Tensor::borrow(TensorView(data.data(), *type->dtype, shape, contiguous_strides(shape)), owner_);
}

std::vector<std::byte> encode_safetensors(std::span<const NamedView> tensors,
                                          const std::map<std::string, std::string>& metadata) {
  require_tensor_names(tensors);
  for (const auto& [key, text] : metadata) {
    if (!files::is_utf8(key) || !files::is_utf8(text)) {
      throw InvalidArgument("encode_safetensors", "metadata", "UTF-8", "other bytes under \"" + key + "\"");
    }
  }
  std::vector<SafetensorsEntry> entries;
  for (const NamedView& tensor : tensors) {
    const Shape& shape = tensor.view.shape();
    entries.push_back({.name = tensor.name,
                       .dtype = std::string(files::safetensors_type(tensor.view.dtype())),
                       .shape = {shape.begin(), shape.end()}});
  }
  files::SafetensorsLayout layout = files::safetensors_layout(std::move(entries), metadata);
  std::vector<std::byte> bytes = std::move(layout.begin);
  for (const std::size_t n : layout.order) files::append_elements(bytes, tensors[n].view);
  return bytes;
}

}  // namespace qkv
