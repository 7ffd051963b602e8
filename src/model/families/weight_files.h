// The tensors of a folder: one file, or shards with their index.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/safetensors.h"

namespace qkv::families {

class WeightFiles {
 public:
  /// Maps model.safetensors, or what model.safetensors.index.json lists. Throws Error naming the file that is missing,
  /// damaged, or lacks a tensor that the index has in it.
  explicit WeightFiles(const std::string& folder);

  [[nodiscard]] bool contains(std::string_view name) const;
  /// Mapped. Throws Error as Safetensors::load().
  [[nodiscard]] Tensor load(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, std::size_t, std::less<>>& names() const noexcept { return names_; }

 private:
  void open_shards(const std::string& folder, const std::string& index);

  std::vector<Safetensors> files_;
  std::map<std::string, std::size_t, std::less<>> names_;  // and the number of the file that has it
};

}  // namespace qkv::families
