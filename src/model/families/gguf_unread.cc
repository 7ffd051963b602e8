#include "model/families/gguf_unread.h"

#include <algorithm>
#include <string_view>

#include "core/listed.h"
#include "model/families/gguf_family.h"

namespace qkv::families {
namespace {

// A key that is not read, because it changes nothing here.
struct IdleKey {
  std::string_view name;
  std::string_view only = {};  // with this value alone, as it is shown; another one is named
};

// Sizes that follow from tensors, and what is read elsewhere or counts beside other keys alone.
constexpr IdleKey kIdleKeys[] = {
    {"attention.layer_norm_epsilon"},
    {"attention.layer_norm_rms_epsilon"},
    {"classifier.output_labels"},
    {"context_length"},
    {"pooling_type"},
    {"rope.freq_base"},
    {"rope.scale_linear"},
    {"rope.scaling.finetuned"},
    {"rope.scaling.original_context_length"},
    {"rope.scaling.yarn_beta_fast"},
    {"rope.scaling.yarn_beta_slow"},
    {"tensor_data_layout"},
    {"use_parallel_residual"},
};
// Off.
constexpr IdleKey kOffKeys[] = {
    {"attention.causal", "true"},
    {"attention.clamp_kqv", "0.0"},
    {"attention.max_alibi_bias", "0.0"},
    {"attention.scale", "0.0"},
    {"attention.sliding_window", "0"},
    {"attn_logit_softcapping", "0.0"},
    {"embedding_scale", "1.0"},
    {"expert_gating_func", "1"},
    {"expert_group_count", "0"},
    {"expert_group_count", "1"},
    {"expert_shared_count", "0"},
    {"expert_used_count", "0"},
    {"expert_weights_scale", "1.0"},
    {"final_logit_softcapping", "0.0"},
    {"leading_dense_block_count", "0"},
    {"logit_scale", "1.0"},
    {"moe_every_n_layers", "0"},
    {"nextn_predict_layers", "0"},
    {"residual_scale", "1.0"},
    {"rope.scaling.alpha", "0.0"},
    {"rope.scaling.attn_factor", "1.0"},
    {"rope.scaling.yarn_attn_factor", "1.0"},
    {"rope.scaling.yarn_ext_factor", "1.0"},
    {"rope.scaling.yarn_log_multiplier", "0.0"},
};

bool is_idle(std::string_view name, std::string_view value) {
  const auto covers = [&](const IdleKey& idle) {
    return idle.name == name && (idle.only.empty() || idle.only == value);
  };
  return std::ranges::any_of(kIdleKeys, covers) || std::ranges::any_of(kOffKeys, covers);
}

}  // namespace

void add_unread_keys(const files::GgufKeys& keys, std::vector<std::string>& cautions) {
  const std::string begin = key_of(keys, "");
  const GgufEntry* const table = keys.file().find("token_embd.weight");
  const std::string rows = table == nullptr || table->shape.empty() ? "" : std::to_string(table->shape.front());
  std::vector<std::string> unread;
  for (const std::string& key : keys.unasked(begin)) {
    const std::string value = files::gguf_value_text(keys.file().metadata().find(key)->second);
    const std::string_view name = std::string_view(key).substr(begin.size());
    const bool is_of_table = name == "vocab_size" && value == rows;
    if (!is_of_table && !is_idle(name, value)) unread.push_back(key + " " + value);
  }
  constexpr std::size_t kMost = 16;
  if (unread.empty()) return;
  cautions.push_back("its metadata: " + core::listed(unread, kMost) +
                     ": not read; the program of the model's authors may compute something else");
}

}  // namespace qkv::families
