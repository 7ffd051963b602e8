// A probe's reply as arrays and as JSON.
#include <utility>

#include "api/probe/statistics_columns.h"
#include "qkv/api/probe.h"

namespace qkv {
namespace {

using api_detail::statistics_columns;

void add_map(std::vector<NamedTensor>& arrays, const ProbeMap& map) {
  arrays.push_back({"map", map.cells});
  arrays.push_back({"map_visible", map.visible});
}

std::vector<NamedTensor> arrays_of(const ProbeHead& head) {
  std::vector<NamedTensor> arrays;
  if (head.map) add_map(arrays, *head.map);
  if (head.row) arrays.push_back({"row", *head.row});
  if (head.tile) arrays.push_back({"tile", *head.tile});
  if (head.top) {
    arrays.push_back({"top_keys", head.top->keys});
    arrays.push_back({"top_weights", head.top->weights});
  }
  if (head.key_totals) arrays.push_back({"key_totals", *head.key_totals});
  if (!head.statistics) return arrays;
  for (const auto& [name, column] : statistics_columns()) arrays.push_back({name, (*head.statistics).*column});
  return arrays;
}

// The same array of each head, one after the other.
Tensor stacked(const std::vector<std::vector<NamedTensor>>& heads, std::size_t array) {
  const Tensor& first = heads.front()[array].tensor;
  std::vector<double> values;
  for (const auto& head : heads) {
    const std::vector<double> part = head[array].tensor.to_vector();
    values.insert(values.end(), part.begin(), part.end());
  }
  return Tensor(values, first.shape().inserted(0, static_cast<std::int64_t>(heads.size()))).to(first.dtype());
}

}  // namespace

std::vector<NamedTensor> arrays_of(const ProbeReply& reply) {
  std::vector<std::vector<NamedTensor>> heads;
  heads.reserve(reply.heads.size());
  for (const ProbeHead& head : reply.heads) heads.push_back(arrays_of(head));
  std::vector<NamedTensor> arrays;
  if (reply.average) add_map(arrays, *reply.average);
  for (std::size_t n = 0; n < heads.front().size(); ++n) {
    NamedTensor& only = heads.front()[n];
    arrays.push_back({only.name, heads.size() == 1 ? std::move(only.tensor) : stacked(heads, n)});
  }
  return arrays;
}

ProbeFigures probe_figures(const ProbeInputs& inputs, const ProbeReply& reply) {
  const auto if_any = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  ProbeFigures figures;
  static_cast<MatrixExtents&>(figures) = matrix_extents(reply.shape);
  static_cast<AppliedOptions&>(figures) = applied_options(inputs.problem);
  figures.batch = reply.b;
  for (const ProbeHead& head : reply.heads) figures.heads.push_back(head.h);
  figures.model = if_any(inputs.model);
  figures.text = if_any(inputs.text);
  figures.queries = inputs.queries;
  figures.keys = inputs.keys;
  figures.sources = inputs.sources;
  figures.stage = reply.choice.stage.name();
  figures.cautions = inputs.cautions;
  if (const auto& area = reply.choice.area) {
    figures.area = {area->i_begin, area->i_end, area->j_begin, area->j_end};
  }
  for (const ProbeHead& head : reply.heads) {
    if (!head.statistics) continue;
    Named<double>& means = figures.means.emplace_back();
    for (const auto& [name, column] : statistics_columns()) {
      means.emplace_back(name, head.statistics->mean((*head.statistics).*column));
    }
  }
  for (auto& [name, tensor] : arrays_of(reply)) figures.arrays.emplace_back(name, tensor);
  return figures;
}

Members<ProbeFigures> describe(const ProbeFigures* /*type*/) {
  using F = ProbeFigures;
  return Members<F>("ProbeFigures")
      .add(members_of<MatrixExtents>())
      .add(&F::batch, "batch", "Which entry")
      .add(&F::heads, "heads", "Which heads")
      .add(&F::model, "model", "Of a model: which, what it read, and which attention")
      .add(&F::text, "text", "Of a text that is made up: which")
      .add(&F::queries, "queries", "Tokens at the queries, where they are known")
      .add(&F::keys, "keys", "Tokens at the keys, likewise")
      .add_if_there(&F::sources, "sources",
                    "Of each token of a conversation: template, or its message's role (user, assistant, …)")
      .add(members_of<AppliedOptions>())
      .add(&F::stage, "stage", "Which of the matrices")
      .add(&F::area, "area", "Of a map of a rectangle: first and last query and key, each last one beyond it")
      .add(&F::means, "means", "Of each head: the mean of each column of the statistics")
      .add(&F::arrays, "arrays",
           "map, map_visible, row, tile, top_keys, top_weights, key_totals and the statistics' "
           "columns, as asked for; of several heads the first axis counts them")
      .add_cautions();
}

ProbeFigures answer(const ProbeRequest& request) {
  const ProbeChoice choice = probe_choice(request);
  const ProbeInputs inputs = load_probe_inputs(request, choice);
  return probe_figures(inputs, probe(request, inputs));
}

}  // namespace qkv
