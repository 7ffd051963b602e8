#include "qkv/nn/embedding.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "nn/require.h"

namespace qkv {

Tensor gather_rows(const TensorView& table, const TensorView& ids, std::string_view function,
                   std::string_view argument) {
  if (table.rank() != 2) throw InvalidArgument(function, "table", "rank 2", table.shape().to_string());
  nn::require_integers(function, argument, ids.dtype());
  const Tensor dense(table);
  const std::int64_t count = table.dim(0);
  const std::size_t row_bytes = static_cast<std::size_t>(table.dim(1)) * size_of(table.dtype());
  Tensor out(table.dtype(), ids.shape().inserted(ids.rank(), table.dim(1)));
  auto* target = static_cast<std::byte*>(out.data());
  const Tensor wanted(ids, DType::i64);
  for (const std::int64_t id : wanted.values<std::int64_t>()) {
    if (id < 0 || id >= count) {
      throw InvalidArgument(function, argument, fmt::format("0 to {} (a table of {} rows)", count - 1, count),
                            fmt::format("{}", id));
    }
    std::memcpy(target, static_cast<const std::byte*>(dense.data()) + static_cast<std::size_t>(id) * row_bytes,
                row_bytes);
    target += row_bytes;
  }
  return out;
}

Embedding::Embedding(std::int64_t count, std::int64_t width, Generator& generator, DType dtype) {
  nn::require_positive("Embedding", "count", count);
  nn::require_positive("Embedding", "width", width);
  nn::require_floating("Embedding", "dtype", dtype);
  table_ = dtype == DType::f64 ? generator.randn({count, width}, dtype) : generator.randn({count, width}).to(dtype);
}

Embedding::Embedding(Tensor table) : table_(std::move(table)) { nn::require_table("Embedding", "table", table_); }

Tensor Embedding::forward(const TensorView& ids) const { return gather_rows(table_, ids, "Embedding", "ids"); }

}  // namespace qkv
