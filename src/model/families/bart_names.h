// The blocks of BART's layers, as Whisper has them, too.
#pragma once

#include "model/families/family.h"

namespace qkv::families {

inline constexpr WeightName kBartBlocks[] = {
    {.ours = "encoder.blocks.#.attn.q", .theirs = "encoder.layers.#.self_attn.q_proj"},
    {.ours = "encoder.blocks.#.attn.k", .theirs = "encoder.layers.#.self_attn.k_proj"},
    {.ours = "encoder.blocks.#.attn.v", .theirs = "encoder.layers.#.self_attn.v_proj"},
    {.ours = "encoder.blocks.#.attn.out", .theirs = "encoder.layers.#.self_attn.out_proj"},
    {.ours = "encoder.blocks.#.ln1", .theirs = "encoder.layers.#.self_attn_layer_norm"},
    {.ours = "encoder.blocks.#.ffn.up", .theirs = "encoder.layers.#.fc1"},
    {.ours = "encoder.blocks.#.ffn.down", .theirs = "encoder.layers.#.fc2"},
    {.ours = "encoder.blocks.#.ln2", .theirs = "encoder.layers.#.final_layer_norm"},
    {.ours = "encoder.ln_final", .theirs = "encoder.layer_norm"},
    {.ours = "decoder.blocks.#.attn.q", .theirs = "decoder.layers.#.self_attn.q_proj"},
    {.ours = "decoder.blocks.#.attn.k", .theirs = "decoder.layers.#.self_attn.k_proj"},
    {.ours = "decoder.blocks.#.attn.v", .theirs = "decoder.layers.#.self_attn.v_proj"},
    {.ours = "decoder.blocks.#.attn.out", .theirs = "decoder.layers.#.self_attn.out_proj"},
    {.ours = "decoder.blocks.#.ln1", .theirs = "decoder.layers.#.self_attn_layer_norm"},
    {.ours = "decoder.blocks.#.cross.q", .theirs = "decoder.layers.#.encoder_attn.q_proj"},
    {.ours = "decoder.blocks.#.cross.k", .theirs = "decoder.layers.#.encoder_attn.k_proj"},
    {.ours = "decoder.blocks.#.cross.v", .theirs = "decoder.layers.#.encoder_attn.v_proj"},
    {.ours = "decoder.blocks.#.cross.out", .theirs = "decoder.layers.#.encoder_attn.out_proj"},
    {.ours = "decoder.blocks.#.ln_cross", .theirs = "decoder.layers.#.encoder_attn_layer_norm"},
    {.ours = "decoder.blocks.#.ffn.up", .theirs = "decoder.layers.#.fc1"},
    {.ours = "decoder.blocks.#.ffn.down", .theirs = "decoder.layers.#.fc2"},
    {.ours = "decoder.blocks.#.ln2", .theirs = "decoder.layers.#.final_layer_norm"},
    {.ours = "decoder.ln_final", .theirs = "decoder.layer_norm"},
};

}  // namespace qkv::families
