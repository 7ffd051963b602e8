// Modules behind the pooling that have weights: Dense and LayerNorm.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

#include "core/listed.h"
#include "files/place.h"
#include "model/families/sentence_files.h"
#include "qkv/error.h"
#include "qkv/safetensors.h"

namespace qkv::families {
namespace {

namespace fs = std::filesystem;
using Vector = std::vector<double>;
using Scalar = double (*)(double);

struct NamedScalar {
  std::string_view name;
  Scalar value;
};

// Classes of torch.nn with the options that they are made with when none are given.
constexpr std::array<NamedScalar, 9> kScalars = {{
    {"Identity", [](double x) { return x; }},
    {"Tanh", [](double x) { return std::tanh(x); }},
    {"GELU", [](double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }},
    {"ReLU", [](double x) { return x < 0 ? 0 : x; }},
    {"SiLU", [](double x) { return x / (1 + std::exp(-x)); }},
    {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"LeakyReLU", [](double x) { return x < 0 ? 0.01 * x : x; }},
    {"ELU", [](double x) { return x < 0 ? std::expm1(x) : x; }},
    {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
}};

// A class outside of torch is not loaded by sentence-transformers either, which then takes tanh.
Scalar scalar_in(const ConfigFile& config, EmbedOptions& options) {
  constexpr const char* kWord = "activation_function";
  const std::string type = config.text(kWord, "torch.nn.modules.activation.Tanh");
  std::string name = type.substr(type.rfind('.') + 1);
  if (!type.starts_with("torch.")) {
    options.cautions.push_back(config.path() + ": activation_function " + type +
                               " is not of torch: tanh is taken, as sentence-transformers does");
    name = "Tanh";
  }
  const auto found = std::ranges::find(kScalars, name, &NamedScalar::name);
  if (found != std::end(kScalars)) return found->value;
  config.refuse(kWord, "one of torch's " + core::joined(kScalars, &NamedScalar::name));
}

// The weights of a module, in f64.
class StepWeights {
 public:
  explicit StepWeights(const fs::path& module) : path_((module / "model.safetensors").string()), file_(open()) {}

  [[nodiscard]] Vector load(const std::string& name, const Shape& shape) const {
    if (!file_.contains(name)) fail(name, shape, "no such tensor");
    const Tensor tensor = file_.load(name);
    if (!(tensor.shape() == shape) || !is_floating(tensor.dtype())) {
      fail(name, shape, tensor.shape().to_string() + " of " + std::string(name_of(tensor.dtype())));
    }
    return tensor.to_vector();
  }
  void require_only(std::span<const std::string_view> names) const {
    for (const SafetensorsEntry& entry : file_.entries()) {
      if (std::ranges::find(names, entry.name) == names.end()) {
        throw FileError(path_, entry.name + ": a tensor that the module has no use for");
      }
    }
  }

 private:
  [[nodiscard]] Safetensors open() const {
    if (!files::is_there(path_)) throw FileError(path_, "expected the weights of the module, got no such file");
    return Safetensors::read(path_);
  }
  [[noreturn]] void fail(const std::string& name, const Shape& shape, const std::string& got) const {
    throw FileError(path_, name + ": expected " + shape.to_string() + ", got " + got);
  }

  std::string path_;
  Safetensors file_;
};

void require_width(const std::string& module, const Vector& vector, std::size_t width) {
  if (vector.size() == width) return;
  throw FileError(module, "expected vectors of " + std::to_string(width) + " numbers, as its config.json says, got " +
                              std::to_string(vector.size()));
}

// W x, of W [rows, x.size()].
Vector product(const Vector& weight, const Vector& x, std::size_t rows) {
  Vector out(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = weight.begin() + static_cast<std::ptrdiff_t>(r * x.size());
    out[r] = std::inner_product(x.begin(), x.end(), row, 0.0);
  }
  return out;
}

// f(W x + b), and x or a product with it beside that.
struct DenseMap {
  std::string module;
  std::size_t in = 0;
  std::size_t out = 0;
  Vector weight;
  Vector bias;  // empty: none
  Scalar activation = nullptr;
  bool is_residual = false;
  Vector residual;  // empty: x itself

  [[nodiscard]] Vector operator()(const Vector& x) const {
    require_width(module, x, in);
    Vector y = product(weight, x, out);
    const Vector beside = !is_residual ? Vector(out) : residual.empty() ? x : product(residual, x, out);
    for (std::size_t n = 0; n < out; ++n) y[n] = activation(y[n] + (bias.empty() ? 0 : bias[n])) + beside[n];
    return y;
  }
};

ConfigFile config_of(const fs::path& module) { return ConfigFile((module / "config.json").string()); }

std::int64_t positive(const ConfigFile& config, std::string_view word) {
  const std::int64_t number = config.integer(word);
  if (number < 1) config.refuse(word, "1 or more");
  return number;
}

}  // namespace

VectorStep dense_step(const fs::path& module, EmbedOptions& options) {
  constexpr std::array<std::string_view, 7> kWords = {"in_features",         "out_features",      "bias",
                                                      "activation_function", "module_input_name", "module_output_name",
                                                      "use_residual"};
  const ConfigFile config = config_of(module);
  for (const char* word : {"module_input_name", "module_output_name"}) {
    if (config.text(word, "sentence_embedding") != "sentence_embedding") config.refuse(word, "\"sentence_embedding\"");
  }
  name_other_words(config, kWords, options);
  const std::int64_t in = positive(config, "in_features");
  const std::int64_t out = positive(config, "out_features");
  const StepWeights weights(module);
  auto map = std::make_shared<DenseMap>(DenseMap{.module = module.filename().string(),
                                                 .in = static_cast<std::size_t>(in),
                                                 .out = static_cast<std::size_t>(out),
                                                 .weight = weights.load("linear.weight", {out, in}),
                                                 .bias = {},
                                                 .activation = scalar_in(config, options),
                                                 .is_residual = config.flag("use_residual", false),
                                                 .residual = {}});
  std::vector<std::string_view> names = {"linear.weight"};
  if (config.flag("bias", true)) {
    map->bias = weights.load("linear.bias", {out});
    names.push_back("linear.bias");
  }
  if (map->is_residual && in != out) {
    map->residual = weights.load("residual.weight", {out, in});
    names.push_back("residual.weight");
  }
  weights.require_only(names);
  return {.module = map->module, .apply = [map](const Vector& x) { return (*map)(x); }};
}

VectorStep layer_norm_step(const fs::path& module, EmbedOptions& options) {
  constexpr std::array<std::string_view, 1> kNormWords = {"dimension"};
  constexpr std::array<std::string_view, 2> kNormNames = {"norm.weight", "norm.bias"};
  constexpr double kEpsilon = 1e-5;  // of torch.nn.LayerNorm
  const ConfigFile config = config_of(module);
  name_other_words(config, kNormWords, options);
  const std::int64_t width = positive(config, "dimension");
  const StepWeights weights(module);
  weights.require_only(kNormNames);
  return {.module = module.filename().string(),
          .apply = [name = module.filename().string(), weight = weights.load("norm.weight", {width}),
                    bias = weights.load("norm.bias", {width})](const Vector& x) {
            require_width(name, x, weight.size());
            const auto count = static_cast<double>(x.size());
            const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
            double variance = 0;
            for (const double number : x) variance += (number - mean) * (number - mean) / count;
            Vector y(x.size());
            for (std::size_t n = 0; n < x.size(); ++n) {
              y[n] = (x[n] - mean) / std::sqrt(variance + kEpsilon) * weight[n] + bias[n];
            }
            return y;
          }};
}

}  // namespace qkv::families
