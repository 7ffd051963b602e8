// What commands answer, apart from how they print it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "api/fields/refuse.h"
#include "api/mask/mask_map.h"
#include "api/questions/of_command.h"
#include "api/studio/question_weight.h"
#include "qkv/api/attend.h"
#include "qkv/api/change.h"
#include "qkv/api/check_models.h"
#include "qkv/api/contents.h"
#include "qkv/api/cost.h"
#include "qkv/api/explain.h"
#include "qkv/api/info.h"
#include "qkv/api/lens.h"
#include "qkv/api/mask.h"
#include "qkv/api/match.h"
#include "qkv/api/probe.h"
#include "qkv/api/roles.h"
#include "qkv/api/study.h"
#include "qkv/api/syntax.h"
#include "qkv/api/task.h"
#include "qkv/api/texts.h"
#include "qkv/api/tokens.h"

namespace qkv {
namespace {

// What a reader of a studio may ask a machine for that is not his.
constexpr std::uint64_t kMostMemory = std::uint64_t{4} << 30;
constexpr std::int64_t kMostThreads = 256;

void require_at_most(std::string_view field, std::uint64_t value, std::uint64_t most) {
  if (value > most) api_detail::refuse(field, fmt::format("at most {} in a studio", most), std::to_string(value));
}

void require_at_most(std::string_view field, std::int64_t value, std::int64_t most) {
  if (value > most) api_detail::refuse(field, fmt::format("at most {} in a studio", most), std::to_string(value));
}

void require_modest_attend(const AttendRequest& request, const Given& /*all*/) {
  require_at_most("memory_limit", request.memory_limit.value_or(0), kMostMemory);
  require_at_most("threads", request.threads.value_or(1), kMostThreads);
}

void require_modest_analyze(const AnalyzeRequest& request, const Given& /*all*/) {
  constexpr std::int64_t kMostTexts = 1000;
  require_at_most("count", request.count.value_or(1), kMostTexts);
  require_at_most("importance", request.importance, kMostTexts);
}

// A plan keeps its tiles.
void require_short_mask(const MaskRequest& request, const Given& /*all*/) { api_detail::require_drawable(request); }

void require_modest_probe(const ProbeRequest& request, const Given& /*all*/) {
  constexpr std::int64_t kMostNumbers = std::int64_t{1} << 28;
  require_at_most("threads", request.threads.value_or(1), kMostThreads);
  const std::optional<Tile> tile = probe_choice(request).tile;
  const std::int64_t queries = tile ? tile->i_end - tile->i_begin : 0;
  const std::int64_t keys = tile ? tile->j_end - tile->j_begin : 0;
  if (queries == 0 || keys <= kMostNumbers / queries) return;
  api_detail::refuse("tile", fmt::format("at most {} numbers in a studio", kMostNumbers), request.tile);
}

void require_modest_variants(const VariantsBench& request, const Given& /*all*/) {
  constexpr std::int64_t kLongest = 65536;
  constexpr std::int64_t kMostNumbers = std::int64_t{1} << 26;  // of q, of which there are some more
  require_at_most("memory_limit", request.setup.memory_limit, kMostMemory);
  require_at_most("threads", request.threads.value_or(1), kMostThreads);
  const VariantSetup setup = variant_setup(request);
  if (setup.to > kLongest) {
    api_detail::refuse("tokens", fmt::format("at most {} in a studio", kLongest), request.tokens);
  }
  require_at_most("heads", setup.heads, 1024);
  require_at_most("head_dim", setup.head_dim, kMostNumbers / setup.to / setup.heads);
}

void require_modest_positions(const PositionsBench& request, const Given& /*all*/) {
  constexpr std::int64_t kMostNumbers = std::int64_t{1} << 25;  // of a vector in each block for each token of a batch
  const PositionSetup setup = position_setup(request);
  require_at_most("steps", setup.steps, 10'000);
  require_at_most("examples", setup.examples, 4096);
  require_at_most("layers", setup.layers, 16);
  require_at_most("d_model", setup.d_model, 512);
  const std::int64_t longest = std::max(setup.train_length, setup.test_lengths.back());
  require_at_most("batch", setup.batch, kMostNumbers / (longest * setup.d_model * setup.layers));
}

}  // namespace

api_detail::Answerer api_detail::described_command(const char* command, const char* meaning,
                                                   std::span<const FieldInfo> fields,
                                                   std::vector<QuestionReply> replies,
                                                   std::vector<std::string> examples) {
  std::string name = command;
  std::ranges::replace(name, ' ', '_');
  return {.question = {.name = std::move(name),
                       .meaning = meaning,
                       .fields = fields,
                       .replies = std::move(replies),
                       .examples = std::move(examples),
                       .command = command},
          .answer = {}};
}

std::vector<api_detail::Answerer> api_detail::questions_of_attention() {
  return {
      of_command("attend", "Attention on files: reads q, k and v, writes the result or says what it is.",
                 attend_fields(), {printed<AttendFigures>("qkv attend --json")},
                 {R"({"q": "[[1,0],[0,1]]", "k": "[[1,0],[1,1]]", "v": "[[1],[2]]", "causal": true})",
                  R"({"q": "[[1,0],[0,1]]", "k": "[[1,0],[1,1]]", "v": "[[1],[2]]", "d_out": "[[1],[2]]"})",
                  R"({"q": "[[1,0]]", "k": "[[1,1]]", "v": "[[1]]", "results": ["lse", "scores"], "stage": "raw"})"},
                 require_modest_attend),
      of_command("check", "Compare two files, or two models on a text, and tell the worst place.", check_asked_fields(),
                 {printed<CheckFigures>("qkv check --json"), printed<CheckModelsFigures>("qkv check --file --json")},
                 {}),
      of_command("probe", "Any part of the T x T matrices, without storing them.", probe_fields(),
                 {printed<ProbeFigures>("qkv probe --json")},
                 {R"({"random": "1,2,1,16,16,8", "causal": true, "map": "4", "top_k": 2, "seed": 3})",
                  R"({"model": "gpt", "text": "The cat sat down", "layer": 1, "stats": true, "row": 3})"},
                 require_modest_probe),
      light(asked_by_pages(of_command(
          "cost", "What attention costs: FLOPs, bytes, parameters, with the arithmetic.", cost_fields(),
          {printed<CostReply>("qkv cost --json")},
          {R"({"preset": "gpt2", "tokens": 2048})", R"({"layers": 2, "d_model": 64, "heads": 4, "gated": true})",
           R"({"preset": "bert-base", "of": "flops"})"}))),
      light(asked_by_pages(of_command(
                "mask",
                "A mask's coverage, its cost in tiles and its picture; without a mask, the words of the language.",
                mask_fields(), {printed<MaskFigures>("qkv mask EXPR --json"), printed<MaskWordList>("qkv mask --json")},
                {R"j({"mask": "causal & window(512)", "map": true, "cells": 128})j",
                 R"({"mask": "causal", "tq": 8, "tk": 6, "map": true})",
                 R"j({"mask": "window(64) & causal", "tq": 256, "tk": 256})j", R"({"tq": 64})"},
                require_short_mask)),
            is_short_mask),
      light(asked_by_pages(of_command(
                "explain", "Attention on a text: every step with its numbers.", explain_fields(),
                {printed<ExplainReply>("qkv explain --json"),
                 printed<std::vector<WorkedExample>>("qkv explain --worked list --json")},
                {R"({"text": "The cat sat down", "causal": true, "query": "cat", "all": "full", "numbers": false})",
                 R"({"q": "[[1,0],[0,1]]", "k": "[[1,0],[1,1]]", "v": "[[2],[3]]"})",
                 R"({"model": "induction", "text": "abcxyzab", "numbers": false})",
                 R"({"text": "The cat sat down", "causal": true})", R"({"text": "The cat sat", "query": "cat"})"})),
            is_small_explanation),
  };
}

std::vector<api_detail::Answerer> api_detail::questions_of_heads() {
  return {
      asked_by_pages(
          of_command("analyze", "What the heads of a model do, over many texts.", analyze_fields(),
                     {printed<RolesReply>("qkv analyze --json"), printed<SyntaxReply>("qkv analyze --syntax --json")},
                     {R"({"model": "induction", "count": 4, "importance": 2})",
                      R"({"model": "english", "syntax": "english", "count": 4})"},
                     require_modest_analyze)),
      asked_by_pages(of_command(
          "change", "What a model says when something inside it is changed.", change_fields(),
          {printed<ChangeFigures>("qkv change --json"), printed<ChangeOfTexts>("qkv change --examples --json"),
           printed<SweepFigures>("qkv change --sweep --json")},
          {R"({"model": "induction", "text": "abcxyzab", "changes": ["remove 1.0"]})",
           R"({"model": "induction", "text": "abcxyzab", "untouched": true})",
           R"({"model": "induction", "text": "abcxyzab", "remove": ["1.0"]})",
           R"({"model": "induction", "examples": 4, "changes": ["pattern 1.0=uniform"], "freeze_norms": true})",
           R"({"model": "induction", "text": "abcxyzab", "sweep": "heads"})"})),
      of_command("lens", "What a model would say after each layer, and what makes its answer.", lens_fields(),
                 {printed<LensFigures>("qkv lens --json")},
                 {R"({"model": "induction", "text": "abcxyzab", "against": "x"})"}),
  };
}

std::vector<api_detail::Answerer> api_detail::questions_of_texts() {
  return {
      of_command("generate", "A model goes on with a text, or answers it.", generate_fields(),
                 {printed_in_lines<std::vector<GenerateFigures>>("qkv generate --json")},
                 {R"({"model": "gpt", "text": "The cat", "tokens": 6, "temperature": 0.5, "samples": 2, "seed": 7})"}),
      of_command("fill", "What the masked tokens of a text may be.", fill_fields(),
                 {printed<FillFigures>("qkv fill --json")},
                 {R"({"model": "english", "text": "the cats <be> small", "count": 3})"}),
      of_command("embed", "Texts as vectors.", embed_fields(),
                 {printed_in_lines<EmbedFigures>("qkv embed"),
                  printed_in_lines<std::vector<EmbedFigures>>("qkv embed --file")},
                 {R"({"model": "english", "text": "the cats are small", "normalise": true})"}),
      asked_by_pages(of_command("match", "Which caption belongs to which picture, by two towers.", match_fields(),
                                {printed<MatchFigures>("qkv match --json")}, {})),
      of_command(
          "tokens", "A text as tokens: pieces, numbers, bytes; a vocabulary.", tokens_fields(),
          {printed<TokensFigures>("qkv tokens TEXT --json"),
           printed_in_lines<std::vector<TokensFigures>>("qkv tokens --file --json"),
           printed<TokensText>("qkv tokens --ids --json"), printed<VocabularyFigures>("qkv tokens --list --json")},
          {R"({"tokenizer": "english", "text": "the cats are small"})", R"({"tokenizer": "english", "ids": "12 7"})",
           R"({"tokenizer": "english", "search": "king"})"}),
  };
}

std::vector<api_detail::Answerer> api_detail::questions_of_tasks() {
  return {
      of_command("task", "Built-in tasks, with the attention that a solved model must show.", task_fields(),
                 {printed<TaskFigures>("qkv task TASK --json"), printed<TaskList>("qkv task --json")},
                 {R"({"task": "copy", "examples": 2, "split": "train"})", "{}"}),
      of_command("bench variants",
                 "Time, memory and error of exact, standard, linear, windowed, strided and block-sparse attention.",
                 variants_bench_fields(), {printed<VariantsFigures>("qkv bench variants --json")},
                 {R"({"tokens": "32:64", "heads": 1, "head_dim": 8, "repeats": 1, "mask": ["causal"], "threads": 1})"},
                 require_modest_variants),
      of_command("bench positions",
                 "Train decoders on short examples and test them on longer ones, for each kind of positions.",
                 positions_bench_fields(), {printed<PositionsFigures>("qkv bench positions --json")},
                 {R"({"task": "copy", "kinds": ["rotary", "none"], "steps": 3, "batch": 4, "examples": 8})"},
                 require_modest_positions),
      of_command("info", "Version, build and CPU targets; or what is in a file of weights.", info_fields(),
                 {printed<InfoReply>("qkv info --json"), printed<Contents>("qkv info FILE --json")}, {"{}"}),
  };
}

}  // namespace qkv
