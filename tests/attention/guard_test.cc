// Tensors that end, and begin, at pages that nobody may touch: a kernel that reads or writes past them dies here.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "attention/fused_call.h"
#include "qkv/attention.h"

namespace qkv::testing_attention::guard_test {
namespace {

enum class Side : std::uint8_t { before, behind };

/// A dense tensor with a forbidden page right before or right behind its elements.
class Guarded {
 public:
  Guarded(const TensorView& source, Side side) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = static_cast<std::size_t>(source.size()) * size_of(source.dtype());
    const std::size_t room = (bytes + page - 1) / page * page;
    bytes_ = room + 2 * page;
    void* block = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::runtime_error("mmap");
    block_ = static_cast<std::byte*>(block);
    if (room > 0 && mprotect(block_ + page, room, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("mprotect");
    std::byte* first = block_ + page + (side == Side::behind ? room - bytes : 0);
    if (bytes > 0) std::memcpy(first, Tensor(source).data(), bytes);
    view_ = MutableTensorView(first, source.dtype(), source.shape(), contiguous_strides(source.shape()));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(block_, bytes_); }

  [[nodiscard]] const MutableTensorView& view() const { return view_; }

 private:
  std::byte* block_ = nullptr;
  std::size_t bytes_ = 0;
  MutableTensorView view_;
};

class Guards : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, Guards, testing::ValuesIn(fused_targets()),
                         [](const auto& target) { return target.param; });

void expect_within(const MaskShape& shape, const Widths& widths, DType dtype, const AttentionOptions& options) {
  const Inputs inputs = inputs_of(shape, widths, dtype);
  const AttentionResult expected = attention(inputs.q, inputs.k, inputs.v, options);
  for (const Side side : {Side::before, Side::behind}) {
    const Guarded q(inputs.q, side);
    const Guarded k(inputs.k, side);
    const Guarded v(inputs.v, side);
    const Guarded out(Tensor(dtype, expected.out.shape()), side);
    const Guarded lse(Tensor(DType::f32, expected.lse.shape()), side);
    const std::size_t bytes = attention_scratch_bytes(inputs.q, inputs.k, inputs.v, options);
    const Guarded scratch(Tensor(DType::u8, {static_cast<std::int64_t>(bytes)}), side);
    AttentionOptions with_scratch = options;
    with_scratch.scratch = {static_cast<std::byte*>(scratch.view().data()), bytes};
    attention_into(out.view(), lse.view(), q.view(), k.view(), v.view(), with_scratch);
    EXPECT_EQ(out.view().view().to_vector(), expected.out.to_vector());
    EXPECT_EQ(lse.view().view().to_vector(), expected.lse.to_vector());
  }
}

TEST_P(Guards, AreNotTouched) {
  const AttentionOptions options = {.mask = causal(), .target = GetParam()};
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::int64_t width : {1, 3, 16, 33, 64}) {
      for (const std::int64_t Tq : {1, 5, 65}) {
        expect_within({.B = 1, .H = 4, .Tq = Tq, .Tk = 67}, {.Hk = 2, .D = width, .Dv = width + 1}, dtype, options);
      }
    }
    expect_within({.B = 2, .H = 2, .Tq = 64, .Tk = 128}, {.Hk = 2, .D = 128, .Dv = 80}, dtype, options);
  }
}

TEST_P(Guards, AreNotTouchedByBiasesAndDropout) {
  const AttentionOptions options = {.softcap = 5.0,
                                    .bias = alibi(),
                                    .dropout = Dropout{.p = 0.2, .seed = 3},
                                    .sinks = {0.5, 1, -1, 0},
                                    .target = GetParam()};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const std::int64_t Tq : {1, 17, 100}) {
      expect_within({.B = 1, .H = 4, .Tq = Tq, .Tk = 131}, {.Hk = 1, .D = 20, .Dv = 7}, dtype, options);
    }
  }
}

}  // namespace
}  // namespace qkv::testing_attention::guard_test
