// The tensors of a new file, what type each has there, and how far it is from what it was made from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/later_tensor.h"
#include "qkv/model/convert.h"

namespace qkv::saving {

/// "Q8_0" of "q8_0".
[[nodiscard]] std::string type_in_file(std::string_view word);
/// Whether it is one of numbers, not of blocks.
[[nodiscard]] bool is_plain_type(std::string_view word);
/// As files name the dtype: "F32".
[[nodiscard]] std::string type_of_dtype(DType dtype);
/// As config.json names a plain type: "float32" of "F32".
[[nodiscard]] std::string dtype_in_config(const std::string& type);

/// The tensors of a new file, and what is said of each.
struct PlannedTensors {
  std::vector<files::LaterTensor> tensors;
  std::vector<ConvertedTensor> shown;

  void add(files::LaterTensor tensor, std::string kept = {});
};

/// What tells options.progress of a stage, if anybody listens.
[[nodiscard]] files::WriteProgress progress_of(const ConvertOptions& options, const char* stage);

struct ChosenType {
  std::string type;
  std::string kept = {};  // why it is not the one that was asked for
};
/// Whether a tensor is the map to scores of tokens, which errs more than others in few bits.
enum class TensorUse : std::uint8_t { any, scores };
/// Of a tensor of GGUF; `own` is what it had, or f32 for blocks.
[[nodiscard]] ChosenType gguf_type_for(std::string_view name, std::span<const std::int64_t> shape, TensorUse use,
                                       const std::optional<std::string>& asked, const std::string& own);
/// The name of the map to scores in a file that has `output.weight`, or in one that has not.
[[nodiscard]] std::string_view gguf_scores_map(bool has_output) noexcept;

/// The sum over the parts of a tensor of the squares of the new value, less the old one, and of the old one.
class TensorError {
 public:
  /// Adds a part, both of one shape. Throws Error naming the tensor for a number that is further from the old one than
  /// its type allows; `slack` is allowed beside it, relative to 1 and the number.
  void add(const ConvertedTensor& tensor, const Tensor& before, const Tensor& after, double slack = 0);
  [[nodiscard]] double relative() const;

 private:
  double error_ = 0;
  double size_ = 0;
};

}  // namespace qkv::saving
