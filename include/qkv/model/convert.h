// Models in other files and types: folders and GGUF, both ways, and weights in other types.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv {

struct ConvertOptions {
  /// Of the weights: "f32", "f16", "bf16"; in GGUF also "q8_0", "q4_0", "q4_1", "q5_0", "q5_1". Without it: between a
  /// folder and GGUF as they are, f32 for quantised ones; within one form it must be given.
  std::optional<std::string> type = std::nullopt;
  bool overwrite = false;  // a file that is there already; a folder never is
  /// Told of the stage "write": bytes written, of all; then of "check": bytes compared, of all.
  std::function<void(std::string_view stage, std::int64_t done, std::int64_t all)> progress = {};
};

struct ConvertedTensor {
  std::string name;  // in the new file
  std::string type;  // there: "F32", "Q8_0"
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
  /// |new - old| / |old|, by the root of the sum of squares over the tensor.
  double error = 0;
  std::string kept = {};  // why its type is not the one that was asked for
};

struct Conversion {
  std::string form;  // "GGUF", "a folder", "safetensors"
  std::int64_t bytes = 0;
  std::vector<ConvertedTensor> tensors;  // in the order of the new file
  std::vector<std::string> cautions;     // what the new file does not say
};

/// The words that ConvertOptions::type may be.
[[nodiscard]] const std::vector<std::string>& convert_types();

/// Writes the model of a folder, a GGUF or a safetensors file as `out`: GGUF if that ends in ".gguf", safetensors if in
/// ".safetensors", else a folder as `transformers` writes it. `out` is written under a temporary name, read back and
/// compared with the model tensor by tensor, then renamed; an error leaves nothing behind. Config, tokenizer and chat
/// template come along; between a folder and GGUF the options of the config and the tokens of a page are compared, too.
/// One tensor at a time is in memory, beside what opening the folder copies. Between a folder and GGUF it knows the
/// architectures that GGUF files are read of; within one form, any.
///
/// Blocks have the bits that GGML's reference makes. As llama.cpp has it, vectors, positions and tables of types stay
/// f32, and a tensor whose rows are no whole blocks is f16. Throws InvalidArgument naming type, out or model; Error
/// naming the file, the tensor or the part of the tokenizer that cannot be written.
[[nodiscard]] Conversion convert_model(const std::string& model, const std::string& out,
                                       const ConvertOptions& options = {});

}  // namespace qkv
