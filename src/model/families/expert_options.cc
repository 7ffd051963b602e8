#include "model/families/expert_options.h"

#include <string>

#include "model/families/llama_options.h"

namespace qkv::families {
namespace {

constexpr WeightName kExpertsInOne[] = {
    {.ours = "blocks.#.ffn.experts.@.gate.weight",
     .theirs = "layers.#.mlp.experts.gate_up_proj",
     .part = 0,
     .parts = 2,
     .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.up.weight",
     .theirs = "layers.#.mlp.experts.gate_up_proj",
     .part = 1,
     .parts = 2,
     .of_experts = true},
    {.ours = "blocks.#.ffn.experts.@.down.weight", .theirs = "layers.#.mlp.experts.down_proj", .of_experts = true},
};

}  // namespace

std::span<const WeightName> experts_in_one() { return kExpertsInOne; }

std::vector<WeightName> llama_names_with(std::initializer_list<std::span<const WeightName>> more) {
  std::vector<WeightName> all(llama_names().begin(), llama_names().end());
  for (const std::span<const WeightName> names : more) all.insert(all.end(), names.begin(), names.end());
  return all;
}

void read_experts(const ConfigFile& config, DecoderOptions& options, const CountWords& words,
                  const ExpertOptions& usual) {
  constexpr std::string_view kPerToken = "num_experts_per_tok";
  const std::string_view word = !words.other.empty() && config.has(words.other) ? words.other : words.own;
  ExpertOptions& experts = options.choices.experts;
  experts.count = config.integer(word, usual.count);
  experts.per_token = config.integer(kPerToken, usual.per_token);
  if (experts.count < 1) config.refuse(word, "1 or more");
  if (experts.per_token < 1 || experts.per_token > experts.count) {
    config.refuse(kPerToken, "1 to " + std::to_string(experts.count) + ", the experts that there are");
  }
}

}  // namespace qkv::families
