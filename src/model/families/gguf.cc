#include "model/families/gguf.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "files/file_kind.h"
#include "files/gguf_header.h"
#include "model/families/gguf_family.h"
#include "model/families/gguf_unread.h"
#include "model/families/later_gguf_model.h"
#include "model/families/loading.h"
#include "qkv/error.h"
#include "text/gguf_tokenizer.h"

namespace qkv::families {
namespace {

using files::GgufKeys;

constexpr std::string_view kMagic = "GGUF";

// Rows of each head from pairs that lie side by side to halves: 0, 2, 4, …, 1, 3, 5, …
Tensor in_halves(const Tensor& rows, std::int64_t heads) {
  if (rows.rank() < 1 || heads < 1 || rows.dim(0) % (2 * heads) != 0) return rows;
  const std::int64_t width = rows.dim(0) / heads;
  const std::int64_t each = rows.rank() < 2 ? 1 : rows.size() / std::max<std::int64_t>(rows.dim(0), 1);
  const TensorView pairs = rows.view().reshape({heads, width / 2, 2, each});
  return Tensor(pairs.transpose(1, 2)).reshaped(rows.shape());
}

QuantisedTensor in_halves(const QuantisedTensor& blocks, std::int64_t heads) {
  const std::int64_t rows = blocks.shape()[0];
  if (heads < 1 || rows % (2 * heads) != 0) return blocks;
  const std::int64_t width = rows / heads;
  std::vector<std::int64_t> order;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t place = row % width;
    const std::int64_t half = width / 2;
    order.push_back(row - place + place % half * 2 + place / half);
  }
  return blocks.in_order(order);
}

// What is left of 1 + w is w to the last bit that 1 + w has.
Tensor less_one(const Tensor& weights) {
  Tensor less = Tensor(weights, DType::f32);
  for (float& weight : less.values<float>()) weight -= 1;
  return less;
}

// Borrows the file.
class GgufWeights {
 public:
  GgufWeights(const GgufFamily& family, const ConfigFile& config, const Gguf& file, QuantisedWeights quantised)
      : file_(file), quantised_(quantised), change_(family.change) {
    if (change_ != GgufChange::interleaved_heads) return;
    heads_ = config.integer("num_attention_heads");
    kv_heads_ = config.integer("num_key_value_heads");
  }

  [[nodiscard]] WeightFiles::Stored load(const std::string& name) const {
    const std::int64_t heads = heads_to_turn(name);
    if (quantised_ == QuantisedWeights::as_stored) {
      const auto blocks = file_.blocks(name);
      if (blocks && blocks->shape().rank() == 2) return heads == 0 ? *blocks : in_halves(*blocks, heads);
      if (blocks && blocks->shape().rank() == 3) return *blocks;
    }
    if (file_.find(name)->shape.size() == 3) return of_all_experts(name);
    const Tensor stored = file_.load(name);
    if (heads > 0) return in_halves(stored, heads);
    return change_ == GgufChange::norms_plus_one && name.ends_with("norm.weight") ? less_one(stored) : stored;
  }

 private:
  // Each expert takes its part: the three tensors of a layer are not made anew for each.
  [[nodiscard]] Tensor of_all_experts(const std::string& name) const {
    constexpr std::size_t kMost = 3;
    const auto found = std::ranges::find(of_experts_, name, &std::pair<std::string, Tensor>::first);
    if (found != of_experts_.end()) return found->second;
    if (of_experts_.size() == kMost) of_experts_.erase(of_experts_.begin());
    return of_experts_.emplace_back(name, file_.load(name)).second;
  }

  // 0 of a tensor whose rows are in order.
  [[nodiscard]] std::int64_t heads_to_turn(std::string_view name) const {
    if (change_ != GgufChange::interleaved_heads || !name.starts_with("blk.")) return 0;
    if (name.ends_with(".attn_q.weight") || name.ends_with(".attn_q.bias")) return heads_;
    return name.ends_with(".attn_k.weight") || name.ends_with(".attn_k.bias") ? kv_heads_ : 0;
  }

  const Gguf& file_;
  QuantisedWeights quantised_;
  GgufChange change_;
  std::int64_t heads_ = 0;
  std::int64_t kv_heads_ = 0;
  mutable std::vector<std::pair<std::string, Tensor>> of_experts_;  // the last ones that were read
};

// That of the table of tokens, once it is read.
DType dtype_of_table(const GgufEntry& table) {
  const files::GgufType* type = files::find_gguf_type(table.type);
  const bool is_plain = type != nullptr && type->dtype && is_floating(*type->dtype);
  return is_plain ? *type->dtype : DType::f32;
}

const GgufEntry& table_of(const Gguf& file) {
  const GgufEntry* table = file.find(text::kTokenTable);
  if (table != nullptr && table->shape.size() == 2) return *table;
  throw FileError(file.source(), "\"" + std::string(text::kTokenTable) + "\": expected a table of tokens, got " +
                                     (table == nullptr ? "no such tensor"
                                                       : "one of " + std::to_string(table->shape.size()) + " axes"));
}

void require_model(const GgufKeys& keys) {
  constexpr std::string_view kType = "general.type";
  if (keys.text(kType, "model") != "model") keys.refuse(kType, "a model");
}

ConfigFile config_of(const GgufKeys& keys, const GgufFamily& family) {
  nlohmann::json words = family.config(keys);
  words["model_type"] = family.model_type;
  words["vocab_size"] = table_of(keys.file()).shape.front();
  return {std::move(words), keys.file().source()};
}

std::map<std::string, std::string, std::less<>> types_of(const Gguf& file) {
  std::map<std::string, std::string, std::less<>> types;
  for (const GgufEntry& entry : file.entries()) types[entry.name] = entry.type;
  return types;
}

ModelTokenizers gguf_tokenizers(const GgufKeys& keys, std::vector<std::string>& cautions) {
  const std::int64_t rows = table_of(keys.file()).shape.front();
  ModelTokenizers tokenizers;
  tokenizers.tokens = text::fitted_gguf_tokenizer(keys, cautions);
  tokenizers.ends = text::gguf_ends(keys);
  tokenizers.chat_template = keys.text("tokenizer.chat_template", "");
  if (!tokenizers.chat_template.empty()) tokenizers.special_tokens = text::gguf_special_tokens(keys);
  std::erase_if(tokenizers.ends, [&](std::int64_t end) { return end >= rows; });
  return tokenizers;
}

// What reads the parameters; each part borrows those before it.
class GgufReading {
 public:
  GgufReading(Gguf file, QuantisedWeights quantised)
      : file_(std::move(file)),
        keys_(file_),
        family_(sound_family(keys_)),
        config_(config_of(keys_, family_)),
        weights_(family_, config_, file_, quantised),
        files_(types_of(file_), [this](const std::string& name) { return weights_.load(name); }),
        named_{.type = family_.model_type,
               .prefix = "",
               .network = family_named(family_.model_type).network,
               .names = family_.names,
               .unused = kUnused},
        stored_(named_, files_),
        loading(stored_, "", 0) {
    loading.set_config_name("its metadata");
  }
  GgufReading(const GgufReading&) = delete;
  GgufReading& operator=(const GgufReading&) = delete;

  [[nodiscard]] const GgufKeys& keys() const noexcept { return keys_; }
  [[nodiscard]] const GgufFamily& family() const noexcept { return family_; }
  [[nodiscard]] const ConfigFile& config() const noexcept { return config_; }
  [[nodiscard]] Model::Network network() const {
    return named_.network(config_, Init::undrawn(), dtype_of_table(table_of(file_)));
  }
  void set_sizes_of(const Model::Network& network) {
    if (const Decoder* decoder = parts_of(network).decoder) {
      loading.set_experts(decoder->options().choices.experts.count);
      loading.set_heads(heads_of(decoder->options()));
    }
  }

 private:
  // Frequencies and their factors, which the config has, and the map of a task of pairs.
  static constexpr std::string_view kUnused[] = {"rope_freqs.weight",         "rope_factors_long.weight",
                                                 "rope_factors_short.weight", "*attn_rot_embd",
                                                 "*cross_attn_rel_b.weight",  "cls.*"};

  static const GgufFamily& sound_family(const GgufKeys& keys) {
    require_model(keys);
    return gguf_family_of(keys);
  }

  Gguf file_;
  GgufKeys keys_;
  const GgufFamily& family_;
  ConfigFile config_;
  GgufWeights weights_;
  WeightFiles files_;
  Family named_;
  StoredWeights stored_;

 public:
  Loading loading;
};

Model with_tokenizers(const GgufReading& reading, const Model::Network& network, std::vector<std::string> cautions) {
  ModelTokenizers tokenizers = gguf_tokenizers(reading.keys(), cautions);
  add_unread_keys(reading.keys(), cautions);
  Model model(network, std::move(tokenizers));
  for (std::string& what : cautions) model.add_caution(std::move(what));
  return model;
}

std::uint64_t bytes_in_f32(const Gguf& file) {
  std::uint64_t numbers = 0;
  for (const GgufEntry& entry : file.entries()) {
    const files::GgufType* type = files::find_gguf_type(entry.type);
    if (type == nullptr || type->dtype) continue;
    const auto count = std::accumulate(entry.shape.begin(), entry.shape.end(), std::int64_t{1}, std::multiplies<>());
    numbers += static_cast<std::uint64_t>(count);
  }
  return numbers * sizeof(float);
}

Model opened(Gguf file, QuantisedWeights quantised) {
  if (quantised == QuantisedWeights::as_f32) require_memory(file.source(), bytes_in_f32(file), DType::f32);
  GgufReading reading(std::move(file), quantised);
  const Model::Network network = reading.network();
  reading.set_sizes_of(network);
  std::vector<std::string> cautions = reading.config().remarks();
  for (const Parameter& parameter : Model(network).parameters()) reading.loading.add(parameter);
  reading.loading.finish(reading.keys().file().source(), "", cautions);
  return with_tokenizers(reading, network, std::move(cautions));
}

}  // namespace

bool is_gguf(const std::string& path) { return files::beginning_of(path).starts_with(kMagic); }
bool is_gguf(std::span<const std::byte> bytes) { return files::beginning_of(bytes).starts_with(kMagic); }

Model model_of_gguf(Gguf file, QuantisedWeights quantised) {
  const std::string source = file.source();
  try {
    return opened(std::move(file), quantised);
  } catch (const InvalidArgument& unsound) {
    throw FileError(source, unsound.what());
  }
}

LaterGgufModel later_model_of_gguf(Gguf file) {
  const std::string source = file.source();
  try {
    const auto reading = std::make_shared<GgufReading>(std::move(file), QuantisedWeights::as_f32);
    const Model::Network network = reading->network();
    reading->set_sizes_of(network);
    return {.model = with_tokenizers(*reading, network, reading->config().remarks()),
            .file = &reading->keys().file(),
            .family = &reading->family(),
            .config = reading->config().json(),
            .value = [reading](const Parameter& parameter) { return reading->loading.value_of(parameter); }};
  } catch (const InvalidArgument& unsound) {
    throw FileError(source, unsound.what());
  }
}

GgufOutlook outlook_of_gguf(const Gguf& file) {
  try {
    const LaterGgufModel later = later_model_of_gguf(file);
    for (const GgufEntry& entry : file.entries()) {
      const files::GgufType* type = files::find_gguf_type(entry.type);
      if (type != nullptr && (type->dtype || type->block)) continue;
      return {.refusal = "\"" + entry.name + "\": expected " + files::read_gguf_types() + ", got " + entry.type,
              .writes = false};
    }
    return {.refusal = "", .writes = parts_of(later.model.network()).decoder != nullptr};
  } catch (const Error& error) {
    const std::string what = error.what();
    const std::string begin = file.source() + ": ";
    return {.refusal = what.starts_with(begin) ? what.substr(begin.size()) : what, .writes = false};
  }
}

EmbedOptions gguf_embed_options(const std::string& path) {
  const Gguf file = Gguf::read(path);
  const GgufKeys keys(file);
  EmbedOptions options;
  const std::string key = key_of(keys, "pooling_type");
  if (!keys.has(key)) return options;
  const std::int64_t pooling = keys.integer(key);
  if (pooling > std::ssize(kGgufPoolings)) keys.refuse(key, "0 to 3: none, mean, first or last");
  if (pooling > 0) options.pooling = {kGgufPoolings[static_cast<std::size_t>(pooling - 1)]};
  options.length = keys.integer(key_of(keys, "context_length"));
  return options;
}

}  // namespace qkv::families
