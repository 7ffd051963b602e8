// The small untrained model that the text goes through: parameters drawn from the seed, layers of the nn room.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/run.h"
#include "explain/words.h"
#include "qkv/explain.h"
#include "qkv/nn/block.h"

namespace qkv::explain_detail {

class DrawnModel {
 public:
  /// Resolves widths, splits the texts into words and draws the parameters. Throws as explain() does.
  explicit DrawnModel(ExplainOptions options);

  /// The pass over the reader's text.
  [[nodiscard]] Run run() const;

  /// Attention's output [T, d_model] for the words in another order (`order[i]` is the word at place i), without the
  /// mask: what the question of order needs. Self-attention only.
  enum class Encoding : std::uint8_t { as_chosen, left_out };
  [[nodiscard]] Tensor output_in_order(const std::vector<std::int64_t>& order, Encoding encoding) const;

  [[nodiscard]] const DrawnParameters& parameters() const noexcept { return parameters_; }
  [[nodiscard]] const std::vector<std::string>& vocabulary() const noexcept { return vocabulary_.words(); }
  [[nodiscard]] bool is_cross() const noexcept { return options_.context.has_value(); }
  [[nodiscard]] std::int64_t d_model() const noexcept { return options_.d_model; }

 private:
  void resolve_widths();
  void draw_parameters();
  [[nodiscard]] Side side_of(const std::vector<std::string>& tokens, const std::vector<std::int64_t>& ids) const;
  [[nodiscard]] AttentionOptions attention_options() const;
  [[nodiscard]] MultiHeadAttention layer(Encoding encoding) const;
  [[nodiscard]] TransformerBlock block() const;
  [[nodiscard]] MultiHeadOptions layer_options(Encoding encoding) const;
  void assign_attention(const Parameters& parameters, const std::string& scope) const;
  void run_attention(Run& run) const;
  void run_block(Run& run) const;
  static void read_attention(Run& run, const Trace& trace, const std::string& scope);

  ExplainOptions options_;
  std::int64_t kv_heads_ = 0;
  std::int64_t d_k_ = 0;
  std::int64_t d_v_ = 0;
  Vocabulary vocabulary_;
  std::vector<std::string> tokens_;
  std::vector<std::int64_t> ids_;
  std::vector<std::string> context_tokens_;
  std::vector<std::int64_t> context_ids_;
  DrawnParameters parameters_;
};

/// The pass that starts at the reader's own tensors.
[[nodiscard]] Run run_own_tensors(const ExplainOptions& options);

}  // namespace qkv::explain_detail
