// The families of published models: what their config says in options of ours, and whose weight is which parameter.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/config_file.h"
#include "qkv/model/model.h"

namespace qkv::families {

/// How a stored weight becomes a parameter.
enum class Change : std::uint8_t {
  none,        // read where it lies
  transposed,  // [in, out] stored, as GPT-2 does; copied
  reshaped,    // stored with other axes, of as many elements
};

/// How a stored weight holds q, k and v of all heads, of which `part` is one.
enum class Fused : std::uint8_t {
  none,
  rows,    // those of q, then of k, then of v
  groups,  // for each head of keys: its heads of q, then itself, then that of values
};

/// A layer of ours and its place in the file; both go on with ".weight" or ".bias". Or a parameter of ours by its whole
/// name, and the whole name in the file. "#" stands for the number of a block, "@" for that of an expert. A parameter
/// may have several, of which files have one.
struct WeightName {
  std::string_view ours;
  std::string_view theirs;
  std::string_view otherwise = {};  // its place in files that have none of that name
  Change change = Change::none;
  bool in_head = false;  // stands outside of the prefix
  int part = 0;          // this is the part-th of `parts` equal ones along the output
  int parts = 1;
  Fused fused = Fused::none;
  bool of_experts = false;      // that of all experts, one below the other: [E, …]
  bool in_turn = false;         // parts take turns along the last axis, in blocks along the first one
  bool behind_padding = false;  // rows before Family::padding are not used
};

struct Family {
  std::string_view type;    // model_type of config.json
  std::string_view prefix;  // of the weights, if the file is of a model with a head
  Model::Network (*network)(const ConfigFile& config, const Init& init, DType dtype);
  std::span<const WeightName> names;
  std::span<const std::string_view> unused;  // weights that take no part in what qkv computes; "*" stands for anything
  // The row of positions that is the padding's, where positions are counted from it on.
  std::int64_t (*padding)(const ConfigFile& config) = nullptr;
  // How many layers files may have behind the last one, which are not computed.
  std::int64_t (*further_layers)(const ConfigFile& config) = nullptr;
};

/// The families of each file.
[[nodiscard]] std::span<const Family> bart_families();
[[nodiscard]] std::span<const Family> bert_families();
[[nodiscard]] std::span<const Family> bloom_families();
[[nodiscard]] std::span<const Family> clip_families();
[[nodiscard]] std::span<const Family> cohere_families();
[[nodiscard]] std::span<const Family> deberta_families();
[[nodiscard]] std::span<const Family> deepseek_families();
[[nodiscard]] std::span<const Family> falcon_families();
[[nodiscard]] std::span<const Family> gemma_families();
[[nodiscard]] std::span<const Family> gpt2_families();
[[nodiscard]] std::span<const Family> gpt_neox_families();
[[nodiscard]] std::span<const Family> llama_families();
[[nodiscard]] std::span<const Family> mixtures_of_experts();
[[nodiscard]] std::span<const Family> modernbert_families();
[[nodiscard]] std::span<const Family> phi_families();
[[nodiscard]] std::span<const Family> relatives_of_bert();
[[nodiscard]] std::span<const Family> relatives_of_gpt();
[[nodiscard]] std::span<const Family> relatives_of_llama();
[[nodiscard]] std::span<const Family> t5_families();
[[nodiscard]] std::span<const Family> vit_families();
[[nodiscard]] std::span<const Family> whisper_families();

/// What the classes of a model of images are called: id2label, else as many of LABEL_0 … as it has.
[[nodiscard]] std::vector<std::string> classes_in(const ConfigFile& config);

/// A size that the config says of encoder and decoder, which have to be alike.
[[nodiscard]] std::int64_t one_of_both(const ConfigFile& config, const char* encoder, const char* decoder,
                                       std::optional<std::int64_t> otherwise = std::nullopt);

/// Rows of the table of positions before the first that a text has: OPT and BART begin with the third.
[[nodiscard]] std::int64_t two_rows_before(const ConfigFile& config);

/// Whether a word of architectures ends so. ElectraForPreTraining, whose head tells replaced tokens from others, counts
/// as no ForPreTraining.
[[nodiscard]] bool is_any_architecture(const ConfigFile& config, std::initializer_list<std::string_view> ends);

/// What the architecture says of an encoder's head for masked tokens; what is stored counts (heads.h).
[[nodiscard]] EncoderHead head_in(const ConfigFile& config);

/// The family of a model_type. Throws std::out_of_range if there is none.
[[nodiscard]] const Family& family_named(std::string_view type);

/// The family of a config. Throws Error naming the config and the families that there are.
[[nodiscard]] const Family& family_of(const ConfigFile& config);

/// The activation of this name in configs. Throws Error as ConfigFile::refuse().
[[nodiscard]] Activation activation_in(const ConfigFile& config, std::string_view word, std::string_view otherwise);

}  // namespace qkv::families
