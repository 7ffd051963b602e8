#include <utility>

#include "api/fields/shared_fields.h"
#include "api/models/models.h"
#include "api/models/shown.h"
#include "qkv/api/probe.h"

namespace qkv {
namespace {

constexpr const char* kWhat = "What to show";

using Request = ProbeRequest;

void add_inputs(Fields<Request>& fields) {
  const std::string inputs = fields.infos().front().group;
  fields.add(&Request::lse, {.name = "lse", .form = "FILE", .meaning = "What qkv attend --lse wrote", .group = inputs})
      .add(&Request::random,
           {.name = "random",
            .form = "B,Hq,Hk,Tq,Tk,D",
            .meaning = "Instead of files: normal numbers for `q`, `k`, `v` and `d_out`, from the `seed`",
            .group = inputs})
      .add(&Request::planted, {.name = "planted",
                               .form = "T",
                               .meaning = "Or a text of T made-up tokens with needles in it, drawn by `seed`",
                               .group = inputs,
                               .least = 1024,
                               .most = 1048576});
  fields.give_otherwise({{"lse", "computed"}});
  fields.tell_arguments({{"random", {"q", "k"}}});
  fields.give_examples({{"lse", "[1,2]"}, {"random", "1,2,1,8,8,4"}});
}

void add_model(Fields<Request>& fields) {
  const char* const group = "Instead of inputs, a model that reads a text: its own q, k, v and options";
  const auto add = [&](auto place, const char* name) { fields.add(place, api_detail::shared_field(name, group)); };
  add(&Request::model, "model");
  fields.add(&Request::dtype, api_detail::numbers_field(group));
  add(&Request::text, "text");
  add(&Request::file, "file");
  fields.info("file").former = {"text_file"};
  api_detail::add_shown(fields, group);
  add(&Request::example, "example");
  add(&Request::layer, "layer");
  add(&Request::site, "site");
  for (const char* const of_model : {"dtype", "text", "file", "picture", "sound", "chat", "example", "layer", "site"}) {
    fields.info(of_model).needs = {"model"};
  }
  fields.tell_arguments({{"text", {"ids"}}, {"file", {"text", "ids"}}, {"example", {"ids"}}});
}

void add_places(Fields<Request>& fields) {
  fields.add(&Request::batch, {.name = "batch", .form = "B", .meaning = "Batch entry", .group = kWhat})
      .add(&Request::head, {.name = "head", .form = "H|H,…|all", .meaning = "Query heads", .group = kWhat})
      .add(&Request::map, {.name = "map",
                           .form = "N|ROWSxCOLUMNS",
                           .meaning = "The matrix of weights, or of |dP| or |dS|, in N x N cells or fewer",
                           .group = kWhat})
      .add(&Request::area, {.name = "area",
                            .form = "I0:I1,J0:J1",
                            .meaning = "The rectangle that the map is of",
                            .group = kWhat,
                            .needs = {"map"}})
      .add(&Request::reduce, {.name = "reduce",
                              .form = "HOW",
                              .meaning = "What a cell shows: mean or max",
                              .group = kWhat,
                              .words = {"mean", "max"},
                              .needs = {"map"}})
      .add(&Request::average, {.name = "average",
                               .form = "",
                               .meaning = "One map, of the mean of these heads",
                               .group = kWhat,
                               .needs = {"map"}})
      .add(&Request::row, {.name = "row", .form = "I", .meaning = "One query's row", .group = kWhat})
      .add(&Request::tile,
           {.name = "tile", .form = "I0:I1,J0:J1", .meaning = "A rectangle of the matrix", .group = kWhat});
  fields.give_otherwise({{"head", "0; all where they are averaged"}, {"area", "the whole matrix"}});
  fields.give_bounds({{"batch", 0, kAnyCount}, {"row", 0, kAnyCount}});
  fields.give_examples({{"head", "1"}, {"map", "4"}, {"area", "0:4,0:4"}, {"tile", "0:2,0:2"}});
}

void add_numbers(Fields<Request>& fields) {
  fields
      .add(&Request::top_k,
           {.name = "top_k", .form = "N", .meaning = "Each query's N keys of largest weight", .group = kWhat})
      .add(&Request::key_totals,
           {.name = "key_totals", .form = "", .meaning = "The weight on each key, summed over queries", .group = kWhat})
      .add(&Request::stats, {.name = "stats",
                             .form = "",
                             .meaning = "Entropy, distance and more of each row, and their means",
                             .group = kWhat})
      .add(&Request::stage, stage_field(kWhat));
  FieldInfo& stage = fields.info("stage");
  stage.meaning =
      "Which matrix `row` and `tile` show; dp and ds, the loss's gradients with respect to the weights and the scores, "
      "`map` shows, too";
  stage.words.insert(stage.words.end(), {"dp", "ds"});
  fields.give_bounds({{"top_k", 1, kAnyCount}});
  stage.needs_one = {"row", "tile", "map"};
  fields.give_examples({{"stage", "raw"}});
}

// q and k come from files, are drawn, or are a model's own, which has all else but `threads` and `target`, too.
void declare_company(Fields<Request>& fields) {
  const auto on = [&](const char* name) -> FieldInfo& { return fields.info(name); };
  on("q").needs = {"k"};
  on("k").needs = {"q"};
  on("q").one_of = {"random", "planted", "model"};
  fields.exclude({"k", "v", "past_k", "past_v", "heads", "kv_heads", "lse"}, {"random", "planted"},
                 "q and k are drawn");
  for (const FieldInfo& field : problem_fields().infos()) {
    const bool is_run = field.name == "threads" || field.name == "target";
    if (!is_run && field.name != "q") fields.exclude({field.name}, {"model"}, "a model has its own");
  }
  fields.exclude({"lse"}, {"model"}, "a model has its own");
  on("past_k").beside = {{{"v"}, {"past_v"}}};
  for (const char* const of_gradients : {"v", "d_out"}) on(of_gradients).needs_one = {"stage=dp", "stage=ds"};
  api_detail::say_company_of_shown(fields, {"file"});
  on("chat").needs_one.emplace_back("file");
  fields.exclude({"file"}, {"text", "example", "picture", "sound"}, "a model reads one of them");
  fields.exclude({"user"}, {"file"}, "the text is the message");
  on("seed").needs = {};
  on("seed").needs_one = {"random", "planted", "dropout", "d_out=random"};
}

}  // namespace

const Fields<ProbeRequest>& probe_fields() {
  static const Fields<ProbeRequest> kFields = [] {
    Fields<ProbeRequest> fields;
    fields.add(problem_fields());
    add_inputs(fields);
    add_model(fields);
    add_places(fields);
    add_numbers(fields);
    declare_company(fields);
    fields.info("seed").meaning = "Of what is drawn, and of the dropout";
    fields.give_otherwise({{"seed", "0; 1 of a planted text"}});
    fields.info("d_out").form = "FILE|random";
    return fields;
  }();
  return kFields;
}

}  // namespace qkv
