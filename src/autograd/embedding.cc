#include "qkv/autograd/embedding.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "core/bytes.h"
#include "core/philox.h"

namespace qkv {
namespace autograd {
namespace {

std::vector<std::int64_t> checked_ids(const TensorView& ids, std::int64_t count) {
  if (ids.dtype() != DType::i64 && ids.dtype() != DType::i32) {
    throw InvalidArgument("embedding", "ids", "i64 or i32", name_of(ids.dtype()));
  }
  std::vector<std::int64_t> result;
  result.reserve(core::checked_count<std::int64_t>("embedding", ids.shape()));
  for (const double number : ids.to_vector()) {
    const auto id = static_cast<std::int64_t>(number);
    if (id < 0 || id >= count) {
      throw InvalidArgument("embedding", "ids", "ids from 0 to " + std::to_string(count - 1), std::to_string(id));
    }
    result.push_back(id);
  }
  return result;
}

// The positions at which each row of the table was used: places[first[id]] to places[first[id + 1]], in order.
struct Places {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> places;
};

Places places_of(const std::vector<std::int64_t>& ids, std::int64_t count) {
  Places result{.first = std::vector<std::int64_t>(static_cast<std::size_t>(count) + 1), .places = {}};
  for (const std::int64_t id : ids) ++result.first[static_cast<std::size_t>(id) + 1];
  for (std::size_t id = 1; id < result.first.size(); ++id) result.first[id] += result.first[id - 1];
  result.places.resize(ids.size());
  std::vector<std::int64_t> next = result.first;
  for (std::size_t place = 0; place < ids.size(); ++place) {
    result.places[static_cast<std::size_t>(next[static_cast<std::size_t>(ids[place])]++)] =
        static_cast<std::int64_t>(place);
  }
  return result;
}

template <class T>
void scatter(const T* d_out, const Places& places, std::int64_t width, T* d_table) {
  const auto count = static_cast<std::int64_t>(places.first.size()) - 1;
  for_rows(count, width, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Computed<T>> sums(static_cast<std::size_t>(width));
    Computed<T>* sum = sums.data();
    vectorised<T>([&]() QKV_INLINED {
      for (std::int64_t id = begin; id < end; ++id) {
        for (std::int64_t i = 0; i < width; ++i) sum[i] = 0;
        const auto last = places.first[static_cast<std::size_t>(id) + 1];
        for (std::int64_t n = places.first[static_cast<std::size_t>(id)]; n < last; ++n) {
          const T* from = d_out + places.places[static_cast<std::size_t>(n)] * width;
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < width; ++i) sum[i] += load(from[i]);
        }
        for (std::int64_t i = 0; i < width; ++i) store(d_table[id * width + i], sum[i]);
      }
    });
  });
}

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

Variable embedding(const Variable& table, const TensorView& ids) {
  using autograd::Value;
  const Value from = autograd::dense(autograd::value_of("embedding", "table", table));
  if (from.view.rank() != 2) throw InvalidArgument("embedding", "table", "[N, D]", from.shape().to_string());
  const std::int64_t count = from.shape()[0];
  const std::int64_t width = from.shape()[1];
  std::vector<std::int64_t> rows = autograd::checked_ids(ids, count);
  Value out = autograd::new_value(from.dtype(), ids.shape().inserted(ids.rank(), width));
  autograd::with_real(from.dtype(), [&]<class T>(T) {
    const T* read = from.data<T>();
    T* write = out.data<T>();
    autograd::for_rows(static_cast<std::int64_t>(rows.size()), width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        std::copy_n(read + rows[static_cast<std::size_t>(n)] * width, width, write + n * width);
      }
    });
  });
  return autograd::recorded("embedding", std::move(out), {&table},
                            [rows = std::move(rows), count, width](const Value& d_out, autograd::Gradients& gradients) {
                              const Value d = autograd::dense(d_out);
                              Value d_table = autograd::new_value(d.dtype(), {count, width});
                              const autograd::Places places = autograd::places_of(rows, count);
                              autograd::with_real(d.dtype(), [&]<class T>(T) {
                                autograd::scatter(d.data<T>(), places, width, d_table.data<T>());
                              });
                              gradients.give(0, std::move(d_table));
                            });
}

Variable dropout(const Variable& x, const Dropout& dropout) {
  using autograd::Value;
  const Value from = autograd::dense(autograd::value_of("dropout", "x", x));
  if (!(dropout.p >= 0 && dropout.p < 1)) {
    throw InvalidArgument("dropout", "p", "a probability in [0, 1)", std::to_string(dropout.p));
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
