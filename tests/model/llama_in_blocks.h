// A llama whose weights, but those of its norms, are random blocks of a type.
#pragma once

#include "core/block_type.h"
#include "core/random_blocks.h"
#include "files/gguf_bytes.h"
#include "files/gguf_header.h"

namespace qkv::tests {

/// Two layers of width 256; 64 tokens. With experts it is a Mixtral, of whose router alone no blocks are made.
inline GgufBytes llama_in_blocks(core::BlockType type, std::uint32_t experts = 0) {
  const std::uint32_t number = files::find_gguf_type(core::layout_of(type).name)->number;
  constexpr std::uint32_t kPlain = 0;
  constexpr std::uint32_t kWidth = 256;
  constexpr std::uint32_t kTokens = 64;
  GgufBytes file;
  file.text("general.architecture", "llama").u32("llama.context_length", 32).u32("llama.block_count", 2);
  file.u32("llama.embedding_length", kWidth).u32("llama.feed_forward_length", 2 * kWidth);
  file.u32("llama.attention.head_count", 8).u32("llama.attention.head_count_kv", 4);
  file.f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  if (experts > 0) file.u32("llama.expert_count", experts).u32("llama.expert_used_count", 2);
  const float scale = type == core::BlockType::q8_0 ? 0.001F : 0.01F;  // of numbers up to 127
  const auto weight = [&](const std::string& name, std::int64_t N, std::int64_t K) {
    const std::vector<std::byte> blocks = random_blocks(type, N, K, scale);
    file.tensor({name,
                 number,
                 {static_cast<std::uint64_t>(K), static_cast<std::uint64_t>(N)},
                 {reinterpret_cast<const char*>(blocks.data()), blocks.size()}});
  };
  const auto weight_of_each = [&](const std::string& name, std::int64_t N, std::int64_t K) {
    const std::vector<std::byte> blocks = random_blocks(type, experts * N, K, scale);
    file.tensor({name,
                 number,
                 {static_cast<std::uint64_t>(K), static_cast<std::uint64_t>(N), experts},
                 {reinterpret_cast<const char*>(blocks.data()), blocks.size()}});
  };
  const auto router = [&](const std::string& name) {
    std::string numbers;
    for (std::uint32_t n = 0; n < experts * kWidth; ++n) numbers += gguf_number(static_cast<float>(n % 7) - 3);
    file.tensor({name, kPlain, {kWidth, experts}, numbers});
  };
  const auto norm = [&](const std::string& name) {
    std::string ones;
    for (std::uint32_t n = 0; n < kWidth; ++n) ones += gguf_number(1.0F);
    file.tensor({name, kPlain, {kWidth}, ones});
  };
  weight("token_embd.weight", kTokens, kWidth);
  norm("output_norm.weight");
  for (const std::string block : {"blk.0.", "blk.1."}) {
    norm(block + "attn_norm.weight");
    norm(block + "ffn_norm.weight");
    weight(block + "attn_q.weight", kWidth, kWidth);
    weight(block + "attn_k.weight", kWidth / 2, kWidth);
    weight(block + "attn_v.weight", kWidth / 2, kWidth);
    weight(block + "attn_output.weight", kWidth, kWidth);
    if (experts > 0) {
      router(block + "ffn_gate_inp.weight");
      weight_of_each(block + "ffn_gate_exps.weight", 2 * kWidth, kWidth);
      weight_of_each(block + "ffn_up_exps.weight", 2 * kWidth, kWidth);
      weight_of_each(block + "ffn_down_exps.weight", kWidth, 2 * kWidth);
      continue;
    }
    weight(block + "ffn_gate.weight", 2 * kWidth, kWidth);
    weight(block + "ffn_up.weight", 2 * kWidth, kWidth);
    weight(block + "ffn_down.weight", kWidth, 2 * kWidth);
  }
  return file;
}

/// The same as the bytes of a file, with a token for each character from "!" on.
inline std::string llama_with_letters(core::BlockType type) {
  GgufBytes file = llama_in_blocks(type);
  std::vector<std::string> tokens;
  for (char letter = '!'; tokens.size() < 64; ++letter) tokens.emplace_back(1, letter);
  file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2");
  file.texts("tokenizer.ggml.tokens", tokens).texts("tokenizer.ggml.merges", {});
  return file.text_of();
}

}  // namespace qkv::tests
