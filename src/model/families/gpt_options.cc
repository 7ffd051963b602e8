#include "model/families/gpt_options.h"

namespace qkv::families {

DecoderOptions gpt_options(const ConfigFile& config, Positions positions) {
  DecoderOptions options{.vocabulary = config.integer("vocab_size"),
                         .length = config.integer("n_positions"),
                         .layers = config.layers("n_layer"),
                         .d_model = config.integer("n_embd"),
                         .heads = config.integer("n_head"),
                         .positions = positions};
  if (config.has("n_inner")) options.d_ff = config.integer("n_inner");
  options.choices.epsilon = config.number("layer_norm_epsilon", 1e-5);
  return options;
}

ConfigFile in_words_of_gpt2(const ConfigFile& file) {
  return file.renamed("n_positions", "max_position_embeddings")
      .renamed("n_layer", "num_hidden_layers")
      .renamed("n_embd", "hidden_size")
      .renamed("n_head", "num_attention_heads");
}

}  // namespace qkv::families
