#include "qkv/train/task_model.h"

#include "model/kinds/sizes.h"
#include "qkv/model/batch.h"

namespace qkv {
namespace {

void require_fit(const KindTraits& kind, const Task& task) {
  const auto require = [&](bool fits, const std::string& expected) {
    if (fits) return;
    throw InvalidArgument("make_task_model", "model", expected + " for a model of kind " + std::string(kind.name),
                          task.info().name);
  };
  require(!kind.goes_on || task.lengths().image_side == 0, "a task without images");
  require(!kind.sees, "a task of classes of images, of which there is none,");
  require(!kind.reads_images || task.lengths().image_side > 0, "a task with images");
  require(!kind.reads_sound, "a task with sounds, of which there is none,");
  require(!kind.reads_source || task.lengths().source > 0, "a task with a source");
  // If the next token were asked for, a model that sees the whole text would read it.
  require(!kind.fills || task.labels_tokens(), "a task whose answers are not in its text");
}

kinds::Sizes sizes_of(const TaskModelOptions& options, const Task& task) {
  const std::int64_t tokens = task.vocabulary().size();
  const std::int64_t source = task.source_vocabulary().size();
  const std::int64_t offset = joined_source_offset(task);
  return {.lengths = task.lengths(),
          .vocabulary = tokens,
          .source_vocabulary = source,
          .joined_vocabulary = offset == 0 ? tokens : offset + source,
          .layers = options.layers,
          .d_model = options.d_model,
          .heads = options.heads,
          .d_ff = options.d_ff,
          .positions = options.positions};
}

}  // namespace

Model make_task_model(const TaskModelOptions& options, const Task& task, Generator& generator) {
  require_fit(traits_of(options.kind), task);
  ModelTokenizers tokenizers{.tokens = make_tokenizer(task.vocabulary().config())};
  if (!have_same_pieces(task.vocabulary(), task.source_vocabulary())) {
    tokenizers.source = make_tokenizer(task.source_vocabulary().config());
  }
  return Model(kinds::network_of(options.kind, sizes_of(options, task), generator), std::move(tokenizers));
}

}  // namespace qkv
