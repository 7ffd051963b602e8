#include "qkv/model/encoder.h"

#include "train/models/makers.h"

namespace qkv::train {
namespace {

class EncoderModel final : public TokenModel {
 public:
  EncoderModel(const EncoderOptions& options, const Init& init) : encoder_(options, init) {}

  [[nodiscard]] Facts facts() const override { return qkv::facts_of(encoder_.options()); }
  [[nodiscard]] Parameters parameters() const override { return encoder_.parameters(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return qkv::parameter_count(encoder_.options()); }

  [[nodiscard]] Variable scores(const TaskBatch& batch, const TaskModelCall& call) const override {
    return encoder_.forward({batch.ids, batch.lengths}, call);
  }

  [[nodiscard]] std::optional<SiteScope> scope_of(AttentionSite site) const override {
    if (site != AttentionSite::tokens) return std::nullopt;
    return SiteScope{.stack = "", .part = "attn", .layers = encoder_.options().layers};
  }

 private:
  Encoder encoder_;
};

MadeModel for_task(const TaskModelOptions& options, const Task& task, const Init& init) {
  // Where the next token is asked for, an encoder would read it.
  require_fit(task.info().kind == TaskKind::encoder, options, task, "a task whose answers are not in its text");
  return std::make_unique<EncoderModel>(EncoderOptions{.vocabulary = task.vocabulary().size(),
                                                              .length = task.lengths().tokens,
                                                              .layers = options.layers,
                                                              .d_model = options.d_model,
                                                              .heads = options.heads,
                                                              .d_ff = options.d_ff,
                                                              .positions = options.positions},
                                        init);
}

MadeModel from_facts(const Facts& facts, const Init& init) {
  return std::make_unique<EncoderModel>(encoder_options(facts), init);
}

}  // namespace

ModelMaker encoder_maker() { return {.for_task = for_task, .from_facts = from_facts}; }

}  // namespace qkv::train
