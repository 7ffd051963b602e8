#include "qkv/model/encoder_decoder.h"

#include "train/models/makers.h"

namespace qkv::train {
namespace {

class EncoderDecoderModel final : public TokenModel {
 public:
  EncoderDecoderModel(const EncoderDecoderOptions& options, const Init& init) : model_(options, init) {}

  [[nodiscard]] Facts facts() const override { return qkv::facts_of(model_.options()); }
  [[nodiscard]] Parameters parameters() const override { return model_.parameters(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return qkv::parameter_count(model_.options()); }

  [[nodiscard]] Variable scores(const TaskBatch& batch, const TaskModelCall& call) const override {
    return model_.forward({batch.source, batch.source_lengths}, batch.ids, call);
  }

  [[nodiscard]] std::optional<SiteScope> scope_of(AttentionSite site) const override {
    return scope_in_stacks(site, {.encoder = model_.options().encoder_layers, .decoder = model_.options().layers});
  }

 private:
  EncoderDecoder model_;
};

MadeModel for_task(const TaskModelOptions& options, const Task& task, const Init& init) {
  require_fit(task.lengths().source > 0, options, task, "a task with a source");
  return std::make_unique<EncoderDecoderModel>(
      EncoderDecoderOptions{.source_vocabulary = task.source_vocabulary().size(),
                                   .vocabulary = task.vocabulary().size(),
                                   .source_length = task.lengths().source,
                                   .length = task.lengths().tokens,
                                   .encoder_layers = options.layers,
                                   .layers = options.layers,
                                   .d_model = options.d_model,
                                   .heads = options.heads,
                                   .d_ff = options.d_ff,
                                   .positions = options.positions,
                                   .order = NormOrder::pre,
                                   .activation = Activation::gelu},
      init);
}

MadeModel from_facts(const Facts& facts, const Init& init) {
  return std::make_unique<EncoderDecoderModel>(encoder_decoder_options(facts), init);
}

}  // namespace

ModelMaker encoder_decoder_maker() { return {.for_task = for_task, .from_facts = from_facts}; }

}  // namespace qkv::train
