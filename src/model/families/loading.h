// Stored weights as the values of a model's parameters.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/families/stored_weights.h"
#include "qkv/nn/parameters.h"

namespace qkv::families {

class Loading {
 public:
  /// Parameters have their names under `stack` in the family: "encoder." of an encoder whose family has two stacks.
  Loading(const StoredWeights& stored, std::string_view stack) : stored_(stored), stack_(stack) {}

  void add(const Parameter& parameter);
  /// Tensors of these patterns are left out: the caution says what they are.
  void leave_out(std::string_view pattern) { left_out_.emplace_back(pattern); }
  /// Gives all parameters their values, or throws Error with every difference. Adds to `cautions` what is left out.
  void finish(const std::string& folder, std::vector<std::string>& cautions);

 private:
  [[nodiscard]] bool is_unused(const std::string& name) const;

  const StoredWeights& stored_;
  std::string stack_;
  std::set<std::string> used_;
  std::vector<std::string> left_out_;
  std::vector<std::string> differences_;
  std::vector<std::pair<Variable, Tensor>> values_;
};

}  // namespace qkv::families
