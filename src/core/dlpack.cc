#include "qkv/dlpack.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace qkv {
namespace {

// The layout that DLPack's own header has on 64-bit machines.
static_assert(sizeof(void*) != 8 || sizeof(dlpack::Tensor) == 48);
static_assert(sizeof(void*) != 8 || sizeof(dlpack::ManagedTensor) == 64);
static_assert(sizeof(void*) != 8 || sizeof(dlpack::ManagedTensorVersioned) == 80);

struct Type {
  DType dtype;
  std::uint8_t code;
};
constexpr std::array kTypes{
    Type{DType::f64, dlpack::kFloat},   Type{DType::f32, dlpack::kFloat}, Type{DType::f16, dlpack::kFloat},
    Type{DType::bf16, dlpack::kBfloat}, Type{DType::i64, dlpack::kInt},   Type{DType::i32, dlpack::kInt},
    Type{DType::i8, dlpack::kInt},      Type{DType::u8, dlpack::kUInt},   Type{DType::b8, dlpack::kBool}};

std::uint8_t bits_of(DType dtype) { return static_cast<std::uint8_t>(8 * size_of(dtype)); }

DType dtype_of_type(const dlpack::DataType& type) {
  const auto is_it = [&](const Type& one) { return one.code == type.code && bits_of(one.dtype) == type.bits; };
  const auto found = std::ranges::find_if(kTypes, is_it);
  if (found != kTypes.end() && type.lanes == 1) return found->dtype;
  throw InvalidArgument("from_dlpack", "dtype", "f64, f32, f16, bf16, i64, i32, i8, u8 or b8",
                        "code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bits in " +
                            std::to_string(type.lanes) + " lanes");
}

TensorView view_of(const dlpack::Tensor& tensor) {
  if (tensor.device.type != dlpack::kCpu) {
    throw InvalidArgument("from_dlpack", "device", "memory of the processor, device type 1",
                          "device type " + std::to_string(tensor.device.type));
  }
  const auto rank = static_cast<std::size_t>(std::max(tensor.ndim, 0));
  const Shape shape{std::span<const std::int64_t>(tensor.shape, rank)};
  const Strides strides = tensor.strides == nullptr ? contiguous_strides(shape)
                                                    : Strides{std::span<const std::int64_t>(tensor.strides, rank)};
  const void* first =
      tensor.data == nullptr ? nullptr : static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  return {first, dtype_of_type(tensor.dtype), shape, strides};
}

template <class Managed>
Tensor taken_over(Managed* managed) {
  if (managed == nullptr) throw InvalidArgument("from_dlpack", "managed", "a tensor", "null");
  const TensorView view = view_of(managed->tensor);
  // Takes ownership only after every check: until then `managed` is the caller's.
  std::shared_ptr<const void> owner(static_cast<const void*>(managed), [managed](const void*) {
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
  return Tensor::borrow(view, std::move(owner));
}

// The struct handed out, and everything that its pointers point to.
template <class Managed>
struct Lent {
  Managed managed{};
  Tensor tensor;
  Shape shape;
  Strides strides;
};

template <class Managed>
Managed* lent(Tensor tensor) {
  auto lent = std::make_unique<Lent<Managed>>();
  lent->tensor = std::move(tensor);
  lent->shape = lent->tensor.shape();
  lent->strides = lent->tensor.strides();
  const DType dtype = lent->tensor.dtype();
  const auto type = std::ranges::find(kTypes, dtype, &Type::dtype);
  lent->managed.tensor = {.data = const_cast<void*>(std::as_const(lent->tensor).data()),
                          .device = {.type = dlpack::kCpu, .id = 0},
                          .ndim = lent->shape.rank(),
                          .dtype = {.code = type->code, .bits = bits_of(dtype), .lanes = 1},
                          .shape = lent->shape.rank() == 0 ? nullptr : &lent->shape[0],
                          .strides = lent->shape.rank() == 0 ? nullptr : &lent->strides[0],
                          .byte_offset = 0};
  lent->managed.context = lent.get();
  lent->managed.deleter = [](Managed* self) { delete static_cast<Lent<Managed>*>(self->context); };
  return &lent.release()->managed;
}

}  // namespace

Tensor from_dlpack(dlpack::ManagedTensorVersioned* managed) {
  if (managed != nullptr && managed->version.major != dlpack::kMajorVersion) {
    throw InvalidArgument("from_dlpack", "version", "version 1 of DLPack",
                          std::to_string(managed->version.major) + "." + std::to_string(managed->version.minor));
  }
  return taken_over(managed);
}

Tensor from_dlpack(dlpack::ManagedTensor* managed) { return taken_over(managed); }

dlpack::ManagedTensorVersioned* to_dlpack(Tensor tensor) {
  const bool is_writable = tensor.is_private();
  auto* managed = lent<dlpack::ManagedTensorVersioned>(std::move(tensor));
  managed->version = {.major = dlpack::kMajorVersion, .minor = dlpack::kMinorVersion};
  managed->flags = is_writable ? 0 : dlpack::kReadOnly;
  return managed;
}

dlpack::ManagedTensor* to_dlpack_unversioned(Tensor tensor) {
  if (!tensor.is_private()) tensor = Tensor(tensor.view());
  return lent<dlpack::ManagedTensor>(std::move(tensor));
}

}  // namespace qkv
