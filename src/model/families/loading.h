// Stored weights as the values of a model's parameters.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/families/stored_weights.h"
#include "qkv/model/decoder.h"
#include "qkv/nn/parameters.h"

namespace qkv::families {

/// Of one layer's attention.
struct HeadSizes {
  std::int64_t Hq = 0;
  std::int64_t Hk = 0;
  std::int64_t D = 0;
};

[[nodiscard]] HeadSizes heads_of(const DecoderOptions& options);

class Loading {
 public:
  /// Parameters have their names under `stack` in the family: "encoder." of an encoder whose family has two stacks.
  /// `skipped` rows stand before those that are used, of a weight behind padding.
  Loading(const StoredWeights& stored, std::string_view stack, std::int64_t skipped)
      : stored_(stored), stack_(stack), skipped_(skipped) {}

  void add(const Parameter& parameter);
  /// The value of a parameter, read now. Throws Error naming a tensor that is not there or of another shape.
  [[nodiscard]] Tensor value_of(const Parameter& parameter) const;
  /// Tensors of these patterns are left out: the caution says what they are.
  void leave_out(std::string_view pattern) { left_out_.emplace_back(pattern); }
  /// How many experts there are in weights that hold those of all.
  void set_experts(std::int64_t experts) { experts_ = experts; }
  /// Blocks become numbers of this dtype. Without one they are read in place.
  void set_numbers(DType dtype) { numbers_ = dtype; }
  /// The heads of weights that hold q, k and v in one.
  void set_heads(const HeadSizes& heads) { heads_ = heads; }
  /// What says the shapes of the tensors, in errors.
  void set_config_name(std::string name) { config_name_ = std::move(name); }
  /// Gives all parameters their values, or throws Error with every difference and behind them the hint. Adds to
  /// `cautions` what is left out.
  void finish(const std::string& folder, const std::string& hint, std::vector<std::string>& cautions);

 private:
  // What is read, or what is wrong with it.
  struct Found {
    std::string stored;  // its name; empty where there is none
    WeightFiles::Stored value;
    std::string difference;
  };
  [[nodiscard]] Found find(const Parameter& parameter) const;
  [[nodiscard]] std::int64_t skipped_of(const WeightName& name) const { return name.behind_padding ? skipped_ : 0; }
  [[nodiscard]] bool is_unused(const std::string& name) const;

  const StoredWeights& stored_;
  std::string stack_;
  std::int64_t skipped_;
  std::string config_name_ = "this config.json";
  HeadSizes heads_;
  std::int64_t experts_ = 0;
  std::optional<DType> numbers_;
  std::set<std::string> used_;
  std::vector<std::string> left_out_;
  std::vector<std::string> differences_;
  std::vector<std::pair<Variable, WeightFiles::Stored>> values_;
};

}  // namespace qkv::families
