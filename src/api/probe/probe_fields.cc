#include "api/fields/bounds.h"
#include "qkv/api/probe.h"

namespace qkv {
namespace {

constexpr const char* kWhat = "What to show";

using Request = ProbeRequest;

void add_inputs(Fields<Request>& fields) {
  const std::string inputs = fields.infos().front().group;
  fields
      .add(&Request::lse,
           {.name = "lse", .form = "FILE", .meaning = "What qkv attend --lse wrote [computed]", .group = inputs})
      .add(&Request::random, {.name = "random",
                              .form = "B,Hq,Hk,Tq,Tk,D",
                              .meaning = "Instead of files: normal numbers for q, k, v and d_out, from the seed",
                              .group = inputs})
      .add(&Request::planted, {.name = "planted",
                               .form = "T",
                               .meaning = "Or a text of T made-up tokens with needles in it, from the seed [1]",
                               .group = inputs,
                               .least = 1024,
                               .most = 1048576});
  fields.give_examples({{"lse", "lse.npy"}, {"random", "1,2,1,8,8,4"}});
}

void add_model(Fields<Request>& fields) {
  const char* const group = "Instead of inputs, a model that reads a text: its own q, k, v and options";
  fields
      .add(&Request::model, {.name = "model",
                             .form = "MODEL",
                             .meaning = "A model of the box, a file of qkv's, or a folder of others",
                             .group = group})
      .add(&Request::text,
           {.name = "text", .form = "TEXT", .meaning = "What it reads", .group = group, .needs = {"model"}})
      .add(&Request::text_file,
           {.name = "text_file", .form = "FILE", .meaning = "The same from a file", .group = group, .needs = {"model"}})
      .add(&Request::picture, {.name = "picture",
                               .form = "FILE",
                               .meaning = "A PNG, for a model that reads images",
                               .group = group,
                               .needs = {"model"}})
      .add(&Request::example, {.name = "example",
                               .form = "N",
                               .meaning = "Or a held-out example of its task",
                               .group = group,
                               .least = 0,
                               .most = api_detail::kMostExamples,
                               .needs = {"model"}})
      .add(&Request::layer, {.name = "layer",
                             .form = "N",
                             .meaning = "Which layer",
                             .group = group,
                             .least = 0,
                             .most = api_detail::kMostLayers,
                             .needs = {"model"}})
      .add(&Request::site, {.name = "site",
                            .form = "SITE",
                            .meaning = "Which attention: tokens, source or cross [cross, else tokens]",
                            .group = group,
                            .needs = {"model"}});
  fields.tell_arguments({{"text_file", {"text"}}});
  fields.give_examples({{"model", "induction"},
                        {"text", "abcxyzab"},
                        {"text_file", "text.txt"},
                        {"picture", "shapes.png"},
                        {"site", "source"}});
}

void add_places(Fields<Request>& fields) {
  fields.add(&Request::batch, {.name = "batch", .form = "B", .meaning = "Batch entry", .group = kWhat})
      .add(&Request::head,
           {.name = "head", .form = "H|H,…|all", .meaning = "Query heads [0; of an average all]", .group = kWhat})
      .add(&Request::map, {.name = "map",
                           .form = "N|ROWSxCOLUMNS",
                           .meaning = "The matrix of weights, or of |dP| or |dS|, in N x N cells or fewer",
                           .group = kWhat})
      .add(&Request::area, {.name = "area",
                            .form = "I0:I1,J0:J1",
                            .meaning = "The rectangle that the map is of [the whole matrix]",
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
  fields.tell_bounds({{"batch", 0, kAnyCount}, {"row", 0, kAnyCount}});
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
      .add(
          &Request::stage,
          {.name = "stage",
           .form = "STAGE",
           .meaning = "Of row and tile: raw, scaled, softcapped, biased, masked, weights or dropped; of these and map: "
                      "dp or ds, the loss's gradient with respect to the weights or the scores",
           .group = kWhat});
  fields.tell_bounds({{"top_k", 1, kAnyCount}});
  fields.give_examples({{"stage", "raw"}});
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
    fields.info("seed").needs = {};
    fields.info("seed").meaning = "Of what is drawn, and of the dropout [0]";
    fields.info("d_out").form = "FILE|random";
    return fields;
  }();
  return kFields;
}

}  // namespace qkv
