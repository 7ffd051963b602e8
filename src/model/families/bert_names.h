// What BERT and ELECTRA call their tables and blocks.
#pragma once

#include "model/families/family.h"

namespace qkv::families {

inline constexpr WeightName kBertBody[] = {
    {.ours = "embedding", .theirs = "embeddings.word_embeddings"},
    {.ours = "positions", .theirs = "embeddings.position_embeddings"},
    {.ours = "types", .theirs = "embeddings.token_type_embeddings"},
    {.ours = "ln_embedding", .theirs = "embeddings.LayerNorm"},
    {.ours = "blocks.#.attn.q", .theirs = "encoder.layer.#.attention.self.query"},
    {.ours = "blocks.#.attn.k", .theirs = "encoder.layer.#.attention.self.key"},
    {.ours = "blocks.#.attn.v", .theirs = "encoder.layer.#.attention.self.value"},
    {.ours = "blocks.#.attn.out", .theirs = "encoder.layer.#.attention.output.dense"},
    {.ours = "blocks.#.ln1", .theirs = "encoder.layer.#.attention.output.LayerNorm"},
    {.ours = "blocks.#.ffn.up", .theirs = "encoder.layer.#.intermediate.dense"},
    {.ours = "blocks.#.ffn.down", .theirs = "encoder.layer.#.output.dense"},
    {.ours = "blocks.#.ln2", .theirs = "encoder.layer.#.output.LayerNorm"},
};

}  // namespace qkv::families
