#include "qkv/autograd/embedding.h"

#include <string>
#include <utility>
#include <vector>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "core/bytes.h"
#include "kernels/product/quantised.h"

namespace qkv {
namespace autograd {
namespace {

std::vector<std::int64_t> checked_ids(const char* operation, const TensorView& ids, std::int64_t count) {
  if (ids.dtype() != DType::i64 && ids.dtype() != DType::i32) {
    throw InvalidArgument(operation, "ids", "i64 or i32", name_of(ids.dtype()));
  }
  std::vector<std::int64_t> result;
  result.reserve(core::checked_count<std::int64_t>(operation, ids.shape()));
  for (const double number : ids.to_vector()) {
    const auto id = static_cast<std::int64_t>(number);
    if (id < 0 || id >= count) {
      throw InvalidArgument(operation, "ids", "ids from 0 to " + std::to_string(count - 1), std::to_string(id));
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

// Row n is the sum of the rows whose id is n.
Value scattered(const Value& rows, const std::vector<std::int64_t>& ids, std::int64_t count, std::int64_t width) {
  Value out = new_value(rows.dtype(), {count, width});
  const Places places = places_of(ids, count);
  with_real(rows.dtype(), [&]<class T>(T) { scatter(rows.data<T>(), places, width, out.data<T>()); });
  return out;
}

void copy_rows(const Value& table, const std::vector<std::int64_t>& rows, Value& out) {
  const std::int64_t width = table.shape()[1];
  const auto each = [&](const auto& copy) {
    for_rows(static_cast<std::int64_t>(rows.size()), width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) copy(rows[static_cast<std::size_t>(n)], n * width);
    });
  };
  if (const QuantisedTensor* blocks = table.storage->quantised()) {
    const kernels::QuantisedWeight weight = kernels::quantised_weight(*blocks);
    float* write = out.data<float>();
    return each([&](std::int64_t row, std::int64_t place) { dequantise_row(weight, row, write + place); });
  }
  with_real(table.dtype(), [&]<class T>(T) {
    const T* read = table.data<T>();
    T* write = out.data<T>();
    each([&](std::int64_t row, std::int64_t place) { std::copy_n(read + row * width, width, write + place); });
  });
}

}  // namespace
}  // namespace autograd

Variable embedding(const Variable& table, const TensorView& ids) {
  using autograd::Value;
  const Value& stored = autograd::stored_value_of("embedding", "table", table);
  const Value from = stored.storage->quantised() == nullptr ? autograd::dense(stored) : stored;
  if (from.view.rank() != 2) throw InvalidArgument("embedding", "table", "[N, D]", from.shape().to_string());
  const std::int64_t count = from.shape()[0];
  const std::int64_t width = from.shape()[1];
  std::vector<std::int64_t> rows = autograd::checked_ids("embedding", ids, count);
  Value out = autograd::new_value(from.dtype(), ids.shape().inserted(ids.rank(), width));
  autograd::copy_rows(from, rows, out);
  return autograd::recorded("embedding", std::move(out), {&table},
                            [rows = std::move(rows), count, width](const Value& d_out, autograd::Gradients& gradients) {
                              gradients.give(0, autograd::scattered(autograd::dense(d_out), rows, count, width));
                            });
}

Variable scatter_rows(const Variable& rows, const TensorView& ids, std::int64_t count) {
  using autograd::Value;
  const Value from = autograd::dense(autograd::value_of("scatter_rows", "rows", rows));
  if (from.view.rank() != 2) throw InvalidArgument("scatter_rows", "rows", "[M, D]", from.shape().to_string());
  if (count < 0) throw InvalidArgument("scatter_rows", "count", "0 or more", std::to_string(count));
  const Shape wanted{from.shape()[0]};
  if (!(ids.shape() == wanted)) {
    throw InvalidArgument("scatter_rows", "ids", wanted.to_string(), ids.shape().to_string());
  }
  std::vector<std::int64_t> to = autograd::checked_ids("scatter_rows", ids, count);
  Value out = autograd::scattered(from, to, count, from.shape()[1]);
  return autograd::recorded(
      "scatter_rows", std::move(out), {&rows},
      [to = std::move(to), shape = from.shape()](const Value& d_out, autograd::Gradients& gradients) {
        Value d_rows = autograd::new_value(d_out.dtype(), shape);
        autograd::copy_rows(autograd::dense(d_out), to, d_rows);
        gradients.give(0, std::move(d_rows));
      });
}

}  // namespace qkv
