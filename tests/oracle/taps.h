// Taps: every intermediate of a forward pass, by name. docs/taps.md lists the names.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

/// What a forward pass leaves to be looked at, in the order in which it was computed:
///
///     Taps taps({"*"});
///     block.forward(x, {.taps = &taps});
///     const Tensor& weights = taps["attn.weights"];
///
/// T x T intermediates (the scores and all that follow from them up to the weights) are computed and kept only where a
/// pattern asks for them. Keeping copies.
class Taps {
 public:
  struct Entry {
    std::string name;
    Tensor value;
  };

  /// Keeps everything but the T x T intermediates.
  Taps() = default;
  /// Keeps the names that match one of `patterns`; `*` stands for any run of characters: "*" is everything,
  /// "blocks.0.attn.weights" one thing, "*.attn.weights" that of every block.
  explicit Taps(std::vector<std::string> patterns);
  Taps(std::initializer_list<std::string> patterns) : Taps(std::vector<std::string>(patterns)) {}

  /// The value under this name. Throws InvalidArgument naming it and what there is.
  [[nodiscard]] const Tensor& operator[](std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::vector<std::string> names() const;

  /// True if a value of this name would be kept; `square` where it is T x T.
  enum class Extent : unsigned char { linear, square };
  [[nodiscard]] bool wants(std::string_view name, Extent extent = Extent::linear) const;

  /// Keeps a copy if wanted. A name put again, as by a second forward pass, replaces its value.
  void put(std::string_view name, const TensorView& value, Extent extent = Extent::linear);

 private:
  std::vector<std::string> patterns_;
  bool everything_linear_ = true;
  std::vector<Entry> entries_;
};

/// A place in the tree of names. Default: nobody watches, and nothing is computed for taps. Cheap to copy.
class TapScope {
 public:
  TapScope() = default;
  TapScope(Taps* taps) : taps_(taps) {}  // NOLINT(google-explicit-constructor): `.taps = &taps`

  /// The scope `name` inside this one: names put there read "<this>.<name>.<leaf>".
  [[nodiscard]] TapScope inner(std::string_view name) const;

  [[nodiscard]] bool wants(std::string_view leaf, Taps::Extent extent = Taps::Extent::linear) const;
  void put(std::string_view leaf, const TensorView& value, Taps::Extent extent = Taps::Extent::linear) const;

 private:
  [[nodiscard]] std::string full_name(std::string_view leaf) const;

  Taps* taps_ = nullptr;
  std::string prefix_;
};

}  // namespace qkv
