// A probe's inputs out of a model that reads a text: what its attention was given, and the gradient that it got.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "qkv/autograd/softmax.h"
#include "qkv/explain/model.h"
#include "qkv/files.h"
#include "qkv/nn/trace.h"
#include "qkv/png.h"
#include "qkv/train/examine.h"
#include "view/probe_parts.h"
#include "view/refuse.h"

namespace qkv {
namespace {

using view_detail::refuse;

// What the explanation says of its question, said of the request's field.
template <class Body>
auto of_question(const ProbeRequest& request, const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads") throw;
    const bool is_of_file = error.argument() == "text" && !request.text_file.empty();
    refuse(is_of_file ? "text_file" : error.argument(), error.expected(), error.got());
  }
}

std::string text_of_file(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TaskExample example_for(const ProbeRequest& request, const TrainedModel& trained) {
  ModelQuestion question{.title = request.model, .example = request.example};
  if (!request.text.empty()) question.text = request.text;
  if (!request.text_file.empty()) question.text = text_of_file(request.text_file);
  if (!request.picture.empty()) question.picture = decode_png(read_file(request.picture), request.picture);
  return of_question(request, [&] { return shown_example(trained, question); });
}

AttentionSite site_for(const ProbeRequest& request, const Model& model) {
  std::string known;
  for (const AttentionSite site : {AttentionSite::cross, AttentionSite::tokens, AttentionSite::source}) {
    // A decoder has one matrix, whatever it reads.
    const bool is_part = model.kind() == ModelKind::decoder && site != AttentionSite::tokens;
    if (is_part || !model.scope_of(site)) continue;
    if (request.site.empty() || request.site == name_of(site)) return site;
    known += (known.empty() ? "" : ", ") + std::string(name_of(site));
  }
  refuse("site", "one that the model has: " + known, "\"" + request.site + "\"");
}

std::string attention_of(const ProbeRequest& request, const SiteScope& scope) {
  if (request.layer < 0 || request.layer >= scope.layers) {
    refuse("layer", "0 to " + std::to_string(scope.layers - 1), std::to_string(request.layer));
  }
  return scope.name(static_cast<std::size_t>(request.layer));
}

// What the task asks for; of a text, for which none does, each next token.
TensorView targets_for(const TrainedModel& trained, const TaskBatch& batch, Tensor& next) {
  const auto targets = batch.targets.values<std::int64_t>();
  if (std::ranges::any_of(targets, [](std::int64_t target) { return target != kNothingAsked; })) return batch.targets;
  if (trained.kind() != ModelKind::decoder || batch.ids.dim(1) < 2) {
    refuse("stage", "an example of the model's task, or a text of a decoder, for a loss that has gradients",
           "a text of a model of kind " + std::string(name_of(trained.kind())));
  }
  next = batch.targets;
  const auto ids = batch.ids.values<std::int64_t>();
  std::ranges::copy(ids.subspan(1), next.values<std::int64_t>().begin());
  return next;
}

void run_for_gradients(const TrainedModel& trained, const TaskBatch& batch, Trace& trace) {
  if (trained.kind() == ModelKind::two_tower) return backward(batch_loss(trained.model(), batch, {.trace = &trace}));
  Tensor next;
  const TensorView targets = targets_for(trained, batch, next);
  backward(cross_entropy(trained.model().forward(input_of(batch), {.trace = &trace}), targets));
}

std::vector<std::string> shown(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(shown_token(tokenizer, id));
  return tokens;
}

std::vector<std::string> places(std::int64_t count) {
  std::vector<std::string> numbers;
  for (std::int64_t n = 0; n < count; ++n) numbers.push_back(std::to_string(n));
  return numbers;
}

// A decoder reads the source before its own tokens; patches have no names but their numbers.
void name_places(const TrainedModel& trained, const TaskExample& example, AttentionSite site, ProbeInputs& inputs) {
  const std::vector<std::string> own = shown(trained.task().vocabulary(), example.tokens);
  std::vector<std::string> source = shown(trained.task().source_vocabulary(), example.source);
  const bool is_joined = layout_for(trained.kind()) == BatchLayout::joined;
  if (!example.image.empty()) source = places(inputs.problem.k.dim(2));
  inputs.queries = site == AttentionSite::source ? source : own;
  inputs.keys = site == AttentionSite::tokens ? own : source;
  if (is_joined && !source.empty()) {
    source.insert(source.end(), own.begin(), own.end());
    inputs.queries = inputs.keys = source;
  }
  // A class token, which is no patch.
  if (static_cast<std::int64_t>(inputs.queries.size()) != inputs.problem.q.dim(2)) {
    inputs.queries = places(inputs.problem.q.dim(2));
  }
}

void require_alone(const ProbeRequest& request) {
  const std::array<std::pair<const char*, bool>, 21> others = {{
      {"q", !request.q.empty()},
      {"k", !request.k.empty()},
      {"v", !request.v.empty()},
      {"past_k", !request.past_k.empty()},
      {"past_v", !request.past_v.empty()},
      {"heads", request.heads.has_value()},
      {"kv_heads", request.kv_heads.has_value()},
      {"mask", !request.mask.empty()},
      {"mask_file", !request.mask_file.empty()},
      {"window", !request.window.empty()},
      {"kv_lengths", !request.kv_lengths.empty()},
      {"bias", !request.bias.empty()},
      {"bias_file", !request.bias_file.empty()},
      {"causal", request.causal},
      {"scale", request.scale.has_value()},
      {"softcap", request.softcap.has_value()},
      {"dropout", request.dropout.has_value()},
      {"sinks", !request.sinks.empty()},
      {"d_out", !request.d_out.empty()},
      {"lse", !request.lse.empty()},
      {"random", !request.random.empty()},
  }};
  for (const auto& [field, is_given] : others) {
    if (is_given) refuse(field, "nothing of it beside `model`, which has its own", "one");
  }
}

}  // namespace

void view_detail::check_model(const ProbeRequest& request) {
  require_alone(request);
  const auto given = std::ranges::count(std::array{!request.text.empty(), !request.text_file.empty(),
                                                   !request.picture.empty(), request.example.has_value()},
                                        true);
  if (given != 1) {
    refuse("model", "`text`, `text_file`, `picture` or `example` beside it, one of them",
           given == 0 ? "none" : "several");
  }
}

ProbeInputs view_detail::load_model_inputs(const ProbeRequest& request, const ProbeChoice& choice) {
  const TrainedModel trained = of_field("model", [&] { return TrainedModel::read(trained_model_path(request.model)); });
  const TaskExample example = example_for(request, trained);
  const TaskBatch batch = trained.batch_of(example);
  const AttentionSite site = site_for(request, trained.model());
  const std::string name = attention_of(request, *trained.model().scope_of(site));
  Trace trace({name, name + ".heads"});
  if (choice.stage.gradient) {
    run_for_gradients(trained, batch, trace);
  } else {
    trained.model().run(input_of(batch), trace);
  }
  const Trace::Attention& ran = trace.attention(name);
  ProbeInputs inputs;
  inputs.problem = {.layout = Layout::heads,
                    .q = Tensor(ran.q.value()),
                    .k = Tensor(ran.k.value()),
                    .v = Tensor(ran.v.value()),
                    .options = ran.options};
  inputs.problem.options.target = request.target;
  inputs.lse = Tensor(ran.lse.value());
  if (choice.stage.gradient) inputs.upstream.d_out = trace.gradient(name + ".heads");
  inputs.source = request.model + ", " + name;
  name_places(trained, example, site, inputs);
  return inputs;
}

}  // namespace qkv
