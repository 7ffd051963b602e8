#include "files/safetensors_header.h"

#include <utf8.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "files/elements.h"
#include "files/file_kind.h"
#include "files/json_keys.h"
#include "files/json_text.h"

namespace qkv::files {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthSize = 8;
constexpr std::uint64_t kLargestHeader = 100'000'000;  // the reference implementation's bound

constexpr std::array kTypes{
    SafetensorsType{"F64", 64, DType::f64},
    SafetensorsType{"F32", 32, DType::f32},
    SafetensorsType{"F16", 16, DType::f16},
    SafetensorsType{"BF16", 16, DType::bf16},
    SafetensorsType{"I64", 64, DType::i64},
    SafetensorsType{"I32", 32, DType::i32},
    SafetensorsType{"I8", 8, DType::i8},
    SafetensorsType{"U8", 8, DType::u8},
    SafetensorsType{"BOOL", 8, DType::b8},
    SafetensorsType{"U64", 64, std::nullopt},
    SafetensorsType{"U32", 32, std::nullopt},
    SafetensorsType{"U16", 16, std::nullopt},
    SafetensorsType{"I16", 16, std::nullopt},
    SafetensorsType{"C64", 64, std::nullopt},
    SafetensorsType{"F8_E4M3", 8, std::nullopt},
    SafetensorsType{"F8_E5M2", 8, std::nullopt},
    SafetensorsType{"F8_E8M0", 8, std::nullopt},
    SafetensorsType{"F8_E4M3FNUZ", 8, std::nullopt},
    SafetensorsType{"F8_E5M2FNUZ", 8, std::nullopt},
    SafetensorsType{"F6_E2M3", 6, std::nullopt},
    SafetensorsType{"F6_E3M2", 6, std::nullopt},
    SafetensorsType{"F4", 4, std::nullopt},
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  SafetensorsHeader read() {
    SafetensorsHeader header;
    const std::string_view text = text_of_header();
    header.data_begin = kLengthSize + text.size();
    const Json json = parse(text);
    if (!json.is_object()) malformed("expected an object");
    for (const auto& [name, value] : json.items()) {
      if (name == kMetadataKey) {
        header.metadata = metadata(value);
      } else {
        header.entries.push_back(entry(name, value));
      }
    }
    std::ranges::sort(header.entries, {}, [](const auto& e) { return std::tie(e.begin, e.end, e.name); });
    check_layout(header);
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view name, const std::string& what) const {
    throw FileError(source_, std::string(name) + ": " + what);
  }
  [[noreturn]] void malformed(const std::string& what) const { fail("InvalidHeaderDeserialization", what); }

  std::string_view text_of_header() const {
    const bool may_be_one = bytes_.size() > kLengthSize && bytes_[kLengthSize] == std::byte{'{'};
    if (!may_be_one) {
      refuse_other_kind({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}, source_, "a safetensors file");
    }
    if (bytes_.size() < kLengthSize) {
      fail("HeaderTooSmall", "expected at least 8 bytes, got " + std::to_string(bytes_.size()));
    }
    std::uint64_t length = 0;
    for (std::size_t i = kLengthSize; i-- > 0;) length = length << 8U | std::to_integer<std::uint64_t>(bytes_[i]);
    if (length > kLargestHeader) {
      fail("HeaderTooLarge", "expected a header of at most 100000000 bytes, got " + std::to_string(length));
    }
    if (length > bytes_.size() - kLengthSize) {
      fail("InvalidHeaderLength", "the header has " + std::to_string(length) + " bytes, of which " +
                                      std::to_string(bytes_.size() - kLengthSize) + " are there");
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + kLengthSize, length);
    if (!is_utf8(text)) fail("InvalidHeader", "the header is not UTF-8");
    // The parser would take one for the end of the text.
    const std::size_t zero = text.find('\0');
    if (zero != std::string_view::npos) malformed("a zero byte at byte " + std::to_string(zero) + " of the header");
    return text;
  }

  Json parse(std::string_view text) const {
    if (const auto twice = key_there_twice(text)) malformed("the key \"" + *twice + "\" stands there twice");
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) malformed("expected JSON, got " + mistake_in_json(text));
    return json;
  }

  std::map<std::string, std::string> metadata(const Json& value) const {
    std::map<std::string, std::string> result;
    if (!value.is_object()) malformed("__metadata__: expected an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) malformed("__metadata__: expected a string for \"" + key + "\"");
      result[key] = text.get<std::string>();
    }
    return result;
  }

  const Json& field(const std::string& name, const Json& value, const char* key) const {
    if (!value.is_object() || !value.contains(key)) malformed("\"" + name + "\" has no \"" + key + "\"");
    return value.at(key);
  }

  std::vector<std::uint64_t> numbers(const std::string& name, const Json& value, const char* key) const {
    const Json& list = field(name, value, key);
    const bool sound =
        list.is_array() && std::ranges::all_of(list, [](const Json& n) { return n.is_number_unsigned(); });
    if (!sound) malformed("\"" + name + "\": expected whole numbers, 0 or more, in \"" + key + "\"");
    return list.get<std::vector<std::uint64_t>>();
  }

  SafetensorsEntry entry(const std::string& name, const Json& value) const {
    SafetensorsEntry result;
    result.name = name;
    const Json& dtype = field(name, value, "dtype");
    if (!dtype.is_string() || find_safetensors_type(dtype.get<std::string>()) == nullptr) {
      malformed("\"" + name + "\": expected a dtype of the format, got " + shown(dtype));
    }
    result.dtype = dtype.get<std::string>();
    for (const std::uint64_t extent : numbers(name, value, "shape")) {
      if (extent > INT64_MAX) fail("ValidationOverflow", "\"" + name + "\" has an extent beyond 2^63 - 1");
      result.shape.push_back(static_cast<std::int64_t>(extent));
    }
    const auto offsets = numbers(name, value, "data_offsets");
    if (offsets.size() != 2) malformed("\"" + name + "\": expected two data_offsets");
    result.begin = offsets[0];
    result.end = offsets[1];
    return result;
  }

  static std::string shown(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40);
  }

  // The data is the tensors one after the other: no hole, no overlap, nothing left over.
  void check_layout(const SafetensorsHeader& header) const {
    constexpr std::uint64_t kBitsInByte = 8;
    std::uint64_t at = 0;
    for (const SafetensorsEntry& entry : header.entries) {
      const std::string quoted = "\"" + entry.name + "\"";
      if (entry.begin != at || entry.end < entry.begin) {
        fail("InvalidOffset", quoted + ": expected data_offsets that begin at " + std::to_string(at) + ", got [" +
                                  std::to_string(entry.begin) + ", " + std::to_string(entry.end) + "]");
      }
      at = entry.end;
      const auto bits = checked_bits(entry.shape, find_safetensors_type(entry.dtype)->bits);
      if (!bits) fail("ValidationOverflow", quoted + " is too large to be addressed");
      if (*bits % kBitsInByte != 0) fail("MisalignedSlice", quoted + " does not end on a whole byte");
      if (entry.end - entry.begin != *bits / kBitsInByte) {
        fail("TensorInvalidInfo", quoted + ": its shape and dtype need " + std::to_string(*bits / kBitsInByte) +
                                      " bytes, its data_offsets hold " + std::to_string(entry.end - entry.begin));
      }
    }
    const std::uint64_t there = bytes_.size() - header.data_begin;
    if (at != there) {
      fail("MetadataIncompleteBuffer",
           "the header describes " + std::to_string(at) + " bytes of data, got " + std::to_string(there));
    }
  }

  std::span<const std::byte> bytes_;
  const std::string& source_;
};

}  // namespace

const SafetensorsType* find_safetensors_type(std::string_view name) noexcept {
  const auto found = std::ranges::find(kTypes, name, &SafetensorsType::name);
  return found == kTypes.end() ? nullptr : &*found;
}

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, const std::string& source) {
  return Reader(bytes, source).read();
}

SafetensorsLayout safetensors_layout(std::vector<SafetensorsEntry> tensors,
                                     const std::map<std::string, std::string>& metadata) {
  constexpr std::size_t kAlignment = 8;
  constexpr std::uint64_t kBitsInByte = 8;
  SafetensorsLayout layout;
  for (std::size_t n = 0; n < tensors.size(); ++n) layout.order.push_back(n);
  const auto bits_of = [&](std::size_t n) { return find_safetensors_type(tensors[n].dtype)->bits; };
  std::ranges::sort(layout.order, [&](std::size_t a, std::size_t b) {
    return bits_of(a) != bits_of(b) ? bits_of(a) > bits_of(b) : tensors[a].name < tensors[b].name;
  });
  auto json = nlohmann::ordered_json::object();  // in the order of the data, as a reader of the file would like it
  if (!metadata.empty()) json[std::string(kMetadataKey)] = metadata;
  std::uint64_t at = 0;
  for (const std::size_t n : layout.order) {
    const SafetensorsEntry& tensor = tensors[n];
    const std::uint64_t begin = at;
    at += checked_bits(tensor.shape, bits_of(n)).value_or(0) / kBitsInByte;  // too large to be counted: it is empty
    json[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, at}}};
  }
  std::string header = json.dump();
  header.append((kAlignment - header.size() % kAlignment) % kAlignment, ' ');
  for (unsigned shift = 0; shift < 64; shift += 8) {
    layout.begin.push_back(static_cast<std::byte>(std::uint64_t{header.size()} >> shift));
  }
  append_text(layout.begin, header);
  return layout;
}

std::string_view safetensors_type(DType dtype) noexcept {
  return std::ranges::find(kTypes, std::optional(dtype), &SafetensorsType::dtype)->name;
}

bool is_utf8(std::string_view text) noexcept { return utf8::is_valid(text.begin(), text.end()); }

}  // namespace qkv::files
