#include "qkv/model/encoder.h"

#include "train/models/makers.h"

namespace qkv::train {
namespace {

class EncoderModel final : public TokenModel {
 public:
  EncoderModel(const learn::EncoderOptions& options, Generator& generator) : encoder_(options, generator) {}

  [[nodiscard]] Facts facts() const override { return learn::facts_of(encoder_.options()); }
  [[nodiscard]] learn::Parameters parameters() const override { return encoder_.parameters(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return learn::parameter_count(encoder_.options()); }

  [[nodiscard]] Variable scores(const TaskBatch& batch, const TaskModelCall& call) const override {
    return encoder_.forward({batch.ids, batch.lengths}, call);
  }

  void tap(const TaskBatch& batch, Taps& taps) const override { encoder_.tap({batch.ids, batch.lengths}, &taps); }

  [[nodiscard]] std::optional<SiteScope> scope_of(AttentionSite site) const override {
    if (site != AttentionSite::tokens) return std::nullopt;
    return SiteScope{.stack = "", .part = "attn", .layers = encoder_.options().layers};
  }

 private:
  learn::Encoder encoder_;
};

MadeModel for_task(const TaskModelOptions& options, const Task& task, Generator& generator) {
  // Where the next token is asked for, an encoder would read it.
  require_fit(task.info().kind == TaskKind::encoder, options, task, "a task whose answers are not in its text");
  return std::make_unique<EncoderModel>(learn::EncoderOptions{.vocabulary = task.vocabulary().size(),
                                                              .length = task.lengths().tokens,
                                                              .layers = options.layers,
                                                              .d_model = options.d_model,
                                                              .heads = options.heads,
                                                              .d_ff = options.d_ff,
                                                              .positions = options.positions},
                                        generator);
}

MadeModel from_facts(const Facts& facts, Generator& generator) {
  return std::make_unique<EncoderModel>(learn::encoder_options(facts), generator);
}

}  // namespace

ModelMaker encoder_maker() { return {.for_task = for_task, .from_facts = from_facts}; }

}  // namespace qkv::train
