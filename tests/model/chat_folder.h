// A small random model with a chat template, as others publish them.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "model/random_weights.h"

namespace qkv::tests {

/// Letters, "Ċ" for the end of a line, and three special tokens, of which "<|im_end|>" is token 0.
inline std::string chat_tokenizer() {
  std::string vocabulary = R"({"<|im_end|>": 0, "<|im_start|>": 1, "<s>": 2)";
  for (int n = 0; n < 26; ++n) {
    vocabulary += std::string(R"(, ")") + static_cast<char>('a' + n) + R"(": )" + std::to_string(3 + n);
  }
  vocabulary += R"(, "Ċ": 29, "Ġ": 30, ".": 31})";
  const auto added = [](int id, const char* piece) {
    return R"({"id": )" + std::to_string(id) + R"(, "content": ")" + piece +
           R"(", "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false})";
  };
  return R"({"added_tokens": [)" + added(0, "<|im_end|>") + ", " + added(1, "<|im_start|>") + ", " + added(2, "<s>") +
         R"(], "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
            "post_processor": {"type": "TemplateProcessing",
              "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
              "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
              "special_tokens": {"<s>": {"id": "<s>", "ids": [2], "tokens": ["<s>"]}}},
            "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
              "use_regex": false}, "model": {"type": "BPE", "merges": [], "vocab": )" +
         vocabulary + "}}";
}

/// Writes the folder of a Llama of two layers that reads `length` tokens. Without a system message the template writes
/// "be".
inline void put_chat_model(const std::string& folder, int length = 256) {
  std::filesystem::create_directories(folder);
  const auto write_file = [&](const char* name, const std::string& text) {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
  };
  write_file(
      "config.json",
      R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
      "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "tie_word_embeddings": false,
      "vocab_size": 32, "max_position_embeddings": )" +
          std::to_string(length) + "}");
  write_file("tokenizer.json", chat_tokenizer());
  write_file("tokenizer_config.json",
             R"({"bos_token": "<s>", "chat_template": "{{ bos_token }}{% if messages[0].role != 'system' %})"
             R"(<|im_start|>system\nbe<|im_end|>\n{% endif %}{% for message in messages %})"
             R"(<|im_start|>{{ message.role + '\n' + message.content }}<|im_end|>\n{% endfor %})"
             R"({% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"})");
  put_random_weights(folder);
}

}  // namespace qkv::tests
