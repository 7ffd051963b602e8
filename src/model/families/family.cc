#include "model/families/family.h"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/found.h"
#include "core/listed.h"

namespace qkv::families {
namespace {

constexpr std::array<std::pair<std::string_view, Activation>, 16> kActivationNames = {{
    {"gelu", Activation::gelu},
    {"gelu_python", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_python_tanh", Activation::gelu_tanh},
    {"gelu_accurate", Activation::gelu_tanh},
    {"quick_gelu", Activation::quick_gelu},
    {"relu", Activation::relu},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
    {"tanh", Activation::tanh},
    {"sigmoid", Activation::sigmoid},
    {"leaky_relu", Activation::leaky_relu},
    {"relu2", Activation::relu2},
    {"linear", Activation::linear},
}};

// A published type of model that is not read, the family that is most like it, and what differs.
struct Neighbour {
  std::string_view type;
  std::string_view nearest;
  std::string_view difference;
};

constexpr std::string_view kState = "layers keep a state in place of attention";
constexpr Neighbour kNeighbours[] = {
    {"blenderbot", "mbart", "embeddings have no norm"},
    {"codegen", "gptj", "q, k and v are mixed in one map"},
    {"dbrx", "mixtral", "q, k and v are one map, whose results are clipped"},
    {"deberta", "deberta-v2", "q, k and v are one map, with biases of its own"},
    {"deepseek_v32", "deepseek_v3", "queries choose the keys that they see"},
    {"deepseek_v4", "deepseek_v3", "queries choose the keys that they see"},
    {"exaone", "llama", "weights have other names"},
    {"gemma3", "gemma3_text", "network has a tower of images before it; the text_config alone is of gemma3_text"},
    {"gemma3n", "gemma3_text", "layers mix several streams"},
    {"granitemoehybrid", "granitemoe", kState},
    {"granitemoeshared", "granitemoe", "layers have an expert that every token has"},
    {"internlm2", "llama", "q, k and v are one map"},
    {"jamba", "llama", kState},
    {"jina_bert", "bert", "scores fall with the distance (ALiBi), on both sides"},
    {"llama4", "mixtral", "shares are sigmoids, and layers see chunks of a text"},
    {"mamba", "", kState},
    {"mamba2", "", kState},
    {"minicpm", "granite", "factors have other names"},
    {"nemotron", "llama", "norms are LayerNorms of gain 1 + w"},
    {"olmo", "llama", "norms have no weights"},
    {"olmo3", "olmo2", "layers see windows"},
    {"persimmon", "stablelm", "heads have norms of q and k with biases"},
    {"qwen3_next", "qwen3_moe", kState},
    {"recurrent_gemma", "gemma", kState},
    {"rwkv", "", kState},
    {"xlnet", "bert", "scores add terms of positions, and texts have two streams"},
};

const std::vector<Family>& all_families() {
  static const std::vector<Family> kAll = [] {
    std::vector<Family> all;
    for (const std::span<const Family> of_file :
         {bart_families(),     bert_families(),     bloom_families(),      clip_families(),       cohere_families(),
          deberta_families(),  deepseek_families(), falcon_families(),     gemma_families(),      gpt2_families(),
          gpt_neox_families(), llama_families(),    mixtures_of_experts(), modernbert_families(), phi_families(),
          relatives_of_bert(), relatives_of_gpt(),  relatives_of_llama(),  t5_families(),         vit_families(),
          whisper_families()}) {
      all.insert(all.end(), of_file.begin(), of_file.end());
    }
    std::ranges::sort(all, {}, &Family::type);
    return all;
  }();
  return kAll;
}

const Family* find_family(std::string_view type) { return core::found_in(all_families(), type, &Family::type); }

}  // namespace

const Family& family_named(std::string_view type) {
  if (const Family* const family = find_family(type)) return *family;
  throw std::out_of_range("a family " + std::string(type));
}

const Family& family_of(const ConfigFile& config) {
  const std::string type = config.text("model_type");
  if (const Family* const family = find_family(type)) return *family;
  const std::string names = core::joined(all_families(), &Family::type);
  const auto* const found = core::found_in(kNeighbours, type, &Neighbour::type);
  if (found == nullptr) config.refuse("model_type", "one of the families " + names);
  const std::string nearest =
      found->nearest.empty() ? "no family is near: its " : std::string(found->nearest) + " is the nearest: this one's ";
  config.refuse("model_type", "one of the families " + names + "; " + nearest + std::string(found->difference));
}

bool is_any_architecture(const ConfigFile& config, std::initializer_list<std::string_view> ends) {
  constexpr const char* kWord = "architectures";
  if (!config.has(kWord)) return false;
  return std::ranges::any_of(config.texts(kWord), [&](const std::string& name) {
    return name != "ElectraForPreTraining" &&
           std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
  });
}

EncoderHead head_in(const ConfigFile& config) {
  return is_any_architecture(config, {"ForMaskedLM", "ForPreTraining"}) ? EncoderHead::transform : EncoderHead::none;
}

std::int64_t one_of_both(const ConfigFile& config, const char* encoder, const char* decoder,
                         std::optional<std::int64_t> otherwise) {
  const auto read = [&](const char* word) {
    return otherwise ? config.integer(word, *otherwise) : config.integer(word);
  };
  const std::int64_t size = read(encoder);
  if (read(decoder) != size) config.refuse(decoder, std::string(encoder) + ", " + std::to_string(size));
  return size;
}

std::int64_t two_rows_before(const ConfigFile& /*config*/) { return 2; }

Activation activation_in(const ConfigFile& config, std::string_view word, std::string_view otherwise) {
  const std::string name = config.text(word, otherwise);
  using Named = std::pair<std::string_view, Activation>;
  if (const auto* const found = core::found_in(kActivationNames, name, &Named::first)) return found->second;
  config.refuse(word, "one of " + core::joined(kActivationNames, &Named::first));
}

}  // namespace qkv::families
