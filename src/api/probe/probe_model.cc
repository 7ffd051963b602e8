// A probe's inputs out of a model that reads a text: what its attention was given, and the gradient that it got.
#include <algorithm>
#include <utility>

#include "api/fields/refuse.h"
#include "api/fields/text_file.h"
#include "api/heads/model_run.h"
#include "api/heads/site_named.h"
#include "api/models/models.h"
#include "api/models/shown.h"
#include "api/probe/probe_parts.h"
#include "core/numbered.h"
#include "insight/asked_text.h"
#include "insight/text_batch.h"
#include "qkv/api/explain.h"
#include "qkv/autograd/softmax.h"
#include "qkv/explain/model.h"
#include "qkv/files.h"
#include "qkv/model/batch.h"
#include "qkv/nn/trace.h"

namespace qkv {
namespace {

using api_detail::refuse;

ReadExample example_for(const ProbeRequest& request, const TextModel& trained) {
  api_detail::ShownFields fields{
      .example = request.example, .picture = request.picture, .sound = request.sound, .talk = &request.talk};
  if (!request.text.empty()) fields.text = request.text;
  if (!request.file.empty()) {
    fields.text = api_detail::text_of_file(request.file);
    fields.text_field = "file";
  }
  Shown shown = api_detail::shown_of(trained, fields, api_detail::PassKeeps::nothing);
  return shown_example(trained, api_detail::question_about(request.model, std::move(shown)));
}

AttentionSite site_for(const ProbeRequest& request, const Model& model, const HeadText& text) {
  return api_detail::site_named(insight::sites_run(model, text), request.site).site;
}

std::string attention_of(const ProbeRequest& request, const SiteScope& scope) {
  if (request.layer < 0 || request.layer >= scope.layers) {
    refuse("layer", core::numbered("layer", scope.layers), std::to_string(request.layer));
  }
  return scope.name(static_cast<std::size_t>(request.layer));
}

// Of the loss of what the task asks for; of a decoder's text, for which none does, of each next token.
void run_for_gradients(const TextModel& trained, const HeadText& text, const Batch& batch, Trace& trace) {
  if (trained.traits().is_pair) {
    if (text.ids.empty() || text.image.empty()) {
      refuse("stage", "an example of the model's task: the loss of two towers is that of a picture and a text together",
             text.ids.empty() ? "a picture alone" : "a text alone");
    }
    return backward(batch_loss(trained.model(), batch, {.trace = &trace}));
  }
  if (std::ranges::all_of(text.targets, [](std::int64_t target) { return target == kNothingAsked; })) {
    refuse("stage", "an example of the model's task, or a text of a decoder, for a loss that has gradients",
           "a text of a model of kind " + std::string(name_of(trained.kind())));
  }
  const Tensor targets(text.targets, {1, std::ssize(text.targets)});
  backward(cross_entropy(trained.model().forward(input_of(batch), {.trace = &trace}), targets));
}

}  // namespace

ProbeInputs api_detail::load_model_inputs(const ProbeRequest& request, const ProbeChoice& choice) {
  const OpenedModel model = open_model(request.model, {}, model_numbers_named(request.dtype));
  const TextModel& trained = *model;
  const auto [example, sources] = example_for(request, trained);
  const Batch batch = trained.batch_of(example);
  const HeadText text = insight::head_text_of(trained, example);
  const AttentionSite site = site_for(request, trained.model(), text);
  const std::string name = attention_of(request, *trained.model().scope_of(site));
  Trace trace({name, name + ".heads"});
  if (choice.stage.gradient) {
    run_for_gradients(trained, text, batch, trace);
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
  inputs.model = request.model + ", " + name;
  inputs.sources = sources;
  inputs.cautions = api_detail::cautions_of(trained, example);
  api_detail::PlaceNames names =
      api_detail::names_of_places(trained, text, example, site, inputs.problem.q.dim(2), inputs.problem.k.dim(2));
  inputs.queries = std::move(names.queries);
  inputs.keys = std::move(names.keys);
  return inputs;
}

}  // namespace qkv
