#include "api/explain/explain_rules.h"

#include <fmt/format.h>

#include <string_view>

#include "api/fields/refuse.h"
#include "api/models/shown.h"
#include "core/place_text.h"

namespace qkv {
namespace {

using api_detail::refuse;

bool has_own_tensors(const Given& given) {
  return given.has("q") || given.has("k") || given.has("v") || given.has("npz");
}

void require_own(const ExplainRequest& request, const Given& given) {
  const char* const own = given.has("npz") ? "`npz`" : "`q`";
  if (given.has("seed") && request.dropout.value_or(0) == 0) {
    refuse("seed", fmt::format("it without {}, or `dropout` above 0 beside it (nothing else is drawn)", own), "both");
  }
  if (request.bias == "t5") {
    refuse("bias", fmt::format("another beside {} (T5's table is drawn with the parameters)", own), "t5");
  }
}

void require_drawn(const Given& given) {
  if (given.has("text") || has_own_tensors(given)) return;
  refuse("text", "some words, \"The cat sat down\" (or `npz`, or `q`, `k` and `v`)", "none");
}

}  // namespace

void api_detail::say_company(Fields<ExplainRequest>& fields) {
  for (const char* const name :
       {"dtype", "example", "site", "layer", "head", "answer", "captions", "picture", "sound", "chat"}) {
    fields.info(name).needs = {"model"};
  }
  const char* const of_model = "a model has its own";
  const char* const of_example = "an example has its own";
  fields.exclude({"heads", "kv_heads", "d_model", "d_k", "d_v", "positions"}, {"model"}, of_model);
  fields.exclude({"heads", "kv_heads", "d_model", "d_k", "d_v", "positions"}, {"q", "k", "v", "npz"},
                 "own tensors are taken as they are");
  fields.exclude(
      {"heads",   "kv_heads", "d_model", "d_k",   "d_v",   "positions", "causal", "mask", "bias", "scale", "softcap",
       "context", "dropout",  "seed",    "block", "query", "why",       "text",   "npz",  "q",    "k",     "v"},
      {"worked"}, of_example);
  fields.exclude({"causal", "mask", "bias", "scale", "softcap", "context", "dropout", "seed"}, {"model"}, of_model);
  fields.exclude({"block"}, {"q", "k", "v", "npz"}, "own tensors have no block around them");
  fields.exclude({"npz"}, {"q", "k", "v"}, "the file holds all three");
  fields.exclude({"model"}, {"worked"}, "an example needs no model");
  fields.exclude({"model"}, {"q", "k", "v", "npz"}, "a model makes its own tensors");
  say_company_of_shown(fields);
  fields.exclude({"sound"}, {"captions"}, "a model reads one of them");
  fields.exclude({"chat"}, {"captions", "worked"}, "a conversation is text");
  fields.exclude({"step"}, {"all"}, "it has every step");
  fields.exclude({"all"}, {"worked"}, "an example is shown whole");
  fields.exclude({"step", "numbers"}, {"worked=list"}, "it names the examples and no more");
  fields.exclude({"all"}, {"model"}, "every step of a model is told");
  fields.info("all").needs_one = {"query", "why"};
}

api_detail::HeadPlace api_detail::head_place(const ExplainRequest& request) {
  if (request.head.empty()) return {.layer = request.layer, .head = std::nullopt};
  const auto place = core::head_from(request.head);
  const std::string got = "\"" + request.head + "\"";
  if (!place || !place->layer || !place->head) refuse("head", "LAYER.HEAD, such as 1.5", got);
  if (request.layer && *request.layer != *place->layer) {
    refuse("head", fmt::format("a head of `layer` {}", *request.layer), got);
  }
  return {.layer = place->layer, .head = place->head};
}

void require_explain(const ExplainRequest& request, const Given& given) {
  if (!request.model.empty() && given.has("block") && request.block != "pre-norm") {
    refuse("block", "no kind beside `model`, whose blocks are as it was trained", "\"" + request.block + "\"");
  }
  if (has_own_tensors(given)) require_own(request, given);
  if (request.bias == "t5" && request.positions != "sinusoidal" && request.positions != "t5") {
    refuse("bias", "another beside `positions` " + request.positions + " (T5's buckets are the positions)", "t5");
  }
  if (request.model.empty() && request.worked.empty()) require_drawn(given);
  static_cast<void>(api_detail::head_place(request));
}

}  // namespace qkv
