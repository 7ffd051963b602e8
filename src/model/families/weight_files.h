// The tensors of a folder: one file, or shards with their index; or those of another kind of file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/families/config_file.h"
#include "qkv/quantised_tensor.h"
#include "qkv/safetensors.h"

namespace qkv::families {

class WeightFiles {
 public:
  /// Maps model.safetensors, or what model.safetensors.index.json lists. Throws Error naming the file that is missing,
  /// damaged, lacks a tensor that the index has in it, or has a tensor that another shard has with other values; where
  /// there is neither, with what the folder has in their place.
  explicit WeightFiles(const std::string& folder);
  /// A tensor, or the blocks of one, where they are read in place.
  using Stored = std::variant<Tensor, QuantisedTensor>;
  /// Tensors of another kind of file: their types by name, and what reads one.
  WeightFiles(std::map<std::string, std::string, std::less<>> types, std::function<Stored(const std::string&)> load);

  /// Takes each pair "…_blocks" [E, N, K / 32, 16] and "…_scales" [E, N, K / 32] for one tensor of MXFP4 by the first
  /// name, [E, N, K], which stored() gives in the order of GGML's blocks. Throws Error naming a pair that does not fit,
  /// or is not of U8.
  void join_mxfp4();
  /// Of all tensors that it joined.
  [[nodiscard]] std::uint64_t numbers_in_blocks() const;

  [[nodiscard]] bool contains(std::string_view name) const;
  /// Mapped, where it is of safetensors. Throws Error as Safetensors::load().
  [[nodiscard]] Tensor load(const std::string& name) const;
  [[nodiscard]] Stored stored(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, std::size_t, std::less<>>& names() const noexcept { return names_; }
  /// As the file says it: "F32", "I8".
  [[nodiscard]] const std::string& stored_type(const std::string& name) const { return types_.at(name); }
  /// The file, or the shards, in the order in which they are read; none of another kind of file.
  [[nodiscard]] const std::vector<Safetensors>& files() const noexcept { return files_; }
  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  /// What of the files is odd, for Model::cautions().
  [[nodiscard]] const std::vector<std::string>& cautions() const noexcept { return cautions_; }

 private:
  struct Pair {
    std::size_t blocks;  // numbers of files
    std::size_t scales;
  };
  [[nodiscard]] QuantisedTensor joined(const std::string& name, const Pair& pair) const;
  void open_shards(const std::string& folder, const std::string& index);
  void add_all(std::size_t number);

  std::vector<Safetensors> files_;
  std::vector<std::string> paths_;
  std::map<std::string, std::size_t, std::less<>> names_;  // and the number of the file that has it
  std::map<std::string, std::string, std::less<>> types_;
  std::vector<std::string> cautions_;
  std::map<std::string, Pair, std::less<>> pairs_;
  mutable std::vector<std::pair<std::string, QuantisedTensor>> joined_;  // the last ones that were read
  std::function<Stored(const std::string&)> load_;                       // empty for files of safetensors
};

/// The tensor, or the numbers of its blocks in f32.
[[nodiscard]] Tensor as_tensor(WeightFiles::Stored stored);

/// Throws Error where the numbers of quantised weights do not fit into the memory that there is: `bytes` in `dtype`.
void require_memory(const std::string& source, std::uint64_t bytes, DType dtype);

/// Throws Error naming a weight that is stored in whole numbers or 8 bits, as quantised ones are; that of a
/// quantization_config is thrown with the config.
void refuse_quantised(const std::string& folder, const WeightFiles& files);

/// Throws Error for a folder of an adapter alone, which changes another model's weights.
void refuse_adapter(const std::string& folder);

/// Whether two tensors have the same shape and values.
[[nodiscard]] bool is_same_tensor(const Tensor& a, const Tensor& b);

}  // namespace qkv::families
