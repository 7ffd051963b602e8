#include "api/fields/shared_fields.h"
#include "qkv/api/problem.h"

namespace qkv {
namespace {

constexpr const char* kInputs =
    "Inputs as [T, D], [B, T, H*D] or [B, H, T, D]: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, or numbers as "
    "\"[[1, 0], [0, 1]]\"";
constexpr const char* kMask = "Who sees whom (what several of these hide is hidden)";
constexpr const char* kScores = "Scores, in the order in which they act";
constexpr const char* kBackward = "The backward pass (of a loss whose gradient with respect to the result is known)";
constexpr const char* kRun = "How it runs";

using api_detail::shared_field;
using Problem = ProblemRequest;

void add_inputs(Fields<Problem>& fields) {
  fields.add(&Problem::q, shared_field("q", kInputs))
      .add(&Problem::k, shared_field("k", kInputs))
      .add(&Problem::v, shared_field("v", kInputs))
      .add(&Problem::heads,
           {.name = "heads", .form = "N", .meaning = "Heads packed into the last axis of q", .group = kInputs})
      .add(&Problem::kv_heads, shared_field("kv_heads", kInputs))
      .add(&Problem::past_k,
           {.name = "past_k", .form = "FILE", .meaning = "Keys of earlier steps, put in front of k", .group = kInputs})
      .add(&Problem::past_v, {.name = "past_v",
                              .form = "FILE",
                              .meaning = "Values of earlier steps, put in front of v",
                              .group = kInputs,
                              .needs = {"v", "past_k"}});
  fields.give_bounds({{"heads", 1, kAnyCount}});
  fields.give_fallbacks({{"heads", "1"}});
  fields.give_examples({{"past_k", "[[0,1]]"}, {"past_v", "[[3]]"}});
}

void add_mask(Fields<Problem>& fields) {
  fields.add(&Problem::mask, shared_field("mask", kMask))
      .add(&Problem::mask_file, {.name = "mask_file",
                                 .form = "FILE",
                                 .meaning = "b8 or u8 that broadcasts to [B, Hq, Tq, Tk]; nonzero is visible",
                                 .group = kMask})
      .add(&Problem::causal, shared_field("causal", kMask))
      .add(&Problem::window,
           {.name = "window",
            .form = "WIDTH|LEFT,RIGHT",
            .meaning = "Keys nearer than WIDTH, or up to LEFT before and RIGHT after the query; a side "
                       "left out (\"64,\") has no bound",
            .group = kMask})
      .add(&Problem::kv_lengths, {.name = "kv_lengths",
                                  .form = "FILE|N,…",
                                  .meaning = "Keys that count, of each batch entry: a file [B], or 3,5,…",
                                  .group = kMask});
  fields.give_examples({{"mask_file", "[[1,0],[1,1]]"}, {"window", "1"}, {"kv_lengths", "1"}});
}

void add_scores(Fields<Problem>& fields) {
  fields.add(&Problem::scale, shared_field("scale", kScores))
      .add(&Problem::softcap, shared_field("softcap", kScores))
      .add(&Problem::bias, shared_field("bias", kScores))
      .add(&Problem::bias_file,
           {.name = "bias_file",
            .form = "FILE",
            .meaning = "Numbers that broadcast to [B, Hq, Tq, Tk]; -inf forbids. Added after bias: the last d_bias_N",
            .group = kScores})
      .add(&Problem::dropout, shared_field("dropout", kScores))
      .add(&Problem::seed,
           {.name = "seed", .form = "N", .meaning = "Seed of the dropout", .group = kScores, .needs = {"dropout"}})
      .add(&Problem::sinks,
           {.name = "sinks",
            .form = "FILE|X,…",
            .meaning = "A logit for each query head that takes weight and has no value: a file [Hq], or 0.5,-1,…",
            .group = kScores});
  fields.give_fallbacks({{"seed", "0"}});
  fields.give_examples({{"bias_file", "[[0,1],[1,0]]"}, {"sinks", "0.5"}});
}

void add_backward(Fields<Problem>& fields) {
  fields.add(&Problem::d_out, shared_field("d_out", kBackward))
      .add(&Problem::d_lse, {.name = "d_lse",
                             .form = "FILE",
                             .meaning = "The same with respect to lse",
                             .group = kBackward,
                             .needs = {"d_out"}});
  fields.give_otherwise({{"d_lse", "zeros"}});
  fields.give_examples({{"d_lse", "[1,2]"}});
}

void add_run(Fields<Problem>& fields) {
  fields.add(&Problem::threads, threads_field(kRun))
      .add(&Problem::target,
           {.name = "target", .form = "NAME", .meaning = "One that `qkv info` lists as ready", .group = kRun});
  fields.give_otherwise({{"target", "the chosen one"}});
  fields.give_examples({{"target", "reference"}});
}

}  // namespace

const Fields<ProblemRequest>& problem_fields() {
  static const Fields<ProblemRequest> kFields = [] {
    Fields<ProblemRequest> fields;
    add_inputs(fields);
    add_mask(fields);
    add_scores(fields);
    add_backward(fields);
    add_run(fields);
    return fields;
  }();
  return kFields;
}

}  // namespace qkv
