#include "model/families/heads.h"

#include <algorithm>
#include <array>

#include "model/overloaded.h"

namespace qkv::families {
namespace {

constexpr const char* kArchitectures = "architectures";
constexpr const char* kTied = "tie_word_embeddings";

// Those whose head scores tokens, so that its weights must be there.
bool claims_scores(const ConfigFile& config) {
  return is_any_architecture(config, {"ForCausalLM", "LMHeadModel", "DoubleHeadsModel", "ForMaskedLM", "ForPreTraining",
                                      "ForConditionalGeneration"});
}

bool has_other_head(const ConfigFile& config) {
  return !claims_scores(config) && is_any_architecture(config, {"ForSequenceClassification", "ForTokenClassification",
                                                                "ForQuestionAnswering", "ForMultipleChoice"});
}

class Fitting {
 public:
  Fitting(StoredWeights& stored, const ConfigFile& config, DType dtype)
      : stored_(stored), config_(config), dtype_(dtype) {}

  FittedNetwork fit(const Model::Network& network) {
    const Overloaded each{[&](const Decoder& decoder) { return fit_decoder(decoder.options()); },
                          [&](const Encoder& encoder) { return fit_encoder(encoder.options()); },
                          [&](const EncoderDecoder& both) { return fit_both(both.options()); },
                          [&](const auto& other) -> Model::Network { return other; }};
    Model::Network fitted = std::visit(each, network);
    return {std::move(fitted), stack_, std::move(left_out_), std::move(cautions_), std::move(hint_)};
  }

 private:
  Model::Network fit_decoder(DecoderOptions options) {
    const auto output = stored_.find_own(kOutputParameter);
    if (!output && !options.tied) options.scores = claims_scores(config_);
    if (!options.scores && !config_.has(kArchitectures)) {
      cautions_.emplace_back("no lm_head.weight, and no word of architectures: the model gives states alone");
    }
    if (output && options.tied) options.tied = is_tied_to(*output);
    if (!output && !options.tied && options.scores && !config_.has(kTied)) {
      hint_ = "(config.json has no tie_word_embeddings: the head is one of its own, as if it said false)";
    }
    return Decoder(options, Init::undrawn(), dtype_);
  }

  Model::Network fit_encoder(EncoderOptions options) {
    const std::array<std::string_view, 3> parts = {"head.dense.weight", "head.ln.weight", "head.bias"};
    // ModernBERT's heads of classes begin as the one for masked tokens does.
    const bool is_other = has_other_head(config_);
    const bool has_head =
        !is_other && std::ranges::any_of(parts, [&](auto part) { return stored_.find_own(part).has_value(); });
    const bool is_bare = !has_head && claims_scores(config_) && is_stored_without_its_prefix();
    if (is_bare) {
      cautions_.emplace_back(
          "no head for masked tokens, though architectures name one: the weights were saved of the model without it, "
          "which gives states alone");
    }
    options.head = has_head || (claims_scores(config_) && !is_bare) ? EncoderHead::transform : EncoderHead::none;
    const auto output = stored_.find_own(kOutputParameter);
    if (output && options.tied && has_head) options.tied = is_tied_to(*output);
    say_other_bias();
    return Encoder(options, Init::undrawn(), dtype_);
  }

  // As a model without a head is: that of a head has its prefix before the names of the body.
  [[nodiscard]] bool is_stored_without_its_prefix() const {
    return !stored_.family().prefix.empty() && stored_.prefix().empty() &&
           stored_.find_own(kTableParameter).has_value();
  }

  Model::Network fit_both(EncoderDecoderOptions options) {
    const std::string decoder = stored_.prefix() + "decoder.";
    const auto is_of_decoder = [&](const auto& stored) { return stored.first.starts_with(decoder); };
    const bool has_decoder = std::ranges::any_of(stored_.files().names(), is_of_decoder);
    const bool is_alone = is_any_architecture(config_, {"EncoderModel", "ForTokenClassification"}) ||
                          !config_.flag("is_encoder_decoder", true);
    const bool has_encoder = stored_.find_own("encoder.blocks.0.attn.q.weight").has_value();
    const bool is_left = !has_decoder && has_encoder && !claims_scores(config_);
    if (is_alone || is_left) return encoder_of(options, has_decoder);
    options.shared = has_one_table();
    if (!stored_.find_own("decoder.output.bias")) options.output_bias = false;
    const auto output = stored_.find_own("decoder.output.weight");
    const bool is_tied = options.tied;
    if (output) options.tied = options.tied && is_same(*output, "shared.weight");
    // Without a map of its own the output is that of the shared table, whatever the decoder reads.
    if (!output && !options.shared) options.tied = false;
    if (output && is_tied && !options.tied) say_untied(*output, stored_.prefix() + "shared.weight");
    return EncoderDecoder(options, Init::undrawn(), dtype_);
  }

  Model::Network encoder_of(const EncoderDecoderOptions& o, bool has_decoder) {
    stack_ = "encoder.";
    left_out_ = {"*decoder.*", "*lm_head.*"};
    if (has_decoder) cautions_.emplace_back("decoder.*: left out, since config.json says that it is an encoder alone");
    return Encoder({.vocabulary = o.source_vocabulary,
                    .length = o.source_length,
                    .layers = o.encoder_layers,
                    .d_model = o.d_model,
                    .heads = o.heads,
                    .d_ff = o.d_ff,
                    .positions = o.positions,
                    .order = o.order,
                    .embedding = o.embedding.value_or(EmbeddingScale::small),
                    .embedding_factor = o.embedding_factor,
                    .activation = o.activation,
                    .bias = o.bias,
                    .head = EncoderHead::none,
                    .choices = o.choices},
                   Init::undrawn(), dtype_);
  }

  [[nodiscard]] bool has_one_table() {
    bool is_one = true;
    for (const char* const name : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
      const std::string own = stored_.prefix() + name;
      const std::string shared = stored_.prefix() + "shared.weight";
      if (!stored_.files().contains(own) || is_same(own, "shared.weight")) continue;
      is_one = false;
      if (stored_.files().contains(shared)) say_untied(own, shared);
    }
    return is_one;
  }

  [[nodiscard]] bool is_same(const std::string& stored, const std::string& name) const {
    const std::string other = stored_.prefix() + name;
    return !stored_.files().contains(other) ||
           is_same_tensor(stored_.files().load(stored), stored_.files().load(other));
  }

  bool is_tied_to(const std::string& output) {
    const auto table = stored_.find_own(kTableParameter);
    if (!table) stored_.read_table_from(output);
    if (!table || is_same_tensor(stored_.files().load(output), stored_.files().load(*table))) return true;
    say_untied(output, *table);
    return false;
  }

  void say_untied(const std::string& own, const std::string& table) {
    // Configs of T5 say false and mean that the states are not scaled.
    if (config_.has(kTied) && !config_.flag(kTied, true)) return;
    cautions_.push_back(own + " is not " + table + ", to which the config ties it: it is read as a map of its own");
  }

  void say_other_bias() {
    for (const WeightName& name : stored_.family().names) {
      if (name.ours != "head" || name.otherwise.empty()) continue;
      const std::string read = std::string(name.theirs) + ".bias";
      const std::string other = std::string(name.otherwise) + ".bias";
      const WeightFiles& files = stored_.files();
      if (!files.contains(read) || !files.contains(other) || is_same_tensor(files.load(read), files.load(other)))
        continue;
      cautions_.push_back(read + " is not " + other + ": it is the one that is read");
    }
  }

  StoredWeights& stored_;
  const ConfigFile& config_;
  DType dtype_;
  std::string_view stack_;
  std::vector<std::string_view> left_out_;
  std::vector<std::string> cautions_;
  std::string hint_;
};

}  // namespace

FittedNetwork fitted_to(StoredWeights& stored, const ConfigFile& config, const Model::Network& network, DType dtype) {
  return Fitting(stored, config, dtype).fit(network);
}

}  // namespace qkv::families
