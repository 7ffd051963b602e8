#include "qkv/api/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/bench/bench_of.h"
#include "api/fields/bounds.h"
#include "api/fields/number_lists.h"
#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/heads/changes.h"
#include "api/heads/head_weights.h"
#include "api/models/models.h"
#include "api/probe/probe_parts.h"
#include "api/studio/studio_questions.h"
#include "core/place_text.h"
#include "explain/words.h"
#include "qkv/mask.h"

namespace qkv {
namespace {

using api_detail::matrix_in;
using api_detail::refuse;
using api_detail::shared_field;
using api_detail::StudioState;

constexpr std::int64_t kMostOnBench = 1024;  // tokens
constexpr const char* kMatrix = "X,X;X,X";   // a row each
constexpr std::string_view kTokens = "the cat sat";
constexpr std::string_view kChapter = "1,0;0,1;1,1";  // queries and keys of the chapter on self-attention
constexpr std::string_view kValues = "2,0;0,3;1,1";

void add_matrices(Fields<BenchRequest>& fields) {
  const auto add = [&](std::string BenchRequest::* place, const char* name, const char* form, const char* meaning) {
    fields.add(place, {.name = name, .form = form, .meaning = meaning, .group = "matrices"});
  };
  add(&BenchRequest::tokens, "tokens", "TEXT", "A word for each query");
  add(&BenchRequest::context, "context", "TEXT", "A word for each key");
  const auto shared = [&](std::string BenchRequest::* place, const char* name) {
    FieldInfo field = shared_field(name, "matrices");
    field.form = kMatrix;
    fields.add(place, std::move(field));
  };
  shared(&BenchRequest::q, "q");
  shared(&BenchRequest::k, "k");
  shared(&BenchRequest::v, "v");
  add(&BenchRequest::x, "x", kMatrix, "Vectors of the tokens, from which q, k and v are made");
  add(&BenchRequest::source, "source", kMatrix, "Those of the other text, for keys and values");
  add(&BenchRequest::w_q, "w_q", kMatrix, "What makes queries: q = x w_q");
  add(&BenchRequest::w_k, "w_k", kMatrix, "What makes keys");
  add(&BenchRequest::w_v, "w_v", kMatrix, "What makes values");
  fields.give_otherwise({{"tokens", "the cat sat, or numbers"},
                         {"context", "tokens"},
                         {"q", "the chapter's"},
                         {"k", "the chapter's"},
                         {"v", "the chapter's"},
                         {"source", "x"}});
  fields.info("x").needs = {"w_q", "w_k", "w_v"};
  for (const char* const of_x : {"source", "w_q", "w_k", "w_v"}) fields.info(of_x).needs = {"x"};
  fields.give_examples({{"tokens", "a b c"},
                        {"context", "le chat dort"},
                        {"q", "1,1;0,1;1,0"},
                        {"k", "1,1;0,1;1,0"},
                        {"v", "1,1;0,1;1,0"},
                        {"x", "1,0;0,1;1,1"},
                        {"source", "1,1;0,1;1,0"},
                        {"w_q", "1,1;0,1"},
                        {"w_k", "1,1;0,1"},
                        {"w_v", "1,1;0,1"}});
}

void add_scores(Fields<BenchRequest>& fields) {
  fields.add(&BenchRequest::mask, shared_field("mask", "scores"));
  fields.add(&BenchRequest::bias, shared_field("bias", "scores"));
  fields.add(&BenchRequest::scale, shared_field("scale", "scores"));
  fields.add(&BenchRequest::softcap, shared_field("softcap", "scores"));
  fields.give_bounds(
      {{"scale", -api_detail::kMostFactor, api_detail::kMostFactor}, {"softcap", above(0), api_detail::kMostFactor}});
  fields.add(&BenchRequest::query, {.name = "query",
                                    .meaning = "Whose row the steps speak of, from 0",
                                    .least = 0,
                                    .most = api_detail::kMostPlaces,
                                    .otherwise = "1, or the only one"});
  fields.give_examples({{"scale", "0.25"}, {"query", "0"}});
}

void add_gradients(Fields<BenchRequest>& fields) {
  fields.add(&BenchRequest::d_out, shared_field("d_out", "backward"));
  fields.info("d_out").form = kMatrix;
  fields.add(&BenchRequest::move, {.name = "move",
                                   .form = "ROW,COLUMN",
                                   .meaning = "Instead: the loss is this number of the output",
                                   .group = "backward"});
  fields.add(&BenchRequest::nudge, {.name = "nudge",
                                    .form = "NAME:STEP",
                                    .meaning = "A small step of an input, q:1,1:0.01: predicted and found",
                                    .group = "backward"});
  std::vector<std::string> words = bench_mistakes();
  words.insert(words.begin(), "");
  fields.add(
      &BenchRequest::wrong,
      {.name = "wrong", .meaning = "A mistake, beside what is right", .group = "mistakes", .words = std::move(words)});
  fields.add(&BenchRequest::wrong_d,
             {.name = "wrong_d",
              .meaning = "Of no-scale: 64 random queries and keys of so many numbers; 0: the bench's own",
              .group = "mistakes",
              .least = 0,
              .most = api_detail::kWidest});
  fields.info("wrong_d").needs = {"wrong=no-scale"};
  fields.exclude({"move"}, {"d_out"}, "the loss is one of them");
  fields.give_examples({{"d_out", "1,0;0,1;1,1"}, {"move", "1,0"}, {"nudge", "q:1,1:0.01"}});
}

void add_model(Fields<BenchRequest>& fields) {
  const std::string group = "a head of a model";
  const auto add = [&](auto place, const char* name) { fields.add(place, shared_field(name, group)); };
  add(&BenchRequest::model, "model");
  add(&BenchRequest::text, "text");
  add(&BenchRequest::second, "second");
  fields.add(&BenchRequest::set, {.name = "set",
                                  .form = "NAME:NUMBER;…",
                                  .meaning = "Numbers of its q, k and v that are changed: q:7,3:0.5; k:2,5:0.7",
                                  .group = group,
                                  .example = "q:1,0:0.5"});
  add(&BenchRequest::example, "example");
  add(&BenchRequest::site, "site");
  add(&BenchRequest::layer, "layer");
  add(&BenchRequest::head, "head");
  fields.info("model").needs_one = {"text", "example"};
  for (const char* const of_model : {"text", "set", "example", "site", "layer"}) {
    fields.info(of_model).needs = {"model"};
  }
  fields.info("second").needs = {"text"};
  fields.info("head").needs_one = {"model", "seed"};
  fields.exclude({"example"}, {"text"}, "a model reads one of them");
}

void add_drawn(Fields<BenchRequest>& fields) {
  const std::string group = "a drawn model";
  const auto add = [&](auto place, const char* name) { fields.add(place, shared_field(name, group)); };
  fields.add(&BenchRequest::seed, {.name = "seed",
                                   .meaning = "Draws a model for the tokens, as qkv explain does, whose head it is",
                                   .group = group});
  add(&BenchRequest::heads, "heads");
  add(&BenchRequest::kv_heads, "kv_heads");
  add(&BenchRequest::d_model, "d_model");
  add(&BenchRequest::d_k, "d_k");
  add(&BenchRequest::d_v, "d_v");
  fields.give_bounds({{"heads", 1, api_detail::kMostHeads}, {"kv_heads", 1, api_detail::kMostHeads}});
  add(&BenchRequest::positions, "positions");
  for (const char* const of_drawn : {"heads", "kv_heads", "d_model", "d_k", "d_v", "positions"}) {
    fields.info(of_drawn).needs = {"seed"};
  }
  fields.give_examples({{"kv_heads", "1"}});
}

// The numbers come from one place.
void say_company(Fields<BenchRequest>& fields) {
  fields.exclude({"q", "k", "v"}, {"x"}, "they are made of it");
  fields.exclude({"q", "k", "v", "x"}, {"seed"}, "a drawn model makes its own");
  fields.exclude({"tokens", "context", "q", "k", "v", "x", "mask", "bias", "scale", "softcap", "seed"}, {"model"},
                 "a model brings its own");
}

std::vector<std::string> words_for(std::string_view field, const std::string& text, std::int64_t count) {
  if (text.empty()) return api_detail::numbers_from_to(1, count + 1);
  return explain_detail::split_words(field, text);
}

Tensor as_heads(const Tensor& matrix) { return matrix.reshape({1, 1, matrix.dim(0), matrix.dim(1)}); }

void take_matrices(const BenchRequest& request, BenchInputs& inputs) {
  const auto or_chapter = [](std::string_view field, const std::string& text, std::string_view usual) {
    return as_heads(matrix_in(field, text.empty() ? usual : std::string_view(text)));
  };
  inputs.q = or_chapter("q", request.q, kChapter);
  inputs.k = or_chapter("k", request.k, kChapter);
  inputs.v = or_chapter("v", request.v, kValues);
  if (inputs.k.dim(3) != inputs.q.dim(3)) {
    refuse("k", fmt::format("rows of {} numbers, as those of q", inputs.q.dim(3)), std::to_string(inputs.k.dim(3)));
  }
  if (inputs.v.dim(2) != inputs.k.dim(2)) {
    refuse("v", fmt::format("{} rows, as many as k", inputs.k.dim(2)), std::to_string(inputs.v.dim(2)));
  }
}

void take_projections(const BenchRequest& request, BenchInputs& inputs) {
  inputs.x = matrix_in("x", request.x);
  if (!request.source.empty()) inputs.source = matrix_in("source", request.source);
  inputs.w_q = matrix_in("w_q", request.w_q);
  inputs.w_k = matrix_in("w_k", request.w_k);
  inputs.w_v = matrix_in("w_v", request.w_v);
}

void take_options(const BenchRequest& request, BenchInputs& inputs) {
  if (!request.mask.empty()) inputs.options.mask = parse_mask(request.mask);
  if (!request.bias.empty()) inputs.options.bias = parse_bias(request.bias);
  inputs.options.scale = request.scale;
  inputs.options.softcap = request.softcap;
}

BenchInputs own_inputs(const BenchRequest& request) {
  BenchInputs inputs;
  if (request.x.empty()) {
    take_matrices(request, inputs);
  } else {
    take_projections(request, inputs);
  }
  const bool is_chapter = request.x.empty() && request.q.empty() && request.k.empty();
  const std::string tokens = request.tokens.empty() && is_chapter ? std::string(kTokens) : request.tokens;
  const std::int64_t queries = request.x.empty() ? inputs.q.dim(2) : inputs.x.dim(0);
  std::int64_t keys = request.x.empty() ? inputs.k.dim(2) : queries;
  if (!inputs.source.empty()) keys = inputs.source.dim(0);
  inputs.queries = words_for("tokens", tokens, queries);
  const bool is_self = request.context.empty() && queries == keys;
  inputs.keys = is_self ? inputs.queries : words_for("context", request.context, keys);
  take_options(request, inputs);
  return inputs;
}

/// "k:2,5:0.7"
void set_number(const std::string& change, BenchInputs& inputs) {
  const auto said = [&](const std::string& expected) { refuse("set", expected, "\"" + change + "\""); };
  const auto written = core::number_at_place_from(change);
  const std::string name(written ? written->place.name : "");
  Tensor* const matrix = name == "q" ? &inputs.q : name == "k" ? &inputs.k : name == "v" ? &inputs.v : nullptr;
  if (matrix == nullptr) said("q, k or v:ROW,COLUMN:NUMBER, such as k:2,5:0.7");
  const std::int64_t row = written->place.row;
  const std::int64_t column = written->place.column;
  if (row >= matrix->dim(2) || column >= matrix->dim(3)) {
    said(fmt::format("a number of {} up to {}:{},{}", name, name, matrix->dim(2) - 1, matrix->dim(3) - 1));
  }
  matrix->set({0, inputs.head / (inputs.q.dim(1) / matrix->dim(1)), row, column}, written->to);
}

std::shared_ptr<const api_detail::ModelRun> run_of(StudioState& state, const BenchRequest& request) {
  return state.run({.model = request.model, .text = request.text, .second = request.second, .example = request.example},
                   kMostOnBench);
}

BenchInputs model_inputs(StudioState& state, const BenchRequest& request) {
  const auto run = run_of(state, request);
  const api_detail::RunSite& site = run->site(request.site);
  const Trace::Attention& call = run->call(site, request.layer);
  BenchInputs inputs;
  inputs.queries = site.queries;
  inputs.keys = site.keys;
  inputs.q = Tensor(call.q.value(), DType::f64);
  inputs.k = Tensor(call.k.value(), DType::f64);
  inputs.v = Tensor(call.v.value(), DType::f64);
  inputs.options = call.options;
  inputs.head = request.head;
  if (request.head >= inputs.q.dim(1)) return inputs;  // which the bench refuses
  for (const std::string& change : api_detail::parts_of(request.set, ';')) set_number(change, inputs);
  return inputs;
}

BenchInputs drawn_inputs(const BenchRequest& request) {
  ExplainOptions options;
  options.text = request.tokens.empty() ? std::string(kTokens) : request.tokens;
  if (!request.context.empty()) options.context = request.context;
  options.seed = *request.seed;
  options.heads = request.heads;
  options.d_model = request.d_model;
  options.kv_heads = request.kv_heads;
  options.d_k = request.d_k;
  options.d_v = request.d_v;
  options.position = positions_named(request.positions);
  if (!request.mask.empty()) options.mask = parse_mask(request.mask);
  if (!request.bias.empty()) options.bias = parse_bias(request.bias);
  options.scale = request.scale;
  options.softcap = request.softcap;
  return drawn_bench(options, request.head);
}

Tensor upstream(const BenchRequest& request, std::int64_t rows, std::int64_t columns) {
  if (!request.d_out.empty()) return matrix_in("d_out", request.d_out);
  Tensor d_out(DType::f64, {rows, columns});
  std::ranges::fill(d_out.values<double>(), 0.0);
  const std::vector<std::int64_t> place = api_detail::whole_numbers("move", request.move);
  if (place.size() != 2 || place[0] >= rows || place[1] >= columns) {
    refuse("move", fmt::format("ROW,COLUMN of the output: up to {},{}", rows - 1, columns - 1), request.move);
  }
  d_out.values<double>()[static_cast<std::size_t>(place[0] * columns + place[1])] = 1;
  return d_out;
}

// Every matrix is laid out whole, and some dozen of them are.
void require_room(const BenchInputs& inputs) {
  const std::size_t rows = std::max(inputs.queries.size(), inputs.keys.size());
  if (rows <= static_cast<std::size_t>(kMostOnBench)) return;
  refuse(inputs.x.empty() ? "q" : "x", fmt::format("at most {} rows", kMostOnBench), std::to_string(rows));
}

Bench laid_out(StudioState& state, const BenchRequest& request) {
  BenchInputs inputs = !request.model.empty() ? model_inputs(state, request)
                       : request.seed         ? drawn_inputs(request)
                                              : own_inputs(request);
  const std::int64_t rows = inputs.q.empty() ? inputs.x.dim(0) : inputs.q.dim(2);
  inputs.query = request.query.value_or(std::min<std::int64_t>(1, rows - 1));
  require_room(inputs);
  if (request.d_out.empty() && request.move.empty()) return Bench(std::move(inputs));
  const std::int64_t columns = inputs.v.empty() ? inputs.w_v.dim(1) : inputs.v.dim(3);
  inputs.d_out = upstream(request, rows, columns);
  return Bench(std::move(inputs));
}

BenchNudge nudge_of(const Bench& bench, const std::string& text) {
  const auto written = core::number_at_place_from(text);
  if (!written) refuse("nudge", "NAME:STEP, such as q:1,1:0.01", "\"" + text + "\"");
  return bench_nudge(bench, std::string_view(text).substr(0, text.rfind(':')), written->to);
}

bool is_the_chapter(const BenchRequest& request) {
  return request.model.empty() && !request.seed && request.x.empty() && (request.q.empty() || request.q == kChapter) &&
         (request.k.empty() || request.k == kChapter) && (request.v.empty() || request.v == kValues) &&
         request.mask.empty() && request.bias.empty() && !request.scale && !request.softcap;
}

std::vector<std::string> remarks_on(const BenchRequest& request, const Bench& bench) {
  std::vector<std::string> remarks;
  if (is_the_chapter(request) && bench.inputs().query == 2) {
    remarks.push_back(fmt::format(
        "The chapter prints (0.999, 1.247) for this output: it sums rounded weights. Unrounded it is ({:.3f}, {:.3f}).",
        bench.matrix("out").values.at({2, 0}), bench.matrix("out").values.at({2, 1})));
  }
  return remarks;
}

std::string title_of(const BenchRequest& request) {
  if (request.seed) {
    return fmt::format("“{}”, head {} of {}", request.tokens.empty() ? std::string(kTokens) : request.tokens,
                       request.head, request.heads);
  }
  if (request.model.empty()) return is_the_chapter(request) ? "Three tokens, d_k = 2" : "Your own numbers";
  return fmt::format("{}, layer {}, head {}", request.model, request.layer, request.head);
}

Tensor times_uniform_of(const BenchMatrix& weights) {
  return api_detail::times_uniform({.weights = Tensor(weights.values.view(), DType::f32), .hidden = weights.hidden});
}

BenchReply answer_bench(StudioState& state, const BenchRequest& request, const StudioWatch& /*quick*/) {
  const Bench bench = laid_out(state, request);
  BenchReply reply{.title = title_of(request),
                   .queries = bench.inputs().queries,
                   .keys = bench.inputs().keys,
                   .query = bench.inputs().query,
                   .d_k = bench.inputs().q.dim(3),
                   .d_v = bench.inputs().v.dim(3),
                   .scale = bench.scale(),
                   .matrices = bench.matrices(),
                   .times_uniform = times_uniform_of(bench.matrix("weights")),
                   .steps = bench.steps(),
                   .back = bench.back_steps(),
                   .remarks = remarks_on(request, bench),
                   .wrong = std::nullopt,
                   .nudge = std::nullopt,
                   .cautions = {}};
  if (!request.model.empty()) {
    const auto run = run_of(state, request);
    reply.cautions = api_detail::cautions_of(run->trained(), run->example());
  }
  if (!request.wrong.empty()) reply.wrong = bench_mistake(bench, request.wrong, request.wrong_d);
  if (!request.nudge.empty()) reply.nudge = nudge_of(bench, request.nudge);
  return reply;
}

BenchNumber answer_number(StudioState& state, const NumberRequest& request, const StudioWatch& /*quick*/) {
  const auto bench = state.bench(request, [&] { return laid_out(state, request); });
  return bench->number(request.of);
}

}  // namespace

Bench api_detail::bench_of(StudioState& state, const BenchRequest& request) { return laid_out(state, request); }

const Fields<BenchRequest>& bench_fields() {
  static const Fields<BenchRequest> kFields = [] {
    Fields<BenchRequest> fields;
    add_matrices(fields);
    add_scores(fields);
    add_gradients(fields);
    add_model(fields);
    add_drawn(fields);
    say_company(fields);
    return fields;
  }();
  return kFields;
}

const Fields<NumberRequest>& number_fields() {
  static const Fields<NumberRequest> kFields = [] {
    constexpr std::string_view kBeside[] = {"nudge", "wrong", "wrong_d"};  // a number is the same whatever they are
    Fields<NumberRequest> fields;
    fields.add(bench_fields());
    fields.remove(kBeside);
    fields.add(&NumberRequest::of, {.name = "of",
                                    .form = "NAME",
                                    .meaning = "Which number: weights:1,2",
                                    .required = true,
                                    .example = "weights:1,2"});
    return fields;
  }();
  return kFields;
}

api_detail::Answerer api_detail::bench_question() {
  return answerer<BenchRequest, BenchReply>(
      "bench", "Every matrix of one head, forward and backward, with steps in sentences.", bench_fields(), answer_bench,
      {"{}", R"({"query": 2})", R"({"move": "1,0", "nudge": "q:1,1:0.01"})",
       R"({"mask": "causal", "wrong": "mask-after"})",
       R"({"model": "induction", "text": "abcxyzab", "layer": 1, "query": 7})"});
}

api_detail::Answerer api_detail::number_question() {
  return answerer<NumberRequest, BenchNumber>("number", "One number of the bench, written out.", number_fields(),
                                              answer_number, {R"({"of": "weights:1,2"})", R"({"of": "out:1,0"})"});
}

}  // namespace qkv
