#include "qkv/train/task_model.h"

#include <algorithm>
#include <array>

#include "qkv/autograd/softmax.h"
#include "train/models/makers.h"

namespace qkv {
namespace {

constexpr const char* kFunction = "make_task_model";
constexpr std::array<ModelKind, 5> kKinds = {ModelKind::decoder, ModelKind::encoder, ModelKind::encoder_decoder,
                                             ModelKind::captioner, ModelKind::two_tower};

train::ModelMaker maker_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::encoder:
      return train::encoder_maker();
    case ModelKind::encoder_decoder:
      return train::encoder_decoder_maker();
    case ModelKind::captioner:
      return train::captioner_maker();
    case ModelKind::two_tower:
      return train::two_tower_maker();
    case ModelKind::decoder:
      break;
  }
  return train::decoder_maker();
}

TaskAccuracy right_answers(const TensorView& scores, const TaskBatch& batch) {
  const std::int64_t length = batch.ids.dim(1);
  std::vector<double> row(static_cast<std::size_t>(scores.dim(-1)));
  TaskAccuracy total;
  for (std::int64_t place = 0; place < batch.ids.size(); ++place) {
    if (batch.scored.values<std::int64_t>()[static_cast<std::size_t>(place)] == 0) continue;
    const std::array<std::int64_t, 2> at = {place / length, place % length};
    scores.load_row(at, row);
    const std::int64_t said = std::ranges::max_element(row) - row.begin();
    ++total.asked;
    total.right += said == batch.targets.values<std::int64_t>()[static_cast<std::size_t>(place)] ? 1 : 0;
  }
  return total;
}

}  // namespace

std::string_view name_of(ModelKind kind) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"decoder", "encoder", "encoder-decoder", "captioner",
                                                      "two-tower"};
  return kNames[static_cast<std::size_t>(kind)];
}

ModelKind model_kind_named(std::string_view name) {
  std::string names;
  for (const ModelKind kind : kKinds) {
    if (name == name_of(kind)) return kind;
    names += (names.empty() ? "" : ", ") + std::string(name_of(kind));
  }
  throw InvalidArgument("model_kind_named", "name", "one of " + names, "\"" + std::string(name) + "\"");
}

double TaskAccuracy::share() const noexcept {
  return asked == 0 ? 0 : static_cast<double>(right) / static_cast<double>(asked);
}

double TaskAccuracy::loss() const noexcept { return loss_places == 0 ? 0 : loss_sum / loss_places; }

TaskAccuracy& TaskAccuracy::operator+=(const TaskAccuracy& other) noexcept {
  right += other.right;
  asked += other.asked;
  loss_sum += other.loss_sum;
  loss_places += other.loss_places;
  return *this;
}

std::string SiteScope::name(std::size_t layer, std::string_view leaf) const {
  const std::string attention = stack + "blocks." + std::to_string(layer) + "." + part;
  return leaf.empty() ? attention : attention + "." + std::string(leaf);
}

void TaskModel::run(const TaskBatch& batch, Trace& trace) const {
  const NoGradient constant;
  forward(batch, {.trace = &trace});
}

std::vector<Tensor> TaskModel::weights(const TaskBatch& batch, AttentionSite site) const {
  const std::optional<SiteScope> scope = scope_of(site);
  if (!scope) return {};
  Trace trace({scope->stack + "*." + scope->part + ".weights"});
  run(batch, trace);
  std::vector<Tensor> all;
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope->layers); ++layer) {
    all.push_back(trace[scope->name(layer, "weights")]);
  }
  return all;
}

Variable TokenModel::loss(const TaskBatch& batch, const TaskModelCall& call) const {
  return cross_entropy(scores(batch, call), batch.targets);
}

TaskAccuracy TokenModel::examine(const TaskBatch& batch) const {
  const NoGradient constant;
  const Variable said = scores(batch, {});
  TaskAccuracy total = right_answers(said.value(), batch);
  const auto targets = batch.targets.values<std::int64_t>();
  total.loss_places =
      static_cast<double>(std::ranges::count_if(targets, [](auto target) { return target != kNothingAsked; }));
  total.loss_sum = cross_entropy(said, batch.targets).item() * total.loss_places;
  return total;
}

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

std::unique_ptr<const TaskModel> make_task_model(const TaskModelOptions& options, const Task& task,
                                                 Generator& generator) {
  return maker_of(options.kind).for_task(options, task, generator);
}

std::unique_ptr<const TaskModel> make_task_model(const std::map<std::string, std::string>& facts) {
  const auto kind = facts.find("kind");
  if (kind == facts.end()) throw InvalidArgument(kFunction, "kind", "a kind of model", "none");
  return maker_of(model_kind_named(kind->second)).from_facts(facts, Init::undrawn());
}

SiteScope train::scope_in_stacks(AttentionSite site, const StackLayers& layers) {
  if (site == AttentionSite::source) return {.stack = "encoder.", .part = "attn", .layers = layers.encoder};
  return {.stack = "decoder.", .part = site == AttentionSite::cross ? "cross" : "attn", .layers = layers.decoder};
}

void train::require_fit(bool holds, const TaskModelOptions& options, const Task& task, const char* expected) {
  if (holds) return;
  throw InvalidArgument(kFunction, "task",
                        std::string(expected) + " for a model of kind " + std::string(name_of(options.kind)),
                        task.info().name);
}

}  // namespace qkv
