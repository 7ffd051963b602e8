#include "kernels/product/onednn.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/block_pool.h"
#include "qkv/error.h"

// Declared here because only GCC has the header of its OpenMP.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int count);
}

namespace qkv::kernels {
namespace {

// Keeps oneDNN to one OpenMP thread: qkv's own pool distributes the work.
class OneOpenMPThread {
 public:
  OneOpenMPThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  OneOpenMPThread(const OneOpenMPThread&) = delete;
  OneOpenMPThread& operator=(const OneOpenMPThread&) = delete;
  ~OneOpenMPThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

// Keeps signals back, all but those that an instruction raises: oneDNN's products of f32 move the stack pointer into a
// block of the heap, below which the system would write the frame of a signal's handler over whatever lies there.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    for (const int raised : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) sigdelset(&held, raised);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

const dnnl::engine& engine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

dnnl::memory::data_type type_of(DType dtype) {
  if (dtype == DType::f16) return dnnl::memory::data_type::f16;
  return dtype == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

struct Primitive {
  dnnl::matmul::primitive_desc description;
  dnnl::matmul call;
};

using Description = dnnl::memory::desc;

// A plain loop, slower than converting or than no packing.
bool is_reference(const Primitive& primitive) {
  return std::string_view(primitive.description.impl_info_str()).find("ref") != std::string_view::npos;
}

Description right_of(const ProductShape& shape) {
  return {{shape.K, shape.N}, type_of(shape.dtype), dnnl::memory::dims{shape.b_row, shape.b_column}};
}

// What oneDNN chooses for products of a middling M, whatever M is.
ProductShape standing_for_all(ProductShape shape) {
  constexpr std::int64_t kRows = 64;
  shape.M = kRows;
  shape.a_row = shape.K;
  shape.a_column = 1;
  shape.c_row = shape.N;
  shape.out = shape.dtype;
  shape.bias = DType::i64;
  shape.right = RightLayout::packed;
  return shape;
}

std::shared_ptr<const Primitive> primitive_of(const ProductShape& shape);

// Empty where oneDNN has no such product.
std::optional<Description> right_for(const ProductShape& shape) {
  if (shape.right == RightLayout::strided) return right_of(shape);
  if (shape.right == RightLayout::packed) {
    return Description({shape.K, shape.N}, type_of(shape.dtype), dnnl::memory::format_tag::any);
  }
  const std::shared_ptr<const Primitive> standing = primitive_of(standing_for_all(shape));
  if (standing == nullptr) return std::nullopt;
  return standing->description.weights_desc();
}

std::shared_ptr<const Primitive> made(const ProductShape& shape) {
  const Description a({shape.M, shape.K}, type_of(shape.dtype), dnnl::memory::dims{shape.a_row, shape.a_column});
  const std::optional<Description> right = right_for(shape);
  if (!right) return nullptr;
  const Description& b = *right;
  const Description c({shape.M, shape.N}, type_of(shape.out), dnnl::memory::dims{shape.c_row, 1});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  try {
    auto result = std::make_shared<Primitive>();
    if (shape.bias == DType::i64) {
      result->description = {{a, b, c}, attributes, engine()};
    } else {
      const Description bias({1, shape.N}, type_of(shape.bias), dnnl::memory::dims{shape.N, 1});
      result->description = {{a, b, bias, c}, attributes, engine()};
    }
    if (shape.right == RightLayout::kept && is_reference(*result)) return nullptr;
    result->call = dnnl::matmul(result->description);
    return result;
  } catch (const dnnl::error& fault) {
    if (fault.status == dnnl_unimplemented) return nullptr;
    throw Error(std::string("oneDNN: ") + fault.what());
  }
}

// The primitives of the last shapes: a text of another length is other shapes.
class Primitives {
 public:
  // Null where oneDNN has no such product.
  std::shared_ptr<const Primitive> find_or_make(const ProductShape& shape) {
    {
      const std::scoped_lock lock(mutex_);
      const auto found = made_.find(shape);
      if (found != made_.end()) {
        found->second.last_use = ++uses_;
        return found->second.primitive;
      }
    }
    std::shared_ptr<const Primitive> primitive = made(shape);  // takes milliseconds
    const std::scoped_lock lock(mutex_);
    if (made_.size() >= kMost) drop_oldest();
    return made_.try_emplace(shape, Held{std::move(primitive), ++uses_}).first->second.primitive;
  }

 private:
  static constexpr std::size_t kMost = 512;

  struct Held {
    std::shared_ptr<const Primitive> primitive;
    std::uint64_t last_use;
  };

  void drop_oldest() {
    made_.erase(std::ranges::min_element(made_, {}, [](const auto& entry) { return entry.second.last_use; }));
  }

  std::mutex mutex_;
  std::map<ProductShape, Held> made_;
  std::uint64_t uses_ = 0;
};

std::shared_ptr<const Primitive> primitive_of(const ProductShape& shape) {
  static auto* const kPrimitives = new Primitives;
  return kPrimitives->find_or_make(shape);
}

dnnl::memory memory_of(const dnnl::memory::desc& description, const void* data) {
  return {description, engine(), const_cast<void*>(data)};
}

}  // namespace

bool onednn_has_products_of(DType dtype) {
  constexpr std::int64_t kSize = 64;
  const std::shared_ptr<const Primitive> primitive = primitive_of({.M = kSize,
                                                                   .N = kSize,
                                                                   .K = kSize,
                                                                   .a_row = kSize,
                                                                   .a_column = 1,
                                                                   .b_row = kSize,
                                                                   .b_column = 1,
                                                                   .c_row = kSize,
                                                                   .dtype = dtype,
                                                                   .out = dtype,
                                                                   .bias = DType::i64});
  return primitive != nullptr && !is_reference(*primitive);
}

std::size_t onednn_packed_bytes(const ProductShape& shape) {
  const OneOpenMPThread alone;
  const std::shared_ptr<const Primitive> primitive = primitive_of(shape);
  return primitive == nullptr ? 0 : primitive->description.weights_desc().get_size();
}

void onednn_pack(const ProductShape& shape, const void* b, void* packed) {
  const OneOpenMPThread alone;
  const std::shared_ptr<const Primitive> primitive = primitive_of(shape);
  dnnl::memory from = memory_of(right_of(shape), b);
  dnnl::memory to = memory_of(primitive->description.weights_desc(), packed);
  dnnl::stream stream(engine());
  try {
    dnnl::reorder(from, to).execute(stream, from, to);
  } catch (const dnnl::error& fault) {
    throw Error(std::string("oneDNN: ") + fault.what());
  }
}

bool onednn_multiply(const ProductShape& shape, const void* a, const void* b, const void* bias, void* c) {
  const OneOpenMPThread alone;
  const std::shared_ptr<const Primitive> primitive = primitive_of(shape);
  if (primitive == nullptr) return false;
  thread_local const dnnl::stream kStream(engine());
  const dnnl::matmul::primitive_desc& description = primitive->description;
  const core::PooledBlock scratch(description.scratchpad_desc().get_size());
  std::unordered_map<int, dnnl::memory> arguments = {
      {DNNL_ARG_SRC, memory_of(description.src_desc(), a)},
      {DNNL_ARG_WEIGHTS, memory_of(description.weights_desc(), b)},
      {DNNL_ARG_DST, memory_of(description.dst_desc(), c)},
      {DNNL_ARG_SCRATCHPAD, memory_of(description.scratchpad_desc(), scratch.data())}};
  if (bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, memory_of(description.bias_desc(), bias));
  try {
    const SignalsHeld held;
    primitive->call.execute(kStream, arguments);
  } catch (const dnnl::error& fault) {
    throw Error(std::string("oneDNN: ") + fault.what());
  }
  return true;
}

}  // namespace qkv::kernels
