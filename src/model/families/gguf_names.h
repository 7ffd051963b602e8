// Names of weights, and demands of llama.cpp, that several architectures of GGUF files share.
#pragma once

#include <string_view>

#include "model/families/family.h"

namespace qkv::families {

inline constexpr WeightName kGgufBody[] = {
    {.ours = "embedding", .theirs = "token_embd"},
    {.ours = "blocks.#.attn.out", .theirs = "blk.#.attn_output"},
};
inline constexpr WeightName kGgufNorms[] = {
    {.ours = "blocks.#.ln1", .theirs = "blk.#.attn_norm"},
    {.ours = "blocks.#.ln2", .theirs = "blk.#.ffn_norm"},
};
inline constexpr WeightName kGgufOutput[] = {
    {.ours = "ln_final", .theirs = "output_norm"},
    {.ours = "output", .theirs = "output"},
};

inline constexpr WeightName kGgufQkv[] = {
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_q"},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_k"},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_v"},
};
inline constexpr WeightName kGgufFusedQkv[] = {
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_qkv", .part = 0, .fused = Fused::rows},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_qkv", .part = 1, .fused = Fused::rows},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_qkv", .part = 2, .fused = Fused::rows},
};
inline constexpr WeightName kGgufThirds[] = {
    {.ours = "blocks.#.attn.q", .theirs = "blk.#.attn_qkv", .part = 0, .parts = 3},
    {.ours = "blocks.#.attn.k", .theirs = "blk.#.attn_qkv", .part = 1, .parts = 3},
    {.ours = "blocks.#.attn.v", .theirs = "blk.#.attn_qkv", .part = 2, .parts = 3},
};

inline constexpr WeightName kGgufFeedForward[] = {
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up"},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
};
// Gate and up in one.
inline constexpr WeightName kGgufFusedGate[] = {
    {.ours = "blocks.#.ffn.gate", .theirs = "blk.#.ffn_up", .part = 0, .parts = 2},
    {.ours = "blocks.#.ffn.up", .theirs = "blk.#.ffn_up", .part = 1, .parts = 2},
    {.ours = "blocks.#.ffn.down", .theirs = "blk.#.ffn_down"},
};

/// What Llama and those like it have beside kGgufBody, kGgufNorms, kGgufQkv, kGgufFeedForward and kGgufOutput.
inline constexpr WeightName kGgufGatedRest[] = {
    {.ours = "blocks.#.attn.q_norm", .theirs = "blk.#.attn_q_norm"},
    {.ours = "blocks.#.attn.k_norm", .theirs = "blk.#.attn_k_norm"},
    {.ours = "blocks.#.attn_norm", .theirs = "blk.#.post_attention_norm"},
    {.ours = "blocks.#.ffn.gate", .theirs = "blk.#.ffn_gate"},
    {.ours = "blocks.#.ffn_norm", .theirs = "blk.#.post_ffw_norm"},
};

inline constexpr std::string_view kOutputWeight[] = {"output.weight"};
inline constexpr std::string_view kOutBias[] = {"blk.0.attn_output.bias"};

}  // namespace qkv::families
