// Passes that multiply only by how far they are from one that ran before.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "kernels/product/known_product.h"
#include "qkv/autograd/variable.h"

namespace qkv::nn {

/// What the linear layers of a pass in f32 read and gave, by their scopes.
class KnownLinears {
 public:
  struct Known {
    Variable x;
    Variable out;
  };

  /// A layer that a pass runs twice is not known.
  void note(const std::string& name, const Variable& x, const Variable& out);
  /// Null where it is not known.
  [[nodiscard]] const Known* find(const std::string& name) const;

 private:
  std::map<std::string, Known> known_;
  std::set<std::string> twice_;
};

/// What a layer gives for rows [..., in].
using Multiply = std::function<Variable(const Variable& rows)>;

/// The weights of linear layers, packed in bf16 when they are first asked for.
class RoundedWeights {
 public:
  /// Null where there is no such product. `name`: of the layer.
  [[nodiscard]] const kernels::PackedWeight* of(const std::string& name, const Variable& weight);

 private:
  std::map<std::string, std::shared_ptr<const kernels::PackedWeight>> packed_;
};

/// While it lives, linear layers of its thread that run for a trace are noted.
class NotedLinears {
 public:
  explicit NotedLinears(KnownLinears& known);
  NotedLinears(const NotedLinears&) = delete;
  NotedLinears& operator=(const NotedLinears&) = delete;
  ~NotedLinears();

 private:
  KnownLinears* before_;
};

/// While it lives, those that run for a trace with nothing recorded, and read some times as many rows as in the pass
/// that is known, give what they gave there and the product of the difference (kernels/product/known_product.h).
class LinearDifferences {
 public:
  LinearDifferences(const KnownLinears& known, RoundedWeights& weights);
  LinearDifferences(const LinearDifferences&) = delete;
  LinearDifferences& operator=(const LinearDifferences&) = delete;
  ~LinearDifferences();

  /// Empty where that is not so. `multiply` gives the products of rows that are far from those known.
  [[nodiscard]] Variable product(const Variable& x, const Variable& weight, const Multiply& multiply);

 private:
  // What the last layer read: q, k and v read the same, and so do two maps of a feed-forward layer.
  struct Read {
    Variable x;
    Variable known;
    kernels::RowDifferences differences;
    Variable far;
  };
  const Read& read(const Variable& x, const Variable& known);

  const KnownLinears& known_;
  RoundedWeights& weights_;
  std::optional<Read> last_ = std::nullopt;
  LinearDifferences* before_;
};

/// What `multiply` gives for x, with both of these; `weight` is that of the layer whose scope this is.
[[nodiscard]] Variable known_linear(const Variable& x, const Variable& weight, const Multiply& multiply);

/// Whether there is any of both.
[[nodiscard]] bool has_known_linears() noexcept;

}  // namespace qkv::nn
