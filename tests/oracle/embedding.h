// Rows of a table, looked up by id.
#pragma once

#include <cstdint>
#include <string_view>

#include "qkv/random.h"
#include "qkv/tensor.h"

namespace qkv {

/// Rows of `table` [N, D] at integer `ids` [...] -> [..., D] in the dtype of the table. Negative ids do not wrap.
/// Throws InvalidArgument from `function` naming `argument` and the id where one lies outside the table.
[[nodiscard]] Tensor gather_rows(const TensorView& table, const TensorView& ids, std::string_view function,
                                 std::string_view argument);

/// A learned vector for each token id.
class Embedding {
 public:
  /// Standard normal, as torch.nn.Embedding draws. Throws InvalidArgument naming count or width where not positive, or
  /// dtype where not floating.
  Embedding(std::int64_t count, std::int64_t width, Generator& generator, DType dtype = DType::f32);

  /// Table [count, width]. Throws InvalidArgument naming table.
  explicit Embedding(Tensor table);

  /// Integer ids [...] -> [..., width] in the dtype of the table. Throws InvalidArgument naming ids and the id at
  /// fault.
  [[nodiscard]] Tensor forward(const TensorView& ids) const;

  [[nodiscard]] std::int64_t count() const { return table_.dim(0); }
  [[nodiscard]] std::int64_t width() const { return table_.dim(1); }
  [[nodiscard]] const Tensor& table() const noexcept { return table_; }

 private:
  Tensor table_;
};

}  // namespace qkv
