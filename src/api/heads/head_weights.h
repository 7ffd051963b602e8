// The weights of one head as a page shows them, and their sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/heads/model_run.h"
#include "qkv/tensor.h"

namespace qkv::api_detail {

/// "word", "punctuation" or "separator" of each key.
[[nodiscard]] std::vector<std::string> roles_of_keys(const ModelRun& run, const RunSite& site);

struct HeadWeights {
  Tensor weights;                               // f32 [Tq, Tk]
  std::optional<Tensor> hidden = std::nullopt;  // b8 [Tq, Tk]
  std::string hidden_special = {};              // a sentence; empty unless special tokens were asked to be hidden
};

/// Of one head of weights [H, Tq, Tk]; `hidden`, b8 [Tq, Tk], may be empty.
[[nodiscard]] HeadWeights head_weights(const Tensor& all, std::int64_t head, const Tensor& hidden);

/// Hides the keys that are special tokens, and divides each row by the sum of what is left; a row of which nothing is
/// left is 0.
void hide_special(HeadWeights& shown, const std::vector<std::string>& roles, const std::vector<std::string>& keys);

[[nodiscard]] Tensor totals_of_keys(const Tensor& weights);     // f64 [Tk]
[[nodiscard]] Tensor totals_of_queries(const Tensor& weights);  // f64 [Tq]
[[nodiscard]] Tensor row_entropies(const Tensor& weights);      // f64 [Tq], in nats
/// f32 [Tq, Tk]: each weight over what it would be if the query read all its keys alike.
[[nodiscard]] Tensor times_uniform(const HeadWeights& shown);
/// i64 [Tq]: the keys that each query may read.
[[nodiscard]] Tensor keys_seen(const HeadWeights& shown);

}  // namespace qkv::api_detail
