#include "files/gguf_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>

#include "core/counted.h"
#include "core/listed.h"
#include "files/elements.h"
#include "files/file_kind.h"
#include "files/safetensors_header.h"

namespace qkv::files {
namespace {

using core::BlockType;

constexpr GgufType plain(std::uint32_t number, std::string_view name, std::int64_t bytes,
                         std::optional<DType> dtype = std::nullopt) {
  return {.number = number, .name = name, .numbers = 1, .bytes = bytes, .dtype = dtype};
}

GgufType in_blocks(std::uint32_t number, BlockType type) {
  const core::BlockLayout& layout = core::layout_of(type);
  return {.number = number, .name = layout.name, .numbers = layout.numbers, .bytes = layout.bytes, .block = type};
}

constexpr GgufType unread(std::uint32_t number, std::string_view name, std::int64_t numbers, std::int64_t bytes) {
  return {.number = number, .name = name, .numbers = numbers, .bytes = bytes};
}

// Those that GGML has had since version 2.
const auto& gguf_types() {
  static const std::array kTypes = {plain(0, "F32", 4, DType::f32),   plain(1, "F16", 2, DType::f16),
                                    plain(24, "I8", 1, DType::i8),    plain(25, "I16", 2),
                                    plain(26, "I32", 4, DType::i32),  plain(27, "I64", 8, DType::i64),
                                    plain(28, "F64", 8, DType::f64),  plain(30, "BF16", 2, DType::bf16),
                                    in_blocks(2, BlockType::q4_0),    in_blocks(3, BlockType::q4_1),
                                    in_blocks(6, BlockType::q5_0),    in_blocks(7, BlockType::q5_1),
                                    in_blocks(8, BlockType::q8_0),    in_blocks(10, BlockType::q2_k),
                                    in_blocks(11, BlockType::q3_k),   in_blocks(12, BlockType::q4_k),
                                    in_blocks(13, BlockType::q5_k),   in_blocks(14, BlockType::q6_k),
                                    in_blocks(20, BlockType::iq4_nl), in_blocks(23, BlockType::iq4_xs),
                                    unread(9, "Q8_1", 32, 40),        unread(15, "Q8_K", 256, 292),
                                    unread(16, "IQ2_XXS", 256, 66),   unread(17, "IQ2_XS", 256, 74),
                                    unread(18, "IQ3_XXS", 256, 98),   unread(19, "IQ1_S", 256, 50),
                                    unread(21, "IQ3_S", 256, 110),    unread(22, "IQ2_S", 256, 82),
                                    unread(29, "IQ1_M", 256, 56),     unread(34, "TQ1_0", 256, 54),
                                    unread(35, "TQ2_0", 256, 66),     in_blocks(39, BlockType::mxfp4),
                                    unread(40, "NVFP4", 64, 36),      unread(41, "Q1_0", 128, 18)};
  return kTypes;
}

// Types of metadata, as the format numbers them.
constexpr std::array<std::string_view, 13> kValueTypes = {"u8",   "i8",     "u16",  "i16", "u32", "i32", "f32",
                                                          "bool", "string", "list", "u64", "i64", "f64"};
constexpr std::array<std::size_t, 13> kLeastBytes = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
constexpr std::uint32_t kString = 8;
constexpr std::uint32_t kList = 9;

std::string of_all(std::uint64_t number, std::uint64_t count) {
  return std::to_string(number + 1) + " of " + std::to_string(count);
}

// Bytes one after the other. `what` names in errors what is being read.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  [[noreturn]] void fail(const std::string& what, const std::string& fault) const {
    throw FileError(source_, what + ": " + fault);
  }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }

  template <class Number>
  Number number(const std::string& what) {
    Number value{};
    std::array<std::byte, sizeof(Number)> read{};
    std::ranges::copy(take(read.size(), what), read.begin());
    if constexpr (std::endian::native != std::endian::little) std::ranges::reverse(read);
    std::memcpy(&value, read.data(), read.size());
    return value;
  }

  std::string_view text(const std::string& what) {
    const auto length = number<std::uint64_t>(what);
    if (length > left()) {
      fail(what, "expected a text of " + std::to_string(length) + " bytes, got the " + std::to_string(left()) +
                     " that are left");
    }
    const auto bytes = take(static_cast<std::size_t>(length), what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void skip(const std::string& what, std::size_t count) { static_cast<void>(take(count, what)); }

  // Of a key or a name, which stands in messages.
  std::string name(const std::string& what) {
    const std::string_view read = text(what);
    if (read.empty()) fail(what, "expected a name, got an empty one");
    if (!is_utf8(read)) fail(what, "expected a name in UTF-8, got other bytes");
    return std::string(read);
  }

  [[nodiscard]] std::vector<std::byte> since(std::size_t begin) const {
    const auto read = bytes_.subspan(begin, at_ - begin);
    return {read.begin(), read.end()};
  }

  // How many there are of what takes `least` bytes each.
  std::uint64_t count(const std::string& what, std::size_t least) {
    const auto read = number<std::uint64_t>(what);
    require_count(what, read, least);
    return read;
  }
  void require_count(const std::string& what, std::uint64_t count, std::size_t least) const {
    if (count <= left() / least) return;
    fail(what,
         "expected " + std::to_string(count) + " of them, got the " + std::to_string(left()) + " bytes that are left");
  }

 private:
  std::span<const std::byte> take(std::size_t count, const std::string& what) {
    if (count > left()) fail(what, "expected more bytes, got the end of the file");
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

  std::span<const std::byte> bytes_;
  const std::string& source_;
  std::size_t at_ = 0;
};

enum class Lists : std::uint8_t { kept, skipped };

class GgufReader {
 public:
  GgufReader(std::span<const std::byte> bytes, const std::string& source, Lists lists = Lists::kept)
      : cursor_(bytes, source), size_(bytes.size()), lists_(lists) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with("GGUF")) refuse_other_kind(text, source, "a GGUF file");
  }

  GgufHeader read() {
    const std::uint64_t tensors = read_pairs();
    cursor_.require_count("the number of tensors", tensors, kLeastOfTensor);
    for (std::uint64_t n = 0; n < tensors; ++n) read_tensor("tensor " + of_all(n, tensors));
    place_tensors();
    return std::move(header_);
  }

  GgufMetadata read_metadata() {
    static_cast<void>(read_pairs());
    return std::move(header_.metadata);
  }

 private:
  static constexpr std::size_t kLeastOfPair = 8 + 1 + 4 + 1;
  static constexpr std::size_t kLeastOfTensor = 8 + 1 + 4 + 4 + 8;

  // How many tensors follow.
  std::uint64_t read_pairs() {
    read_version();
    const auto tensors = cursor_.number<std::uint64_t>("the number of tensors");
    const std::uint64_t pairs = cursor_.count("the number of metadata", kLeastOfPair);
    for (std::uint64_t n = 0; n < pairs; ++n) read_pair("metadata " + of_all(n, pairs));
    return tensors;
  }

  void read_version() {
    constexpr std::string_view kMagic = "GGUF";
    constexpr std::uint32_t kSwapped = 3U << 24U;
    for (const char wanted : kMagic) {
      if (cursor_.number<char>("its first bytes") != wanted) {
        cursor_.fail("its first bytes", "expected GGUF, got others");
      }
    }
    const auto version = cursor_.number<std::uint32_t>("its version");
    if (version == kSwapped) cursor_.fail("its byte order", "expected little-endian, got big-endian");
    if (version != 2 && version != 3) cursor_.fail("its version", "expected 2 or 3, got " + std::to_string(version));
    header_.version = static_cast<int>(version);
  }

  void read_pair(const std::string& what) {
    const std::string key = cursor_.name(what);
    const auto type = read_type(key);
    const auto [place, is_new] = header_.metadata.try_emplace(key);
    if (!is_new) cursor_.fail(key, "expected each key once, got it twice");
    place->second.type = kValueTypes[type];
    if (type == kList) {
      read_list(key, place->second);
    } else if (type == kString) {
      place->second.value = std::string(cursor_.text(key));
    } else {
      read_scalar(key, type, [&, begin = cursor_.at()]<class Value>(Value value) {
        if constexpr (std::is_same_v<Value, std::uint64_t>) {
          place->second.value = GgufOther{std::to_string(value), cursor_.since(begin)};
        } else {
          place->second.value = value;
        }
      });
    }
  }

  std::uint32_t read_type(const std::string& key) {
    const auto type = cursor_.number<std::uint32_t>(key);
    if (type < kValueTypes.size()) return type;
    cursor_.fail(key, "expected a type of value from 0 to 12, got " + std::to_string(type));
  }

  void read_list(const std::string& key, GgufValue& into) {
    const std::uint32_t type = read_type(key);
    into.type = "list of " + std::string(kValueTypes[type]);
    const std::size_t begin = cursor_.at();
    const std::uint64_t count = cursor_.count(key, kLeastBytes[type]);
    if (type == kList || lists_ == Lists::skipped) {
      skip_values(key, type, count);
      into.value = GgufOther{"a list of " + core::counted(count, type == kList ? "list" : "value"),
                             lists_ == Lists::skipped ? std::vector<std::byte>() : cursor_.since(begin)};
    } else if (type == kString) {
      auto& all = into.value.emplace<std::vector<std::string>>();
      all.reserve(static_cast<std::size_t>(count));
      for (std::uint64_t n = 0; n < count; ++n) all.emplace_back(cursor_.text(key));
    } else if (kValueTypes[type].starts_with('f')) {
      read_numbers(key, type, count, into.value.emplace<std::vector<double>>());
    } else if (!read_numbers(key, type, count, into.value.emplace<std::vector<std::int64_t>>())) {
      into.value =
          GgufOther{"a list of " + std::to_string(count) + " numbers, some from 2^63 on", cursor_.since(begin)};
    }
  }

  // Of a list, or of one in `depth` lists.
  void skip_values(const std::string& key, std::uint32_t type, std::uint64_t count, int depth = 1) {
    constexpr int kDeepest = 16;
    if (depth > kDeepest) cursor_.fail(key, "expected lists in lists at most 16 deep, got deeper ones");
    if (type != kList && type != kString) return cursor_.skip(key, static_cast<std::size_t>(count) * kLeastBytes[type]);
    for (std::uint64_t n = 0; n < count; ++n) {
      if (type == kString) {
        static_cast<void>(cursor_.text(key));
        continue;
      }
      const std::uint32_t inner = read_type(key);
      skip_values(key, inner, cursor_.count(key, kLeastBytes[inner]), depth + 1);
    }
  }

  // False where one is too large for its type here.
  template <class Number>
  bool read_numbers(const std::string& key, std::uint32_t type, std::uint64_t count, std::vector<Number>& all) {
    all.reserve(static_cast<std::size_t>(count));
    bool are_held = true;
    for (std::uint64_t n = 0; n < count; ++n) {
      read_scalar(key, type, [&]<class Value>(Value value) {
        if constexpr (std::is_same_v<Value, std::uint64_t>) {
          are_held = false;
        } else {
          all.push_back(static_cast<Number>(value));
        }
      });
    }
    return are_held;
  }

  // Calls `keep` with a bool, a std::int64_t or a double; with a std::uint64_t from 2^63 on.
  template <class Keep>
  void read_scalar(const std::string& key, std::uint32_t type, const Keep& keep) {
    const auto whole = [&]<class Number>(Number value) {
      if constexpr (std::is_same_v<Number, std::uint64_t>) {
        if (value > std::numeric_limits<std::int64_t>::max()) return keep(value);
      }
      keep(static_cast<std::int64_t>(value));
    };
    switch (type) {
      case 0:
        return whole(cursor_.number<std::uint8_t>(key));
      case 1:
        return whole(cursor_.number<std::int8_t>(key));
      case 2:
        return whole(cursor_.number<std::uint16_t>(key));
      case 3:
        return whole(cursor_.number<std::int16_t>(key));
      case 4:
        return whole(cursor_.number<std::uint32_t>(key));
      case 5:
        return whole(cursor_.number<std::int32_t>(key));
      case 6:
        return keep(static_cast<double>(cursor_.number<float>(key)));
      case 7:
        return keep(cursor_.number<std::uint8_t>(key) != 0);
      case 10:
        return whole(cursor_.number<std::uint64_t>(key));
      case 11:
        return whole(cursor_.number<std::int64_t>(key));
      default:
        return keep(cursor_.number<double>(key));
    }
  }

  void read_tensor(const std::string& what) {
    constexpr std::uint32_t kMostAxes = 4;
    GgufEntry entry;
    entry.name = cursor_.name(what);
    const std::string quoted = "\"" + entry.name + "\"";
    if (!names_.insert(entry.name).second) cursor_.fail(quoted, "expected each tensor once, got it twice");
    const auto axes = cursor_.number<std::uint32_t>(quoted);
    if (axes > kMostAxes) cursor_.fail(quoted, "expected at most 4 axes, got " + std::to_string(axes));
    for (std::uint32_t n = 0; n < axes; ++n) {
      const auto extent = cursor_.number<std::uint64_t>(quoted);
      if (extent > std::numeric_limits<std::int64_t>::max()) {
        cursor_.fail(quoted, "expected extents below 2^63, got " + std::to_string(extent));
      }
      entry.shape.insert(entry.shape.begin(), static_cast<std::int64_t>(extent));
    }
    const GgufType& type = type_of(quoted, cursor_.number<std::uint32_t>(quoted));
    entry.type = type.name;
    entry.begin = cursor_.number<std::uint64_t>(quoted);
    entry.end = bytes_of(quoted, type, entry.shape);  // the place follows
    header_.entries.push_back(std::move(entry));
  }

  const GgufType& type_of(const std::string& what, std::uint32_t number) const {
    const auto found = std::ranges::find(gguf_types(), number, &GgufType::number);
    if (found != gguf_types().end()) return *found;
    cursor_.fail(what, "expected a type of GGML, got number " + std::to_string(number) + ", which qkv does not know");
  }

  [[nodiscard]] std::uint64_t bytes_of(const std::string& what, const GgufType& type,
                                       std::vector<std::int64_t> shape) const {
    constexpr std::uint64_t kBitsOfByte = 8;
    constexpr std::uint64_t kBitsOfNumber = 64;  // at most, once it is read
    const bool addressable = checked_bits(shape, kBitsOfNumber).has_value();
    if (type.numbers > 1) {
      if (shape.empty() || shape.back() % type.numbers != 0) {
        cursor_.fail(what, "expected rows of whole blocks of " + std::to_string(type.numbers) + ", as " +
                               std::string(type.name) + " has them, got rows of " +
                               std::to_string(shape.empty() ? 1 : shape.back()));
      }
      shape.back() /= type.numbers;
    }
    const auto bits = checked_bits(shape, static_cast<std::uint64_t>(type.bytes) * kBitsOfByte);
    if (!bits || !addressable) cursor_.fail(what, "expected a tensor that can be addressed, got a larger one");
    return *bits / kBitsOfByte;
  }

  [[nodiscard]] std::uint64_t alignment() const {
    constexpr std::string_view kKey = "general.alignment";
    constexpr std::int64_t kUsual = 32;
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    const auto found = header_.metadata.find(kKey);
    if (found == header_.metadata.end()) return kUsual;
    const auto* value = std::get_if<std::int64_t>(&found->second.value);
    if (value == nullptr) cursor_.fail(std::string(kKey), "expected a power of two, got a " + found->second.type);
    if (*value > 0 && *value <= kMost && std::has_single_bit(static_cast<std::uint64_t>(*value))) {
      return static_cast<std::uint64_t>(*value);
    }
    cursor_.fail(std::string(kKey), "expected a power of two, got " + std::to_string(*value));
  }

  // From places in the data to places in the file. The tensors lie one behind the other, with less than an alignment
  // between them and behind the last: a type or a shape that lies leaves a gap, or takes of the next one.
  void place_tensors() {
    const std::uint64_t align = alignment();
    const std::uint64_t data = (cursor_.at() + align - 1) / align * align;
    const std::uint64_t room = size_ > data ? size_ - data : 0;
    std::ranges::sort(header_.entries, {}, [](const GgufEntry& entry) { return std::pair(entry.begin, entry.end); });
    // Those beyond the end first: else a gap before them would be laid to the tensor that stands there.
    const auto fail_beyond = [&](const GgufEntry& entry) {
      cursor_.fail("\"" + entry.name + "\"",
                   "expected " + taken_by(entry) + ", got the end of the file after " + std::to_string(room));
    };
    for (const GgufEntry& entry : header_.entries) {
      if (entry.begin > room) fail_beyond(entry);
    }
    const GgufEntry* before = nullptr;
    for (GgufEntry& entry : header_.entries) {
      if (entry.begin % align != 0) {
        cursor_.fail("\"" + entry.name + "\"", "expected a place that is a multiple of " + std::to_string(align) +
                                                   ", got " + std::to_string(entry.begin));
      }
      if (entry.end > room - entry.begin) fail_beyond(entry);
      entry.end += entry.begin;
      if (before != nullptr) {
        require_end(*before, entry.begin, align, "\"" + entry.name + "\" at place " + std::to_string(entry.begin));
      }
      before = &entry;
    }
    if (before != nullptr) require_end(*before, room, align, "the end of the file after " + std::to_string(room));
    for (GgufEntry& entry : header_.entries) {
      entry.begin += data;
      entry.end += data;
    }
  }

  // "its 24 bytes of F32 at place 0": `end` is how many still.
  static std::string taken_by(const GgufEntry& entry) {
    return "its " + std::to_string(entry.end) + " bytes of " + entry.type + " at place " + std::to_string(entry.begin);
  }

  // `next` begins at the place `begin` of the data.
  void require_end(const GgufEntry& entry, std::uint64_t begin, std::uint64_t align, const std::string& next) const {
    const std::uint64_t bytes = entry.end - entry.begin;
    const std::uint64_t held = begin < entry.begin ? 0 : begin - entry.begin;
    if (bytes <= held && held - bytes < align) return;
    const Shape shape{std::span<const std::int64_t>(entry.shape)};
    cursor_.fail("\"" + entry.name + "\"", "expected the " + std::to_string(bytes) + " bytes of " + entry.type + " " +
                                               shape.to_string() + " at place " + std::to_string(entry.begin) +
                                               ", got room for " + std::to_string(held) + " before " + next);
  }

  Cursor cursor_;
  std::uint64_t size_;
  Lists lists_;
  GgufHeader header_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace

const GgufType* find_gguf_type(std::string_view name) noexcept {
  const auto found = std::ranges::find(gguf_types(), name, &GgufType::name);
  return found == gguf_types().end() ? nullptr : &*found;
}

std::string read_gguf_types() {
  std::vector<std::string_view> names;
  for (const GgufType& type : gguf_types()) {
    if (type.dtype || type.block) names.push_back(type.name);
  }
  return core::joined(names, {}, " or ");
}

std::uint32_t number_of_gguf_value(std::string_view name) noexcept {
  return static_cast<std::uint32_t>(std::ranges::find(kValueTypes, name) - kValueTypes.begin());
}

GgufHeader parse_gguf_header(std::span<const std::byte> bytes, const std::string& source) {
  return GgufReader(bytes, source).read();
}

GgufMetadata parse_gguf_scalars(std::span<const std::byte> bytes, const std::string& source) {
  return GgufReader(bytes, source, Lists::skipped).read_metadata();
}

}  // namespace qkv::files
