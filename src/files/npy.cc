#include "qkv/npy.h"

#include <array>
#include <bit>

#include "core/bytes.h"
#include "files/elements.h"
#include "files/file_kind.h"
#include "files/npy_header.h"

namespace qkv {
namespace {

using files::NpyHeader;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionEnd = kMagic.size() + 2;
constexpr std::size_t kDataAlignment = 64;

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr std::array kTypeCodes{
    TypeCode{"f8", DType::f64},  TypeCode{"f4", DType::f32}, TypeCode{"f2", DType::f16},
    TypeCode{"V2", DType::bf16}, TypeCode{"i8", DType::i64}, TypeCode{"i4", DType::i32},
    TypeCode{"i1", DType::i8},   TypeCode{"u1", DType::u8},  TypeCode{"b1", DType::b8},
};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t little_endian(std::span<const std::byte> bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8U | std::to_integer<std::size_t>(bytes[i]);
  return value;
}

// Checks magic and version, and cuts the bytes into the header's text and the data.
struct Parts {
  std::string_view header;
  std::span<const std::byte> data;
};
Parts cut(std::span<const std::byte> bytes, std::string_view source) {
  const std::string_view text = as_text(bytes);
  if (!text.starts_with(kMagic)) {
    files::refuse_other_kind(text, std::string(source), "a .npy file");
    throw FileError(source, "not a .npy file: it does not begin with \\x93NUMPY");
  }
  if (bytes.size() < kVersionEnd) throw FileError(source, "truncated: the .npy version is missing");
  const auto major = std::to_integer<unsigned>(bytes[kMagic.size()]);
  const auto minor = std::to_integer<unsigned>(bytes[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw FileError(
        source, "expected .npy version 1.0, 2.0 or 3.0, got " + std::to_string(major) + "." + std::to_string(minor));
  }
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::size_t header_begin = kVersionEnd + length_size;
  if (bytes.size() < header_begin) throw FileError(source, "truncated: the length of the .npy header is missing");
  const std::size_t length = little_endian(bytes.subspan(kVersionEnd, length_size));
  if (length > bytes.size() - header_begin) {
    throw FileError(source, "truncated: the .npy header has " + std::to_string(length) + " bytes, of which " +
                                std::to_string(bytes.size() - header_begin) + " are there");
  }
  if (length > files::kLongestNpyHeader) {
    throw FileError(source, "expected a .npy header of at most " + std::to_string(files::kLongestNpyHeader) +
                                " bytes, got one of " + std::to_string(length));
  }
  return {text.substr(header_begin, length), bytes.subspan(header_begin + length)};
}

struct Element {
  DType dtype;
  std::endian order;
};
Element element_of(const std::string& descr, std::string_view source) {
  const std::string_view order = std::string_view(descr).substr(0, 1);
  const bool ordered = !order.empty() && std::string_view("<>|=").find(order) != std::string_view::npos;
  for (const TypeCode& type : kTypeCodes) {
    if (!ordered || descr.substr(1) != type.code) continue;
    if (order == "|" && size_of(type.dtype) > 1 && type.code != "V2") break;
    const bool native = order == "=" || order == "|";
    if (native) return {type.dtype, type.code == "V2" ? std::endian::little : std::endian::native};
    return {type.dtype, order == "<" ? std::endian::little : std::endian::big};
  }
  throw FileError(source, "qkv has no element type for the .npy descr '" + descr +
                              "'; it reads f8, f4, f2, i8, i4, i1, u1, b1 and bf16 as V2");
}

Shape shape_of(const NpyHeader& header, DType dtype, std::uint64_t bytes_there, std::string_view source) {
  constexpr std::uint64_t kBitsInByte = 8;
  if (header.shape.size() > kMaxRank) {
    throw FileError(source, "expected at most 8 axes, got " + std::to_string(header.shape.size()));
  }
  Shape shape{std::span<const std::int64_t>(header.shape)};
  const auto bits = files::checked_bits(header.shape, size_of(dtype) * kBitsInByte);
  if (!bits) throw FileError(source, "the shape " + shape.to_string() + " is too large to be addressed");
  if (*bits / kBitsInByte != bytes_there) {
    throw FileError(source, std::string(*bits / kBitsInByte > bytes_there ? "truncated: " : "") + "the shape " +
                                shape.to_string() + " of " + std::string(name_of(dtype)) + " needs " +
                                std::to_string(*bits / kBitsInByte) + " bytes of data, got " +
                                std::to_string(bytes_there));
  }
  return shape;
}

// Column-major elements: the row-major tensor of the reversed shape, with its axes turned round.
Tensor from_fortran_order(std::span<const std::byte> data, Element element, const Shape& shape) {
  Shape reversed;
  for (int axis = shape.rank(); axis-- > 0;) reversed.push_back(shape[axis]);
  const Tensor stored = files::tensor_from_bytes(data, element.dtype, reversed, element.order);
  TensorView view = stored.view();
  for (int axis = 0; axis < shape.rank() / 2; ++axis) view = view.transpose(axis, shape.rank() - 1 - axis);
  return Tensor(view);
}

std::string descr_of(DType dtype) {
  for (const TypeCode& type : kTypeCodes) {
    if (type.dtype == dtype) return (size_of(dtype) > 1 ? "<" : "|") + std::string(type.code);
  }
  __builtin_unreachable();
}

}  // namespace

void files::require_npy_size(std::span<const std::byte> begin, std::uint64_t size, std::string_view source) {
  const Parts parts = cut(begin, source);
  const NpyHeader header = parse_npy_header(parts.header, source);
  const std::uint64_t data_begin = begin.size() - parts.data.size();
  static_cast<void>(shape_of(header, element_of(header.descr, source).dtype, size - data_begin, source));
}

Tensor decode_npy(std::span<const std::byte> bytes, std::string_view source) {
  const Parts parts = cut(bytes, source);
  const NpyHeader header = files::parse_npy_header(parts.header, source);
  const Element element = element_of(header.descr, source);
  const Shape shape = shape_of(header, element.dtype, parts.data.size(), source);
  if (header.fortran_order) return from_fortran_order(parts.data, element, shape);
  return files::tensor_from_bytes(parts.data, element.dtype, shape, element.order);
}

std::vector<std::byte> encode_npy(const TensorView& view) {
  std::string header = to_string(NpyHeader{
      .descr = descr_of(view.dtype()), .fortran_order = false, .shape = {view.shape().begin(), view.shape().end()}});
  const std::size_t begin = kVersionEnd + 2;
  const std::size_t used = (begin + header.size() + 1) % kDataAlignment;
  header.append(used == 0 ? 0 : kDataAlignment - used, ' ').append(1, '\n');
  std::vector<std::byte> bytes;
  bytes.reserve(begin + header.size() + core::checked_bytes("encode_npy", view.shape(), size_of(view.dtype())));
  files::append_text(bytes, kMagic);
  // Eight axes of nineteen digits fit into the two bytes that version 1.0 has for the header's length.
  for (const std::size_t value : {std::size_t{1}, std::size_t{0}, header.size() & 0xFFU, header.size() >> 8U}) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  files::append_text(bytes, header);
  files::append_elements(bytes, view);
  return bytes;
}

}  // namespace qkv
