#include "problem_options.h"

#include <CLI/CLI.hpp>
#include <string>

#include "common_options.h"
#include "misuse.h"

namespace qkv::cli {

Stage stage_of(const std::string& name, const std::string& more) {
  std::string names;
  for (int i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (name_of(stage) == name) return stage;
    names += (i > 0 ? ", " : "") + std::string(name_of(stage));
  }
  misuse("--stage", "one of " + names + more, "\"" + name + "\"");
}

void add_input_options(CLI::App& command, AttendFlags& flags) {
  command.add_option("--q", flags.q, "Queries")->type_name("FILE")->group(kInputGroup);
  command.add_option("--k", flags.k, "Keys")->type_name("FILE")->group(kInputGroup);
  command.add_option("--heads", flags.heads, "Heads packed into the last axis of q")
      ->type_name("N")
      ->group(kInputGroup);
  command.add_option("--kv-heads", flags.kv_heads, "Those of the keys and values [--heads]")
      ->type_name("N")
      ->group(kInputGroup);
  command.add_option("--past-k", flags.past_k, "Keys of earlier steps, put in front of --k")
      ->type_name("FILE")
      ->group(kInputGroup);
}

void add_mask_options(CLI::App& command, AttendFlags& flags) {
  const std::string group = "Who sees whom (what several of these hide is hidden)";
  command.add_option("--mask", flags.mask, "A mask, e.g. \"causal & window(512) | global(4)\"")
      ->type_name("EXPR")
      ->group(group);
  command.add_option("--mask-file", flags.mask_file, "b8 or u8 that broadcasts to [B, Hq, Tq, Tk]; nonzero is visible")
      ->type_name("FILE")
      ->group(group);
  command.add_flag("--causal", flags.causal, "No key after the query; the last query meets the last key")->group(group);
  command
      .add_option("--window", flags.window,
                  "Keys nearer than WIDTH, or up to LEFT before and RIGHT after the query; a side "
                  "left out (\"64,\") has no bound")
      ->type_name("WIDTH|LEFT,RIGHT")
      ->group(group);
  command.add_option("--kv-lengths", flags.kv_lengths, "Keys that count, of each batch entry: a file [B], or 3,5,…")
      ->type_name("FILE|N,…")
      ->group(group);
}

void add_run_options(CLI::App& command, AttendFlags& flags) {
  add_threads_option(command, flags.threads)->group(kRunGroup);
  add_target_option(command, flags.target)->group(kRunGroup);
}

void add_score_options(CLI::App& command, AttendFlags& flags) {
  const std::string group = "Scores, in the order in which they act";
  command.add_option("--scale", flags.scale, "Factor of q.k [1/sqrt(D)]")->type_name("X")->group(group);
  command.add_option("--softcap", flags.softcap, "c * tanh(x / c)")->type_name("C")->group(group);
  command.add_option("--bias", flags.bias, "A bias, e.g. \"alibi\"")->type_name("EXPR")->group(group);
  command
      .add_option("--bias-file", flags.bias_file,
                  "Numbers that broadcast to [B, Hq, Tq, Tk]; -inf forbids. Added after --bias: the last d_bias_N")
      ->type_name("FILE")
      ->group(group);
  auto* dropout = command.add_option("--dropout", flags.dropout, "Drop weights with probability P");
  dropout->type_name("P")->group(group);
  add_seed_option(command, flags.seed, "Of the dropout [0]")->group(group)->needs(dropout);
  command
      .add_option("--sinks", flags.sinks,
                  "A logit for each query head that takes weight and has no value: a file [Hq], or 0.5,-1,…")
      ->type_name("FILE|X,…")
      ->group(group);
}

}  // namespace qkv::cli
