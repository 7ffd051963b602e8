#include "qkv/model/captioner.h"

#include "train/models/makers.h"

namespace qkv::train {
namespace {

class CaptionerModel final : public TokenModel {
 public:
  CaptionerModel(const CaptionerOptions& options, const Init& init) : captioner_(options, init) {}

  [[nodiscard]] Facts facts() const override { return qkv::facts_of(captioner_.options()); }
  [[nodiscard]] Parameters parameters() const override { return captioner_.parameters(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return qkv::parameter_count(captioner_.options()); }

  [[nodiscard]] Variable scores(const TaskBatch& batch, const TaskModelCall& call) const override {
    return captioner_.forward(batch.images, batch.ids, call);
  }

  [[nodiscard]] std::optional<SiteScope> scope_of(AttentionSite site) const override {
    return scope_in_stacks(site,
                           {.encoder = captioner_.options().encoder_layers, .decoder = captioner_.options().layers});
  }

 private:
  Captioner captioner_;
};

MadeModel for_task(const TaskModelOptions& options, const Task& task, const Init& init) {
  const TaskLengths& lengths = task.lengths();
  require_fit(lengths.image_side > 0, options, task, "a task with images");
  return std::make_unique<CaptionerModel>(CaptionerOptions{.image_side = lengths.image_side,
                                                                  .patch_side = lengths.patch_side,
                                                                  .vocabulary = task.vocabulary().size(),
                                                                  .length = lengths.tokens,
                                                                  .encoder_layers = options.layers,
                                                                  .layers = options.layers,
                                                                  .d_model = options.d_model,
                                                                  .heads = options.heads,
                                                                  .d_ff = options.d_ff,
                                                                  .positions = options.positions},
                                          init);
}

MadeModel from_facts(const Facts& facts, const Init& init) {
  return std::make_unique<CaptionerModel>(captioner_options(facts), init);
}

}  // namespace

ModelMaker captioner_maker() { return {.for_task = for_task, .from_facts = from_facts}; }

}  // namespace qkv::train
