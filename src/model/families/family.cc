#include "model/families/family.h"

#include <array>
#include <utility>

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

}  // namespace

const Family& family_of(const ConfigFile& config) {
  const std::string type = config.text("model_type");
  std::string names;
  for (const Family* family :
       {&bert(), &camembert(), &clip(), &distilbert(), &gemma(), &gemma2(), &gemma3_text(), &gpt2(), &llama(),
        &mistral(), &mt5(), &qwen2(), &qwen3(), &roberta(), &siglip(), &t5(), &xlm_roberta()}) {
    if (family->type == type) return *family;
    names += (names.empty() ? "" : ", ") + std::string(family->type);
  }
  config.refuse("model_type", "one of the families " + names);
}

Activation activation_in(const ConfigFile& config, std::string_view word, std::string_view otherwise) {
  const std::string name = config.text(word, otherwise);
  std::string names;
  for (const auto& [known, activation] : kActivationNames) {
    if (known == name) return activation;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  config.refuse(word, "one of " + names);
}

}  // namespace qkv::families
