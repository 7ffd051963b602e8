#include "train/models/makers.h"

namespace qkv::train {
namespace {

class DecoderModel final : public TokenModel {
 public:
  DecoderModel(const learn::DecoderOptions& options, Generator& generator) : decoder_(options, generator) {}

  [[nodiscard]] BatchLayout layout() const noexcept override { return BatchLayout::joined; }
  [[nodiscard]] Facts facts() const override { return learn::facts_of(decoder_.options()); }
  [[nodiscard]] learn::Parameters parameters() const override { return decoder_.parameters(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return learn::parameter_count(decoder_.options()); }

  [[nodiscard]] Variable scores(const TaskBatch& batch, const TaskModelCall& call) const override {
    return decoder_.forward(batch.ids, call);
  }

  void tap(const TaskBatch& batch, Taps& taps) const override { decoder_.tap(batch.ids, &taps); }

  // All sites are parts of the attention over the one text.
  [[nodiscard]] std::optional<SiteScope> scope_of(AttentionSite /*site*/) const override {
    return SiteScope{.stack = "", .part = "attn", .layers = decoder_.options().layers};
  }

 private:
  learn::Decoder decoder_;
};

MadeModel for_task(const TaskModelOptions& options, const Task& task, Generator& generator) {
  const TaskLengths& lengths = task.lengths();
  require_fit(lengths.image_side == 0, options, task, "a task without images");
  const std::int64_t offset = joined_source_offset(task);
  return std::make_unique<DecoderModel>(
      learn::DecoderOptions{
          .vocabulary = offset == 0 ? task.vocabulary().size() : offset + task.source_vocabulary().size(),
          .length = lengths.source + lengths.tokens,
          .layers = options.layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions,
          .tied = true},
      generator);
}

MadeModel from_facts(const Facts& facts, Generator& generator) {
  return std::make_unique<DecoderModel>(learn::decoder_options(facts), generator);
}

}  // namespace

ModelMaker decoder_maker() { return {.for_task = for_task, .from_facts = from_facts}; }

}  // namespace qkv::train
