#include "qkv/autograd/dropout.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "core/philox.h"
#include "core/plain_number.h"

namespace qkv {
namespace autograd {
namespace {

// Four columns a call of Philox, 64 calls side by side.
constexpr std::int64_t kCalls = 64;
constexpr std::int64_t kWords = 4;

QKV_INLINED inline void words_of(std::uint64_t seed, std::int64_t row, std::int64_t first_column,
                                 std::array<std::uint32_t, kCalls * kWords>& words) {
  const core::PhiloxKey key = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  const auto first = static_cast<std::uint32_t>(first_column / kWords);
  for (std::uint32_t call = 0; call < kCalls; ++call) {
    const auto block = core::philox4x32({first + call, static_cast<std::uint32_t>(row), 0, 0}, key);
    for (std::uint32_t word = 0; word < kWords; ++word) words[call * kWords + word] = block[word];
  }
}

// out = x with dropped elements set to 0 and the others scaled; out may be x.
void drop(Value& out, const Value& x, const Dropout& dropout) {
  const std::int64_t width = x.view.rank() == 0 ? 1 : x.view.dim(-1);
  if (x.size() == 0) return;
  // A word is kept if it is not below floor(p * 2^32), which is less than 2^32 as p is less than 1.
  const auto threshold = static_cast<std::uint32_t>(static_cast<std::uint64_t>(dropout.p * 0x1p32));
  with_real(x.dtype(), [&]<class T>(T) {
    const auto factor = static_cast<Computed<T>>(1 / (1 - dropout.p));
    const T* from = x.data<T>();
    T* to = out.data<T>();
    for_rows(x.size() / width, width, [&](std::int64_t begin, std::int64_t end) {
      vectorised<T>([&]() QKV_INLINED {
        std::array<std::uint32_t, kCalls * kWords> words;
        for (std::int64_t row = begin; row < end; ++row) {
          for (std::int64_t first = 0; first < width; first += kCalls * kWords) {
            words_of(dropout.seed, row, first, words);
            const std::int64_t count = std::min(width - first, kCalls * kWords);
            const T* read = from + row * width + first;
            T* write = to + row * width + first;
            QKV_SAME_INDEX
            for (std::int64_t i = 0; i < count; ++i) {
              const Computed<T> kept = load(read[i]) * factor;
              store(write[i], words[i] >= threshold ? kept : Computed<T>{0});
            }
          }
        }
      });
    });
  });
}

}  // namespace
}  // namespace autograd

Variable dropout(const Variable& x, const Dropout& dropout) {
  using autograd::Value;
  const Value from = autograd::dense(autograd::value_of("dropout", "x", x));
  if (!(dropout.p >= 0 && dropout.p < 1)) {
    throw InvalidArgument("dropout", "p", "a probability in [0, 1)", core::plain_number(dropout.p));
  }
  if (dropout.p == 0) return x;
  Value out = autograd::new_value(from.dtype(), from.shape());
  autograd::drop(out, from, dropout);
  return autograd::recorded("dropout", std::move(out), {&x}, [dropout](Value d_out, autograd::Gradients& gradients) {
    d_out = autograd::dense(d_out);
    Value d_x = autograd::place_like(d_out);
    autograd::drop(d_x, d_out, dropout);
    gradients.give(0, std::move(d_x));
  });
}

}  // namespace qkv
