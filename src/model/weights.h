// Tensors of a file and the parameters that they belong to.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/nn/parameters.h"
#include "qkv/safetensors.h"

namespace qkv {

/// What an optimiser remembers of a parameter stands under this in a checkpoint.
inline constexpr std::string_view kOptimizerTensors = "optimizer/";

/// A stored weight as models hold it: as it is, or f32 for 16 bits where no kernel takes them, as in a page.
[[nodiscard]] Tensor held_weight(Tensor stored);

/// What differs between a file and what it is read into.
class Differences {
 public:
  explicit Differences(std::string path) : path_(std::move(path)) {}

  void add(std::string text) { texts_.push_back(std::move(text)); }
  /// The words that are not the same.
  void compare(const std::map<std::string, std::string>& there, const std::map<std::string, std::string>& here);
  /// Throws Error with the first of them, if there are any.
  void require_none() const;

 private:
  std::string path_;
  std::vector<std::string> texts_;
};

/// Which tensors of a file have to be wanted.
enum class Surplus : std::uint8_t {
  any_is_wrong,
  optimizer_may_stand,  // those under kOptimizerTensors are another's
};

/// The tensors of these names, in their order, mapped. Throws Error if `differences` has any, or finds some: a
/// tensor that is missing, surplus or of another shape or dtype.
[[nodiscard]] std::vector<Tensor> matching_tensors(const Safetensors& file, std::span<const NamedView> wanted,
                                                   Surplus surplus, Differences differences);

/// Gives all parameters, or none, the tensors of the file in place of their values.
void load_parameters(const Safetensors& file, std::span<const Parameter> parameters, Differences differences);

[[nodiscard]] std::vector<NamedView> views_of(std::span<const Parameter> parameters);

}  // namespace qkv
