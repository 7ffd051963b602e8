// Tensors to and from other libraries without a copy, by DLPack 1.0: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once

#include <cstdint>

#include "qkv/tensor.h"

namespace qkv {

/// DLPack's structs, byte for byte: a pointer to one of dlpack.h may be cast to its counterpart here.
namespace dlpack {

inline constexpr std::uint32_t kMajorVersion = 1;
inline constexpr std::uint32_t kMinorVersion = 0;

inline constexpr std::int32_t kCpu = 1;

inline constexpr std::uint8_t kInt = 0;
inline constexpr std::uint8_t kUInt = 1;
inline constexpr std::uint8_t kFloat = 2;
inline constexpr std::uint8_t kBfloat = 4;
inline constexpr std::uint8_t kBool = 6;

inline constexpr std::uint64_t kReadOnly = 1;

struct Device {
  std::int32_t type;
  std::int32_t id;
};

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: dense and row-major
  std::uint64_t byte_offset;
};

/// DLManagedTensor, from libraries that predate DLPack 1.0.
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor* self);  // may be null
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

/// DLManagedTensorVersioned
struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned* self);  // may be null
  std::uint64_t flags;
  Tensor tensor;
};

}  // namespace dlpack

/// A tensor that reads the elements in place and calls the deleter when the last tensor that shares them is gone.
/// Writing to it copies first, so the other library never sees a write. Throws InvalidArgument naming what is not
/// supported (another device or element type, more than 8 axes, another major version); the caller then keeps
/// `managed`.
[[nodiscard]] Tensor from_dlpack(dlpack::ManagedTensorVersioned* managed);
[[nodiscard]] Tensor from_dlpack(dlpack::ManagedTensor* managed);

/// The tensor for another library, which calls the deleter when it is done. Shares the elements and marks them read
/// only, unless is_private(): std::move() a tensor in that nobody else holds for one that may be written.
[[nodiscard]] dlpack::ManagedTensorVersioned* to_dlpack(qkv::Tensor tensor);
/// The same for a library that predates DLPack 1.0 and may write to what it gets:
/// a dense copy unless is_private().
[[nodiscard]] dlpack::ManagedTensor* to_dlpack_unversioned(qkv::Tensor tensor);

}  // namespace qkv
