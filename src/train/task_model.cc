#include "qkv/train/task_model.h"

#include "qkv/model/batch.h"

namespace qkv {
namespace {

DecoderOptions decoder_for(const TaskModelOptions& options, const Task& task) {
  const TextLengths& lengths = task.lengths();
  const std::int64_t offset = joined_source_offset(task);
  return {.vocabulary = offset == 0 ? task.vocabulary().size() : offset + task.source_vocabulary().size(),
          .length = lengths.source + lengths.tokens,
          .layers = options.layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions,
          .tied = true};
}

EncoderOptions encoder_for(const TaskModelOptions& options, const Task& task) {
  return {.vocabulary = task.vocabulary().size(),
          .length = task.lengths().tokens,
          .layers = options.layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions};
}

EncoderDecoderOptions encoder_decoder_for(const TaskModelOptions& options, const Task& task) {
  return {.source_vocabulary = task.source_vocabulary().size(),
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
          .activation = Activation::gelu};
}

CaptionerOptions captioner_for(const TaskModelOptions& options, const Task& task) {
  return {.image_side = task.lengths().image_side,
          .patch_side = task.lengths().patch_side,
          .vocabulary = task.vocabulary().size(),
          .length = task.lengths().tokens,
          .encoder_layers = options.layers,
          .layers = options.layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions};
}

TwoTowerOptions two_tower_for(const TaskModelOptions& options, const Task& task) {
  return {.image_side = task.lengths().image_side,
          .patch_side = task.lengths().patch_side,
          .vocabulary = task.vocabulary().size(),
          .length = task.lengths().tokens,
          .image_layers = options.layers,
          .text_layers = options.layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions};
}

void require_fit(ModelKind kind, const Task& task) {
  const auto require = [&](bool fits, const std::string& expected) {
    if (fits) return;
    throw InvalidArgument("make_task_model", "task", expected + " for a model of kind " + std::string(name_of(kind)),
                          task.info().name);
  };
  switch (kind) {
    case ModelKind::decoder:
      return require(task.lengths().image_side == 0, "a task without images");
    case ModelKind::encoder:
      // If the next token were asked for, an encoder would read it.
      return require(task.info().kind == TaskKind::encoder, "a task whose answers are not in its text");
    case ModelKind::encoder_decoder:
      return require(task.lengths().source > 0, "a task with a source");
    case ModelKind::captioner:
    case ModelKind::two_tower:
      return require(task.lengths().image_side > 0, "a task with images");
  }
}

Model::Network network_for(const TaskModelOptions& options, const Task& task, const Init& init) {
  switch (options.kind) {
    case ModelKind::encoder:
      return Encoder(encoder_for(options, task), init);
    case ModelKind::encoder_decoder:
      return EncoderDecoder(encoder_decoder_for(options, task), init);
    case ModelKind::captioner:
      return Captioner(captioner_for(options, task), init);
    case ModelKind::two_tower:
      return TwoTower(two_tower_for(options, task), init);
    case ModelKind::decoder:
      break;
  }
  return Decoder(decoder_for(options, task), init);
}

}  // namespace

ModelKind usual_model(TaskKind kind) noexcept {
  switch (kind) {
    case TaskKind::encoder:
      return ModelKind::encoder;
    case TaskKind::encoder_decoder:
      return ModelKind::encoder_decoder;
    case TaskKind::image_text:
      return ModelKind::captioner;
    case TaskKind::decoder:
      break;
  }
  return ModelKind::decoder;
}

Model make_task_model(const TaskModelOptions& options, const Task& task, Generator& generator) {
  require_fit(options.kind, task);
  ModelTokenizers tokenizers{.tokens = make_tokenizer(task.vocabulary().config())};
  if (!have_same_pieces(task.vocabulary(), task.source_vocabulary())) {
    tokenizers.source = make_tokenizer(task.source_vocabulary().config());
  }
  return Model(network_for(options, task, generator), std::move(tokenizers));
}

}  // namespace qkv
