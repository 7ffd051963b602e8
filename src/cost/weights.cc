#include "cost/shape.h"

namespace qkv::cost_detail {
namespace {

Arithmetic attention_parameters(const CostConfig& config, const ModelShape& s) {
  Arithmetic sum =
      product({{s.d_model}, {s.heads, "heads"}, {s.d_k}}) + product({{s.d_model}, {s.kv_heads, "kv heads"}, {s.d_k}}) +
      product({{s.d_model}, {s.kv_heads, "kv heads"}, {s.d_v}}) + product({{s.heads, "heads"}, {s.d_v}, {s.d_model}});
  if (!config.attention_bias) return sum;
  return sum + product({{s.heads}, {s.d_k}}) + product({{s.kv_heads}, {s.d_k}}) + product({{s.kv_heads}, {s.d_v}}) +
         product({{s.d_model}});
}

Arithmetic ffn_parameters(const CostConfig& config, const ModelShape& s) {
  Arithmetic matrices = product({{s.ffn_matrices, "matrices"}, {s.d_model}, {s.d_ff}});
  if (!config.ffn_bias) return matrices;
  return matrices + product({{s.ffn_matrices - 1}, {s.d_ff}}) + product({{s.d_model}});
}

Arithmetic norm_parameters(const CostConfig& config, std::int64_t norms) {
  return product({{norms, norms == 1 ? "norm" : "norms"}, {config.norm_bias ? 2 : 1}, {config.d_model}});
}

void add_embeddings(const CostConfig& config, std::vector<CostItem>& items) {
  const std::int64_t d = config.d_model;
  const auto add = [&](const char* key, const char* name, const Arithmetic& arithmetic) {
    items.push_back(item(key, name, arithmetic, CostUnit::parameters));
  };
  if (config.vocab > 0) {
    const bool tied = config.output_head == OutputHead::tied;
    add("weights.embedding", tied ? "token embedding, also the output head" : "token embedding",
        product({{config.vocab, "words"}, {d}}));
  }
  if (config.learned_positions > 0) {
    add("weights.positions", "position embedding", product({{config.learned_positions, "positions"}, {d}}));
  }
  if (config.token_types > 0) {
    add("weights.token_types", "token type embedding", product({{config.token_types, "types"}, {d}}));
  }
}

void add_ends(const CostConfig& config, std::vector<CostItem>& items) {
  const std::int64_t d = config.d_model;
  if (config.norms_outside_layers > 0) {
    items.push_back(item("weights.norms_outside", "norms outside the layers",
                         norm_parameters(config, config.norms_outside_layers), CostUnit::parameters));
  }
  if (config.pooler) {
    items.push_back(item("weights.pooler", "pooler", product({{d}, {d}}) + product({{d}}), CostUnit::parameters));
  }
  if (config.output_head == OutputHead::untied) {
    items.push_back(
        item("weights.output_head", "output head", product({{config.vocab, "words"}, {d}}), CostUnit::parameters));
  }
}

}  // namespace

CostGroup weights_group(const CostConfig& config, const ModelShape& s) {
  CostGroup group{"Parameters", "How many the model learns; the last line in bytes.", {}};
  if (config.learned_positions > 0 && config.tokens > config.learned_positions) {
    group.note += " The position table ends at " + std::to_string(config.learned_positions) +
                  " tokens: other figures are those of the same model with a longer one.";
  }
  add_embeddings(config, group.items);
  const auto add = [&](const char* key, const char* name, const Factor& count, const Arithmetic& each) {
    group.items.push_back(item(key, name, times(count, each), CostUnit::parameters));
  };
  add("weights.attention", "attention: W_Q, W_K, W_V, W_O", {s.attentions(), "layers"},
      attention_parameters(config, s));
  add("weights.ffn", "feed-forward", {s.ffns(), "layers"}, ffn_parameters(config, s));
  add("weights.norms", "norms of the layers", {1}, norm_parameters(config, s.attentions() + s.ffns()));
  add_ends(config, group.items);
  group.items.push_back(total_of("weights.total", "all parameters", group.items));
  const auto total = group.items.back().value;
  group.items.push_back({"weights.bytes", "all parameters in bytes",
                         total.grouped() + " × " + std::to_string(s.bytes) + " B",
                         total * Count(static_cast<std::uint64_t>(s.bytes)), CostUnit::bytes});
  return group;
}

CostGroup training_state_group(const CostItem& parameters, const ModelShape& s) {
  CostGroup group{"Training state", "Adam keeps two moments per parameter, in f32.", {}};
  const auto add = [&](const char* key, const char* name, std::int64_t copies, std::int64_t bytes) {
    const std::string copies_text = copies == 1 ? "" : std::to_string(copies) + " × ";
    group.items.push_back({key, name, copies_text + parameters.value.grouped() + " × " + std::to_string(bytes) + " B",
                           parameters.value * Count(static_cast<std::uint64_t>(copies * bytes)), CostUnit::bytes});
  };
  add("state.weights", "parameters", 1, s.bytes);
  add("state.gradients", "gradients", 1, s.bytes);
  add("state.moments", "Adam's moments", 2, 4);
  group.items.push_back(total_of("state.total", "all of them", group.items));
  return group;
}

}  // namespace qkv::cost_detail
