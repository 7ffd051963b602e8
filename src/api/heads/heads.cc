#include "qkv/api/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "api/fields/refuse.h"
#include "api/heads/head_weights.h"
#include "api/heads/head_words.h"
#include "api/heads/model_run.h"
#include "api/models/models.h"
#include "api/replies/shown_image.h"
#include "api/studio/studio_questions.h"
#include "core/numbered.h"
#include "insight/asked_text.h"
#include "insight/call_places.h"
#include "model/require_finite.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

using api_detail::class_shown;
using api_detail::HeadWeights;
using api_detail::ModelRun;
using api_detail::put_words;
using api_detail::require_head;
using api_detail::require_short;
using api_detail::RunSite;
using api_detail::shown_text_of;
using api_detail::statistics_of;
using api_detail::StudioState;

constexpr std::int64_t kMapCells = 64;

/// The largest weight of each cell of [H, Tq, Tk] in [H, rows, columns].
void put_maps(const Tensor& weights, float* out, std::int64_t rows, std::int64_t columns) {
  const Tensor wide = weights.to(DType::f32).contiguous();
  const std::int64_t Tq = weights.dim(1);
  const std::int64_t Tk = weights.dim(2);
  const auto values = wide.values<float>();
  std::fill(out, out + weights.dim(0) * rows * columns, 0.0F);
  std::size_t at = 0;
  for (std::int64_t h = 0; h < weights.dim(0); ++h) {
    for (std::int64_t i = 0; i < Tq; ++i) {
      // The cell of query i begins at or before it: r * Tq / rows <= i.
      const std::int64_t r = ((i + 1) * rows - 1) / Tq;
      float* const row = out + (h * rows + r) * columns;
      for (std::int64_t j = 0; j < Tk; ++j, ++at) {
        float& cell = row[((j + 1) * columns - 1) / Tk];
        cell = std::max(cell, values[at]);
      }
    }
  }
}

HeadsSite shown_site(const ModelRun& run, const RunSite& site, const StudioWatch& watch) {
  require_short(site);
  HeadsSite shown;
  shown.site = name_of(site.site);
  shown.layers = site.scope.layers;
  shown.heads = run.call(site, 0).q.value().dim(1);
  shown.queries = site.queries;
  shown.keys = site.keys;
  shown.roles = api_detail::roles_of_keys(run, site);
  shown.second_from = run.second_from();
  const bool has_image = !run.text().image.empty();
  shown.asks_from_patches = has_image && site.site == AttentionSite::source;
  shown.reads_patches = has_image && site.site != AttentionSite::tokens;
  const std::int64_t rows = std::min<std::int64_t>(kMapCells, std::ssize(site.queries));
  const std::int64_t columns = std::min<std::int64_t>(kMapCells, std::ssize(site.keys));
  shown.maps = Tensor(DType::f32, {shown.layers, shown.heads, rows, columns});
  for (std::int64_t layer = 0; layer < shown.layers; ++layer) {
    if (watch && watch("heads", {.done = layer, .total = shown.layers}) == Proceed::stop) {
      throw Cancelled("heads: stopped");
    }
    const Tensor weights = run.weights(site, layer);
    put_maps(weights, shown.maps.values<float>().data() + layer * shown.heads * rows * columns, rows, columns);
    for (const HeadStatistics& head : statistics_of(run, site, layer, weights)) {
      shown.classes.push_back(class_shown(head, layer));
    }
  }
  return shown;
}

// Of each token at a place, from the scores of the pass itself where that was not changed.
std::vector<double> shares_at(const ModelRun& run, std::size_t place) {
  const TextModel& trained = run.trained();
  if (run.said().empty()) {
    return trained.probabilities(run.example()).view().select(0, static_cast<std::int64_t>(place)).to_vector();
  }
  require_numbers(trained.model(), "heads", fmt::format("the scores at token {}", place),
                  std::as_const(run.said()).values<double>());
  return softmax(run.said(), -1).to_vector();
}

void say(const ModelRun& run, HeadsReply& reply) {
  constexpr std::size_t kSaid = 5;
  const TextModel& trained = run.trained();
  if (run.second_from()) return;  // its task asks nothing of a pair
  if (!trained.model().scores_tokens()) return;
  const std::size_t place = insight::asked_place(trained, run.example());
  const std::vector<double> shares = shares_at(run, place);
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t count = std::min(kSaid, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>(),
                            [&](std::size_t token) { return shares[token]; });
  reply.asked = insight::shown_tokens(trained, run.text())[place];
  reply.asked_at = static_cast<std::int64_t>(place);
  for (std::size_t n = 0; n < count; ++n) {
    reply.says.push_back({insight::shown_token_of(trained, static_cast<std::int32_t>(order[n])), shares[order[n]]});
  }
}

/// The image for people, and how many patches it has along a side: a class token and the like come before them.
void show_image(const ModelRun& run, HeadsReply& reply) {
  if (run.text().image.empty()) return;
  reply.image = api_detail::shown_image(run.trained().colours_of(run.text().image));
  for (const HeadsSite& site : reply.sites) {
    if (!site.reads_patches) continue;
    reply.patches = run.text().image.dim(2) / run.trained().lengths().patch_side;
  }
}

HeadsReply answer_heads(StudioState& state, const HeadsRequest& request, const StudioWatch& watch) {
  const auto run = state.run(shown_text_of(request), kWholeHead);
  HeadsReply reply{.title = request.model,
                   .kind = std::string(name_of(run->trained().kind())),
                   .sites = {},
                   .sources = run->sources(),
                   .asked = {},
                   .asked_at = 0,
                   .says = {},
                   .image = {},
                   .cautions = api_detail::cautions_of(run->trained(), run->example())};
  for (const RunSite& site : run->sites()) reply.sites.push_back(shown_site(*run, site, watch));
  say(*run, reply);
  show_image(*run, reply);
  return reply;
}

HeadReply answer_head(StudioState& state, const HeadRequest& request, const StudioWatch& /*quick*/) {
  const auto run = state.run(shown_text_of(request), kWholeHead);
  const RunSite& site = run->site(request.site);
  require_short(site);
  require_head(*run, site, request);
  const Tensor all = run->weights(site, request.layer);
  HeadReply reply;
  put_words(*run, site, request, all, reply);
  HeadWeights shown =
      api_detail::head_weights(all, request.head, insight::hidden_places(run->call(site, request.layer), 0));
  if (request.hide_special) api_detail::hide_special(shown, reply.roles, reply.keys);
  reply.key_totals = api_detail::totals_of_keys(shown.weights);
  reply.query_totals = api_detail::totals_of_queries(shown.weights);
  reply.entropy = api_detail::row_entropies(shown.weights);
  reply.seen = api_detail::keys_seen(shown);
  reply.times_uniform = api_detail::times_uniform(shown);
  reply.weights = std::move(shown.weights);
  reply.hidden = std::move(shown.hidden);
  reply.hidden_special = std::move(shown.hidden_special);
  return reply;
}

Tensor row_of(const TensorView& tensor, std::int64_t head, std::int64_t place) {
  return {tensor.select(0, 0).select(0, head).select(0, place), DType::f64};
}

/// The query's row, without special tokens where they are hidden: weights and hidden are [1, Tk].
HeadWeights row_of_pair(const ModelRun& run, const RunSite& site, const PairRequest& request, const Probe& probe) {
  const Tile tile{.b = 0,
                  .h = request.head,
                  .i_begin = request.query,
                  .i_end = request.query + 1,
                  .j_begin = 0,
                  .j_end = std::ssize(site.keys)};
  const Tensor hidden = insight::hidden_places(run.call(site, request.layer), 0);
  HeadWeights row{.weights = Tensor(probe.tile(tile, Stage::weights).view(), DType::f32)};
  if (!hidden.empty()) row.hidden = Tensor(hidden.view().slice(0, request.query, request.query + 1), DType::b8);
  if (request.hide_special) api_detail::hide_special(row, api_detail::roles_of_keys(run, site), site.keys);
  return row;
}

Tile tile_of_pair(const PairRequest& request) {
  return {.b = 0,
          .h = request.head,
          .i_begin = request.query,
          .i_end = request.query + 1,
          .j_begin = request.key,
          .j_end = request.key + 1};
}

double bias_of_pair(const Trace::Attention& call, const PairRequest& request) {
  float value = 0;
  call.options.bias.write_tile(tile_of_pair(request), &value, 1, {1, call.q.dim(1), call.q.dim(2), call.k.dim(2)});
  return value;
}

PairReply answer_pair(StudioState& state, const PairRequest& request, const StudioWatch& /*quick*/) {
  const auto run = state.run(shown_text_of(request), kWholeHead);
  const RunSite& site = run->site(request.site);
  const Trace::Attention& call = run->call(site, request.layer);
  const TensorView& q = call.q.value();
  require_head(*run, site, request);
  const auto require_place = [](std::string_view field, std::int64_t place, std::size_t count) {
    if (place >= static_cast<std::int64_t>(count)) {
      api_detail::refuse(field, core::numbered("place", static_cast<std::int64_t>(count)), std::to_string(place));
    }
  };
  require_place("query", request.query, site.queries.size());
  require_place("key", request.key, site.keys.size());
  PairReply reply;
  reply.query = site.queries[static_cast<std::size_t>(request.query)];
  reply.key = site.keys[static_cast<std::size_t>(request.key)];
  reply.q = row_of(q, request.head, request.query);
  reply.k = row_of(call.k.value(), request.head / (q.dim(1) / call.k.value().dim(1)), request.key);
  reply.products = Tensor(DType::f64, reply.q.shape());
  std::ranges::transform(reply.q.values<double>(), reply.k.values<double>(), reply.products.values<double>().begin(),
                         std::multiplies<>());
  const Probe probe = run->probe(site, request.layer);
  const auto at = [&](Stage stage) { return probe.tile(tile_of_pair(request), stage).at({0, 0}); };
  reply.dot = at(Stage::raw);
  reply.scale = call.options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(3))));
  reply.weight = at(Stage::weights);
  const HeadWeights row = row_of_pair(*run, site, request, probe);
  reply.uniform = 1 / std::max(1.0, api_detail::keys_seen(row).at({0}));
  if (request.hide_special) reply.weight_left = row.weights.at({0, request.key});
  if (call.options.softcap) reply.softcapped = at(Stage::softcapped);
  const double score = at(Stage::masked);
  if (!std::isfinite(score)) return reply;
  reply.score = score;
  if (!call.options.bias.is_zero()) reply.bias = bias_of_pair(call, request);
  return reply;
}

}  // namespace

api_detail::Answerer api_detail::heads_question() {
  return answerer<HeadsRequest, HeadsReply>(
      "heads", "All heads of a model over one text, small, with what each does.", heads_fields(), answer_heads,
      {R"({"model": "induction", "text": "abcxyzab"})", R"({"model": "translation", "example": 0})"});
}

api_detail::Answerer api_detail::head_question() {
  return answerer<HeadRequest, HeadReply>(
      "head", "One head whole.", head_fields(), answer_head,
      {R"({"model": "induction", "text": "abcxyzab", "layer": 1})",
       R"({"model": "induction", "text": "abcxyzab", "layer": 1, "changes": "cut 1.0=7:2"})"});
}

api_detail::Answerer api_detail::pair_question() {
  return answerer<PairRequest, PairReply>(
      "pair", "The score of one query and one key, number by number.", pair_fields(), answer_pair,
      {R"({"model": "induction", "text": "abcxyzab", "layer": 1, "query": 7, "key": 2})"});
}

}  // namespace qkv
