// A model of any kind behind one door: what training, examination and explanation ask of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/nn/parameters.h"
#include "qkv/model/decoder.h"
#include "qkv/random.h"
#include "qkv/train/batch.h"

namespace qkv {

enum class ModelKind : std::uint8_t {
  decoder,          // one text; a source stands before its tokens
  encoder,          // one text, every token sees all
  encoder_decoder,  // a source, and tokens that attend to it
  captioner,        // an image, and tokens that attend to its patches
  two_tower,        // an image and a text, each with an encoder; what belongs together lies together
};
/// "decoder", "encoder", "encoder-decoder", "captioner", "two-tower"
[[nodiscard]] std::string_view name_of(ModelKind kind) noexcept;
/// Throws InvalidArgument for another word, with the words that there are.
[[nodiscard]] ModelKind model_kind_named(std::string_view name);

struct TaskModelOptions {
  ModelKind kind = ModelKind::decoder;
  std::int64_t layers = 2;  // of each stack
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model where not given
  Positions positions = Positions::rotary;
};

struct TaskAccuracy {
  std::int64_t right = 0;
  std::int64_t asked = 0;  // scored places; images for a two-tower model
  double loss_sum = 0;     // over all that is asked, scored or not
  double loss_places = 0;
  [[nodiscard]] double share() const noexcept;
  [[nodiscard]] double loss() const noexcept;
  TaskAccuracy& operator+=(const TaskAccuracy& other) noexcept;
};

using TaskModelCall = ModelCall;

/// Where a trace has one kind of attention: "<stack>blocks.<n>.<part>" and what stands below it.
struct SiteScope {
  std::string stack;        // "", "decoder."
  std::string part;         // "attn" or "cross"
  std::int64_t layers = 0;  // n from 0

  /// "decoder.blocks.1.cross.weights"; without a leaf "decoder.blocks.1.cross".
  [[nodiscard]] std::string name(std::size_t layer, std::string_view leaf = {}) const;
};

class TaskModel {
 public:
  virtual ~TaskModel() = default;
  TaskModel(const TaskModel&) = delete;
  TaskModel& operator=(const TaskModel&) = delete;

  /// Which batches it reads.
  [[nodiscard]] virtual BatchLayout layout() const noexcept { return BatchLayout::apart; }
  /// The options of the model inside, for a checkpoint; "kind" says which it is.
  [[nodiscard]] virtual std::map<std::string, std::string> facts() const = 0;
  [[nodiscard]] virtual Parameters parameters() const = 0;
  /// By the arithmetic of the model's options.
  [[nodiscard]] virtual std::int64_t parameter_count() const = 0;
  /// Of rank 0: the mean over what the batch asks.
  [[nodiscard]] virtual Variable loss(const TaskBatch& batch, const TaskModelCall& call) const = 0;
  [[nodiscard]] virtual TaskAccuracy examine(const TaskBatch& batch) const = 0;
  /// A forward pass for its trace, in the dtype of the parameters; nothing is recorded.
  void run(const TaskBatch& batch, Trace& trace) const;
  /// Where a trace has the attention of a site; nullopt if the model has none.
  [[nodiscard]] virtual std::optional<SiteScope> scope_of(AttentionSite site) const = 0;
  /// Weights of every head, [B, H, Tq, Tk] a layer; empty if the model has no such site. Allocates them all.
  [[nodiscard]] std::vector<Tensor> weights(const TaskBatch& batch, AttentionSite site) const;

 protected:
  TaskModel() = default;
  virtual void forward(const TaskBatch& batch, const TaskModelCall& call) const = 0;
};

/// A model that says a token at each place of its text.
class TokenModel : public TaskModel {
 public:
  /// [B, T, vocabulary] in call.dtype.
  [[nodiscard]] virtual Variable scores(const TaskBatch& batch, const TaskModelCall& call) const = 0;
  [[nodiscard]] Variable loss(const TaskBatch& batch, const TaskModelCall& call) const final;
  /// The most likely token at each scored place against its target.
  [[nodiscard]] TaskAccuracy examine(const TaskBatch& batch) const final;

 protected:
  void forward(const TaskBatch& batch, const TaskModelCall& call) const final {
    static_cast<void>(scores(batch, call));
  }
};

/// A model that says how near an image and a text are.
class PairModel : public TaskModel {
 public:
  /// f64 [B]: the cosine of image n and text n of the batch.
  [[nodiscard]] virtual Tensor cosines(const TaskBatch& batch) const = 0;

 protected:
  PairModel() = default;
  void forward(const TaskBatch& batch, const TaskModelCall& call) const final { static_cast<void>(loss(batch, call)); }
};

/// The kind that a task is for.
[[nodiscard]] ModelKind usual_model(TaskKind kind) noexcept;

/// A model for the task. Draws its parameters. Throws InvalidArgument for a kind that cannot read the task or answer
/// it, and as the model's own options do.
[[nodiscard]] std::unique_ptr<const TaskModel> make_task_model(const TaskModelOptions& options, const Task& task,
                                                               Generator& generator);
/// A model with these facts, for restore(). Throws InvalidArgument naming the word that is missing or has no meaning.
[[nodiscard]] std::unique_ptr<const TaskModel> make_task_model(const std::map<std::string, std::string>& facts);

}  // namespace qkv
