// The tensors of a folder by the names of a family, whatever stands before them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/families/family.h"
#include "model/families/weight_files.h"

namespace qkv::families {

/// Parameters of ours that may be one tensor.
inline constexpr const char* kTableParameter = "embedding.weight";
inline constexpr const char* kOutputParameter = "output.weight";

/// A parameter of ours: "blocks.3.ffn.experts.5.up.weight" with "#" for the number of its block and "@" for that of its
/// expert, those numbers, and its last word, ".weight".
struct ParameterName {
  explicit ParameterName(std::string name);

  [[nodiscard]] std::string layer() const { return whole.substr(0, whole.size() - last.size()); }

  /// A pattern with its numbers in place of "#" and "@".
  [[nodiscard]] std::string numbered(std::string_view pattern) const;

  std::string whole;   // "blocks.#.ffn.experts.@.up.weight"
  std::string number;  // "3"; empty if it is of no block
  std::string expert;  // "5"; empty if it is of no expert
  std::string last;    // empty if there is none
};

class StoredWeights {
 public:
  StoredWeights(const Family& family, const WeightFiles& files);

  [[nodiscard]] const Family& family() const noexcept { return *family_; }
  [[nodiscard]] const WeightFiles& files() const noexcept { return *files_; }
  /// Where the weight of a parameter stands: under its name, an older one (LayerNorm.gamma), or what stands in for it.
  /// nullopt if the files have neither.
  [[nodiscard]] std::optional<std::string> find(const WeightName& weight, const ParameterName& parameter) const;
  /// The name that a missing weight should have had.
  [[nodiscard]] std::string expected(const WeightName& weight, const ParameterName& parameter) const;
  /// What the family calls `ours`: of several names the first that the files have, else the first. Throws Error if it
  /// has no such parameter.
  [[nodiscard]] const WeightName& weight_of(const ParameterName& parameter) const;
  /// find() of the family's own name alone, of a parameter that need not be there.
  [[nodiscard]] std::optional<std::string> find_own(std::string_view ours) const;
  /// Whether a tensor is of a head: of the family's own, or outside of what its names begin with, as a classifier's.
  [[nodiscard]] bool is_outside(std::string_view name) const;
  /// Of a tensor outside: whether it is known to be of a head. It is not where the body's names begin with nothing.
  [[nodiscard]] bool is_of_head(std::string_view name) const { return !prefix_.empty() || is_of_known_head(name); }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// Of a tensor with two names, the table's and the output map's, a file may have one alone: find() gives this for the
  /// table that is not there.
  void read_table_from(std::string output) { table_ = std::move(output); }

 private:
  [[nodiscard]] std::string placed(const WeightName& weight, std::string_view theirs,
                                   const ParameterName& parameter) const;
  [[nodiscard]] bool is_of_known_head(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> stored_as(const std::string& name) const;

  const Family* family_;
  const WeightFiles* files_;
  std::string prefix_;  // of the body: "bert.", or "" if it is published alone
  std::string outer_;   // of a head: "", but for a model inside of another
  std::optional<std::string> table_;
};

}  // namespace qkv::families
