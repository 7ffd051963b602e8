// GGUF: a model as llama.cpp keeps it, metadata and tensors, most of them quantised, in one file or a split one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "qkv/quantised_tensor.h"
#include "qkv/tensor.h"

namespace qkv {

namespace files {
struct SharedBytes;
}

/// A tensor as listed in the file.
struct GgufEntry {
  std::string name;
  std::string type;                 // as GGML calls it: "F32", "Q4_K"
  std::vector<std::int64_t> shape;  // [rows, columns], the outermost axis first; at most four
  std::uint64_t begin = 0;          // bytes of its part
  std::uint64_t end = 0;
  std::size_t part = 0;  // of a split file, from 0 on
};

/// A value that has no type of C++ here: a list of lists, or whole numbers of which one is 2^63 or more.
struct GgufOther {
  std::string text;              // for people: "18446744073709551615", "a list of 2 lists"
  std::vector<std::byte> bytes;  // as in the file, without the types of value and element

  friend bool operator==(const GgufOther&, const GgufOther&) = default;
};

/// A value of the metadata. Whole numbers of any width are std::int64_t, also in lists; a list of booleans is one of 0
/// and 1.
struct GgufValue {
  std::string type;  // "u32", "string", "list of f32"
  std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
               std::vector<std::string>, GgufOther>
      value;
};

using GgufMetadata = std::map<std::string, GgufValue, std::less<>>;

/// A file of version 2 or 3, little-endian. The constructor reads metadata and list of tensors and checks every length,
/// count and place against the bytes that are there, and what each tensor's type and shape take against where the next
/// one begins; data is read when it is used. Copies share the bytes.
///
/// Throws Error "<source>: <what>: expected …, got …", where <what> is the metadata's key, the tensor's name or its
/// number. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
class Gguf {
 public:
  explicit Gguf(std::vector<std::byte> bytes, const std::string& source = "gguf");
  /// Maps the file, read only, as Safetensors::read(). Of a split model any part stands for all: the others lie beside
  /// it, by names that end in -00001-of-00003.gguf. Throws Error for a part that is not there, too.
  [[nodiscard]] static Gguf read(const std::string& path);
  /// The same of a file that is mapped already.
  [[nodiscard]] static Gguf read(files::SharedBytes bytes, const std::string& path);

  [[nodiscard]] int version() const noexcept { return version_; }
  /// In the order of their data.
  [[nodiscard]] const std::vector<GgufEntry>& entries() const noexcept { return entries_; }
  /// Of a split model that of its first part.
  [[nodiscard]] const GgufMetadata& metadata() const noexcept { return metadata_; }
  /// nullptr where there is none.
  [[nodiscard]] const GgufEntry* find(std::string_view name) const noexcept;
  [[nodiscard]] std::size_t parts() const noexcept { return parts_.size(); }
  /// What names the file in errors; of a split model its first part.
  [[nodiscard]] const std::string& source() const noexcept { return parts_.front().source; }
  [[nodiscard]] const std::string& source_of(std::size_t part) const { return parts_.at(part).source; }

  /// One tensor, dense. Of F32, F16, BF16, F64, I8, I32 and I64 it reads the file's bytes in place, as
  /// Safetensors::load() does. Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS and MXFP4 become f32, which
  /// it allocates at each call. Throws Error for a name that is not there, and for a tensor of another type, naming it.
  [[nodiscard]] Tensor load(std::string_view name) const;
  /// The blocks of a tensor of those types that load() makes f32, in place; nullopt for a tensor of any other type.
  /// Throws Error for a name that is not there.
  [[nodiscard]] std::optional<QuantisedTensor> blocks(std::string_view name) const;

 private:
  struct Part {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
    std::string source;
  };

  Gguf() = default;
  void add_part(files::SharedBytes bytes, const std::string& source);
  void index_names();
  [[nodiscard]] const GgufEntry& entry_of(std::string_view name) const;
  [[nodiscard]] std::span<const std::byte> data_of(const GgufEntry& entry) const;

  int version_ = 0;
  std::vector<Part> parts_;
  std::vector<GgufEntry> entries_;
  GgufMetadata metadata_;
  std::map<std::string, std::size_t, std::less<>> numbers_;  // of the entries
};

}  // namespace qkv
