// Stacks of transformer blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "qkv/nn/block.h"

namespace qkv {

enum class StackKind : std::uint8_t {
  encoder,  // every token sees every other, unless the mask of the call hides it
  decoder,  // causal() is added to the mask of the self-attention
};

struct StackOptions {
  StackKind kind = StackKind::encoder;
  std::int64_t layers = 1;
  BlockOptions block = {};
  bool one_block = false;  // every layer is the same block, whose parameters are blocks.0.* alone; without `vary`
  // Changes the options of layer n: a window, another rotary base. May be empty. Widths must stay.
  std::function<void(std::int64_t n, BlockOptions& options)> vary = {};
};

/// The caches of all blocks of a stack.
using StackCache = std::vector<BlockCache>;

/// Blocks and, unless they are post-norm, a last norm. The seed of dropout grows by 2 per block (and by 1 for the
/// cross-attention), so that layers drop different elements. Parameters: blocks.0.*, blocks.1.*, …, ln_final.*. A
/// trace sees what the blocks show, blocks.<n>, and ln_final.
class TransformerStack {
 public:
  /// Draws the blocks in order. Throws InvalidArgument naming layers or the block's option.
  TransformerStack(const StackOptions& options, const Init& init, DType dtype = DType::f32);

  /// As those of TransformerBlock.
  [[nodiscard]] Variable forward(const Variable& x, const BlockCall& call = {}) const;
  [[nodiscard]] Variable forward_cross(const Variable& x, const Variable& context, const BlockCall& call = {}) const;
  [[nodiscard]] Variable forward_cached(const Variable& x, StackCache& cache, const BlockCall& call = {}) const;
  /// What comes after the last block, of its output: the last norm, or nothing.
  [[nodiscard]] Variable end(const Variable& stream) const;
  [[nodiscard]] StackCache make_cache(std::int64_t B, std::int64_t capacity, DType dtype,
                                      const Variable& context = {}) const;

  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] StackKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::vector<TransformerBlock>& blocks() const noexcept { return blocks_; }

 private:
  template <class RunBlock>
  [[nodiscard]] Variable run(const Variable& x, const BlockCall& call, const RunBlock& run_block) const;

  StackKind kind_;
  bool is_one_block_;
  std::vector<TransformerBlock> blocks_;
  std::optional<Norm> last_;
};

}  // namespace qkv
