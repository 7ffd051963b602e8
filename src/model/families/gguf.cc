#include "model/families/gguf.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "files/gguf_header.h"
#include "model/families/gguf_family.h"
#include "model/families/loading.h"
#include "qkv/error.h"
#include "text/fitted_tokenizer.h"
#include "text/gguf_tokenizer.h"

namespace qkv::families {
namespace {

using files::GgufKeys;

constexpr std::string_view kTable = "token_embd.weight";

// Rows of each head from pairs that lie side by side to halves: 0, 2, 4, …, 1, 3, 5, …
Tensor in_halves(const Tensor& rows, std::int64_t heads) {
  if (rows.rank() < 1 || heads < 1 || rows.dim(0) % (2 * heads) != 0) return rows;
  const std::int64_t width = rows.dim(0) / heads;
  const std::int64_t each = rows.rank() < 2 ? 1 : rows.size() / std::max<std::int64_t>(rows.dim(0), 1);
  const TensorView pairs = rows.view().reshape({heads, width / 2, 2, each});
  return Tensor(pairs.transpose(1, 2)).reshaped(rows.shape());
}

// What is left of 1 + w is w to the last bit that 1 + w has.
Tensor less_one(const Tensor& weights) {
  Tensor less = Tensor(weights, DType::f32);
  for (float& weight : less.values<float>()) weight -= 1;
  return less;
}

class GgufWeights {
 public:
  GgufWeights(const GgufFamily& family, const ConfigFile& config, const Gguf& file) : file_(file) {
    change_ = family.change;
    if (change_ != GgufChange::interleaved_heads) return;
    heads_ = config.integer("num_attention_heads");
    kv_heads_ = config.integer("num_key_value_heads");
  }

  [[nodiscard]] Tensor load(const std::string& name) const {
    const Tensor stored = file_.load(name);
    if (change_ == GgufChange::interleaved_heads && name.starts_with("blk.")) {
      if (name.ends_with(".attn_q.weight") || name.ends_with(".attn_q.bias")) return in_halves(stored, heads_);
      if (name.ends_with(".attn_k.weight") || name.ends_with(".attn_k.bias")) return in_halves(stored, kv_heads_);
    }
    return change_ == GgufChange::norms_plus_one && name.ends_with("norm.weight") ? less_one(stored) : stored;
  }

 private:
  Gguf file_;
  GgufChange change_ = GgufChange::none;
  std::int64_t heads_ = 0;
  std::int64_t kv_heads_ = 0;
};

// That of the table of tokens, once it is read.
DType dtype_of_table(const GgufEntry& table) {
  const files::GgufType* type = files::find_gguf_type(table.type);
  const bool is_plain = type != nullptr && type->dtype && is_floating(*type->dtype);
  return is_plain ? *type->dtype : DType::f32;
}

const GgufEntry& table_of(const Gguf& file) {
  const GgufEntry* table = file.find(kTable);
  if (table != nullptr && table->shape.size() == 2) return *table;
  throw Error(file.source() + ": \"" + std::string(kTable) + "\": expected a table of tokens, got " +
              (table == nullptr ? "no such tensor" : "one of " + std::to_string(table->shape.size()) + " axes"));
}

void require_model(const GgufKeys& keys) {
  constexpr std::string_view kType = "general.type";
  if (keys.text(kType, "model") != "model") keys.refuse(kType, "a model");
}

ConfigFile config_of(const GgufKeys& keys, const GgufFamily& family) {
  nlohmann::json words = family.config(keys);
  words["model_type"] = family.family().type;
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
  tokenizers.tokens = text::gguf_tokenizer(keys, cautions);
  if (tokenizers.tokens) tokenizers.tokens = text::fitted_tokenizer(tokenizers.tokens, rows);
  tokenizers.ends = text::gguf_ends(keys);
  tokenizers.chat_template = keys.text("tokenizer.chat_template", "");
  if (!tokenizers.chat_template.empty()) tokenizers.special_tokens = text::gguf_special_tokens(keys);
  std::erase_if(tokenizers.ends, [&](std::int64_t end) { return end >= rows; });
  return tokenizers;
}

Model opened(const Gguf& file) {
  const GgufKeys keys(file);
  require_model(keys);
  const GgufFamily& family = gguf_family_of(keys);
  const ConfigFile config = config_of(keys, family);
  const GgufWeights weights(family, config, file);
  const WeightFiles files(types_of(file), [&](const std::string& name) { return weights.load(name); });
  // Frequencies, which follow from the config, and the map of a task of pairs.
  static constexpr std::string_view kUnused[] = {"rope_freqs.weight", "*attn_rot_embd", "*cross_attn_rel_b.weight",
                                                 "cls.*"};
  const Family named{.type = family.family().type,
                     .prefix = "",
                     .network = family.family().network,
                     .names = family.names,
                     .unused = kUnused};
  const StoredWeights stored(named, files);
  const Model::Network network = named.network(config, Init::undrawn(), dtype_of_table(table_of(file)));
  std::vector<std::string> cautions = config.remarks();
  Loading loading(stored, "", 0);
  for (const Parameter& parameter : Model(network).parameters()) loading.add(parameter);
  loading.finish(file.source(), "", cautions);
  ModelTokenizers tokenizers = gguf_tokenizers(keys, cautions);
  Model model(network, std::move(tokenizers));
  for (std::string& what : cautions) model.add_caution(std::move(what));
  return model;
}

}  // namespace

bool is_gguf(const std::string& path) {
  constexpr std::string_view kMagic = "GGUF";
  std::string begin(kMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kMagic;
}

Model model_of_gguf(const Gguf& file) {
  try {
    return opened(file);
  } catch (const InvalidArgument& unsound) {
    throw Error(file.source() + ": " + unsound.what());
  }
}

EmbedOptions gguf_embed_options(const std::string& path) {
  // As the format numbers them, from 1 on; 0 is none.
  constexpr std::array kPoolings = {Pooling::mean, Pooling::first, Pooling::last};
  const Gguf file = Gguf::read(path);
  const GgufKeys keys(file);
  EmbedOptions options;
  const std::string key = key_of(keys, "pooling_type");
  if (!keys.has(key)) return options;
  const std::int64_t pooling = keys.integer(key);
  if (pooling > std::ssize(kPoolings)) keys.refuse(key, "0 to 3: none, mean, first or last");
  if (pooling > 0) options.pooling = {kPoolings[static_cast<std::size_t>(pooling - 1)]};
  options.length = keys.integer(key_of(keys, "context_length"));
  return options;
}

Model open_gguf(const std::string& path) { return model_of_gguf(Gguf::read(path)); }

}  // namespace qkv::families
