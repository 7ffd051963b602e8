#include "train/models/makers.h"

namespace qkv::train {
namespace {

class DecoderModel final : public TokenModel {
 public:
  DecoderModel(const DecoderOptions& options, const Init& init) : decoder_(options, init) {}

  [[nodiscard]] BatchLayout layout() const noexcept override { return BatchLayout::joined; }
  [[nodiscard]] Facts facts() const override { return qkv::facts_of(decoder_.options()); }
  [[nodiscard]] Parameters parameters() const override { return decoder_.parameters(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return qkv::parameter_count(decoder_.options()); }

  [[nodiscard]] Variable scores(const TaskBatch& batch, const TaskModelCall& call) const override {
    return decoder_.forward(batch.ids, call);
  }

  // All sites are parts of the attention over the one text.
  [[nodiscard]] std::optional<SiteScope> scope_of(AttentionSite /*site*/) const override {
    return SiteScope{.stack = "", .part = "attn", .layers = decoder_.options().layers};
  }

 private:
  Decoder decoder_;
};

MadeModel for_task(const TaskModelOptions& options, const Task& task, const Init& init) {
  const TaskLengths& lengths = task.lengths();
  require_fit(lengths.image_side == 0, options, task, "a task without images");
  const std::int64_t offset = joined_source_offset(task);
  return std::make_unique<DecoderModel>(
      DecoderOptions{
          .vocabulary = offset == 0 ? task.vocabulary().size() : offset + task.source_vocabulary().size(),
          .length = lengths.source + lengths.tokens,
          .layers = options.layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions,
          .tied = true},
      init);
}

MadeModel from_facts(const Facts& facts, const Init& init) {
  return std::make_unique<DecoderModel>(decoder_options(facts), init);
}

}  // namespace

ModelMaker decoder_maker() { return {.for_task = for_task, .from_facts = from_facts}; }

}  // namespace qkv::train
