// What heads do, as a table, CSV and pictures.
#pragma once

#include <string>
#include <vector>

#include "qkv/insight/heads.h"
#include "qkv/insight/syntax.h"
#include "qkv/picture/chart.h"
#include "qkv/picture/heatmap.h"

namespace qkv {

/// For people, in at most 80 columns but for names: what was read, and of each site how often each class is and two
/// lines a head.
/// `model` and `texts` say whose heads, and over which texts.
[[nodiscard]] std::string heads_table(const HeadAnalysis& analysis, const std::string& model, const std::string& texts);
/// A line for each head, after one of names; a field without a value is empty.
[[nodiscard]] std::string heads_csv(const HeadAnalysis& analysis);

/// Layers x heads of each measure: evenness, the shares of all patterns that some head has, induction on repeated
/// tokens, removal and gradient.
[[nodiscard]] Panel heads_grid(const SiteHeads& site);
/// How many heads of each layer are of each class.
[[nodiscard]] Panel classes_by_layer(const SiteHeads& site);
/// The distances between the heads of each layer.
[[nodiscard]] Panel head_distances(const SiteHeads& site);
/// The rollout of one text by the first, a middle and the last layer; `tokens` are its labels.
[[nodiscard]] Panel rollout_maps(const std::vector<Tensor>& rollout, const std::vector<std::string>& tokens);
/// The flow of one text; `tokens` are its labels.
[[nodiscard]] Panel flow_map(const Tensor& flow, const std::vector<std::string>& tokens);
/// Layers x heads of the accuracy on each relation and direction with at least `fewest` pairs; the best fixed offset
/// and its accuracy stand in the title.
[[nodiscard]] Panel relations_by_head(const SyntaxAnalysis& analysis, std::int64_t fewest);
/// Mean, lowest and highest entropy of the heads of each layer.
[[nodiscard]] Chart entropy_by_depth(const SiteHeads& site);

}  // namespace qkv
