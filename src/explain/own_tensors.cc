// The pass that starts at a reader's own Q, K and V.
#include <fmt/format.h>

#include "core/counted.h"
#include "explain/drawn_model.h"
#include "explain/room.h"
#include "explain/target.h"

namespace qkv::explain_detail {
namespace {

// [T, D], [H, T, D] or [B, H, T, D] -> [1, H, T, D] in f64
Tensor one_batch_entry(std::string_view name, const Tensor& tensor) {
  if (tensor.empty() || !is_floating(tensor.dtype()) || tensor.rank() < 2 || tensor.rank() > 4) {
    throw InvalidArgument(
        "explain", name, "a floating tensor [T, D], [H, T, D] or [B, H, T, D]",
        tensor.empty() ? "nothing" : fmt::format("{} {}", name_of(tensor.dtype()), tensor.shape().to_string()));
  }
  if (tensor.size() == 0) {
    throw InvalidArgument("explain", name, "at least one number", tensor.shape().to_string());
  }
  TensorView view = tensor;
  while (view.rank() < 4) view = view.unsqueeze(0);
  return {view.slice(0, 0, 1), DType::f64};
}

void require_lengths(const Run& run) {
  for (const std::int64_t length : {run.tq(), run.tk()}) {
    if (length <= kExplainTokens) continue;
    throw InvalidArgument(
        "explain", "own",
        fmt::format("at most {} rows, because every step's T × T matrix is kept to be shown", kExplainTokens),
        fmt::format("{} rows", length));
  }
}

std::vector<std::string> row_names(std::string_view letter, std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", letter, i));
  return names;
}

// What names a side's rows: names as they are, or a text of as many words.
struct SideNames {
  const std::vector<std::string>& given;
  const std::string& text;
  std::string_view argument;
  std::string_view letter;
  std::string_view tensors;  // those whose rows are named
};

std::vector<std::string> names_from(const SideNames& names, std::int64_t count) {
  const auto& [given, text, argument, letter, tensors] = names;
  if (given.empty() && text.empty()) return row_names(letter, count);
  std::vector<std::string> words = given.empty() ? split_words(argument, text) : given;
  if (static_cast<std::int64_t>(words.size()) == count) return words;
  using core::counted;
  throw InvalidArgument("explain", argument,
                        fmt::format("{} to name the {} of {}", counted(count, "word"), counted(count, "row"), tensors),
                        counted(words.size(), "word"));
}

}  // namespace

Run run_own_tensors(const ExplainOptions& options) {
  if (options.surroundings != Surroundings::attention_only) {
    throw InvalidArgument("explain", "block", "none, because tensors of one's own have no block around them", "one");
  }
  Run run;
  run.q = one_batch_entry("q", options.own->q);
  run.k = one_batch_entry("k", options.own->k);
  run.v = one_batch_entry("v", options.own->v);
  run.heads = run.q.dim(1);
  run.kv_heads = run.k.dim(1);
  run.d_k = run.q.dim(3);
  run.d_v = run.v.dim(3);
  require_lengths(run);
  require_few_weights(run.heads, run.tq(), run.tk());
  const OwnTensors& own = *options.own;
  const bool is_self = run.tq() == run.tk() && !options.context && own.keys.empty();
  run.queries.tokens =
      names_from({own.queries, options.text, "text", is_self ? "t" : "q", is_self ? "q and of k" : "q"}, run.tq());
  run.keys.tokens = is_self ? run.queries.tokens
                            : names_from({own.keys, options.context.value_or(""), "context", "k", "k"}, run.tk());
  run.attention.scale = options.scale;
  run.attention.softcap = options.softcap;
  run.attention.dropout = options.dropout;
  run.attention.mask = options.mask;
  run.attention.bias = options.position == Positions::alibi ? options.bias + alibi() : options.bias;
  run.attention.target = kTarget;
  run.out = attention(run.q, run.k, run.v, run.attention).out;
  run.concat = pack_heads(run.out);
  return run;
}

}  // namespace qkv::explain_detail
