// A model and the task that it learnt: what it reads, and what it answers. A model of others has learnt none of ours.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/image_preparation.h"
#include "qkv/model/model.h"
#include "qkv/train/batch.h"
#include "qkv/train/task.h"

namespace qkv {

/// What a model's file says of its task under "run.": "task", and of a task that is no built-in one its "kind" and
/// sizes.
void describe_task(const Task& task, std::map<std::string, std::string>& run);

/// The file of a model in the box ("induction"), or the path itself where it holds a slash or a dot, or where it is a
/// folder and the box has no such model. Looked for in $QKV_MODELS, in ../share/qkv/models from where the program is,
/// and by a program in its build tree in the tree that it was built from. Throws Error with the names that there are.
[[nodiscard]] std::string trained_model_path(std::string_view name);

/// A file in the box that is no such model, such as "bottleneck/vector.safetensors"; looked for in the same places.
/// Throws Error if it is not there.
[[nodiscard]] std::string box_file(std::string_view name);

/// The names of the models in the box, sorted.
[[nodiscard]] std::vector<std::string> trained_model_names();

class TrainedModel {
 public:
  /// What `qkv train` wrote as model.safetensors or as a checkpoint; or any model that Model::open() opens, which then
  /// has no task. Throws Error as Model::open() does, and for a model of no task that has no tokenizer.
  [[nodiscard]] static TrainedModel read(const std::string& path);

  [[nodiscard]] const Model& model() const noexcept { return model_; }
  [[nodiscard]] ModelKind kind() const noexcept { return model_.kind(); }
  [[nodiscard]] const KindTraits& traits() const noexcept { return model_.traits(); }
  /// The task that it learnt. Of the reader's own text or pictures it knows all but the examples: example() throws; of
  /// a model that learnt none, all that it reads, under the name "".
  [[nodiscard]] const Task& task() const noexcept { return *task_; }
  [[nodiscard]] bool has_task() const noexcept { return !task_->info().name.empty(); }
  [[nodiscard]] bool has_examples() const noexcept { return has_examples_; }

  /// The example that a text stands for, asking for nothing: its source, with "</s>" added, where the model reads one,
  /// and tokens that begin with "<s>"; the tokens else. A model of no task has the special tokens of its tokenizer's
  /// template, and the padding that it reads. Throws InvalidArgument naming text if it has a token that the model does
  /// not know, or none, or more than the model reads with its padding or has learned positions for.
  [[nodiscard]] TaskExample example_of(std::string_view text) const;
  /// A picture as the model reads it: u8 [H, W, 3] -> f32 [3, side, side]. Of a task as qkv::image_of(); of a folder of
  /// others as its preprocessor_config.json says. Throws InvalidArgument naming picture, and for a model that reads no
  /// images; Error where nothing says how its pictures are prepared.
  [[nodiscard]] Tensor image_of(const TensorView& picture) const;
  /// Such an image for people: red, green and blue in [0, 1], without the mean and deviation that a folder's
  /// preparation brings in.
  [[nodiscard]] Tensor colours_of(const TensorView& image) const;
  /// One example as a batch that model() reads.
  [[nodiscard]] TaskBatch batch_of(const TaskExample& example) const;

  /// What the model says at each place of the example's tokens, [T, vocabulary], as probabilities in f64. Throws
  /// InvalidArgument for a two-tower model, which says nothing.
  [[nodiscard]] Tensor probabilities(const TaskExample& example) const;
  /// Those of scores [1, T, vocabulary] that a pass over batch_of(example) has given.
  [[nodiscard]] Tensor probabilities(const TaskExample& example, const TensorView& scores) const;
  /// The options with what the model says of writing where they leave it open: ends ("</s>" of a task); of a task
  /// "<pad>", "<s>" and "<unknown>" are never written; and window().
  [[nodiscard]] GenerateOptions writing(GenerateOptions options) const;
  /// The last tokens of a text that a decoder writes on from: as many as its examples had or its config has. nullopt
  /// where nothing says so, and of a model that reads a source or an image.
  [[nodiscard]] std::optional<std::int64_t> window() const;
  /// The positions of which it learned a vector for each, which a text cannot go past; nullopt where they are others.
  [[nodiscard]] std::optional<std::int64_t> positions() const;
  /// Adds tokens after the last, by writing(options). Throws as Model::generate().
  void answer(TaskExample& example, const GenerateOptions& options) const;
  /// How many tokens the task asks for after a text that ends in this one: those of the sum after "=", 0 if it asks
  /// for none there.
  [[nodiscard]] std::int64_t answer_length(std::int32_t last) const;
  /// f64 [B]: the cosine of each example's image and its tokens. Throws InvalidArgument for a model other than
  /// two-tower.
  [[nodiscard]] Tensor cosines(std::span<const TaskExample> examples) const;

 private:
  TrainedModel(Model model, std::unique_ptr<const Task> task, std::string path);

  [[nodiscard]] TaskExample example_read(std::string_view text) const;
  void require_places(const TaskExample& example) const;
  [[nodiscard]] std::vector<std::int64_t> never_written() const;
  [[nodiscard]] ImagePreparation preparation() const;

  Model model_;
  std::unique_ptr<const Task> task_;
  std::string path_;
  bool has_examples_ = false;
};

}  // namespace qkv
