// Direct contributions to a logit.
#include <fmt/format.h>

#include <algorithm>

#include "explain/numbers.h"
#include "explain/trained/path.h"
#include "insight/logit_parts.h"
#include "qkv/insight/lens.h"

namespace qkv::explain_detail {
namespace {

template <class Value>
void add_row(Table& table, const LogitParts& parts, const std::string& name, const Value& value) {
  std::vector<Cell> row = {word(name)};
  for (const LayerParts& layer : parts.layers) row.push_back(rounded(value(layer), 3));
  table.rows.push_back(std::move(row));
}

Table by_layer(const LogitParts& parts) {
  Table table{"", {"part"}, {}};
  for (std::size_t n = 0; n < parts.layers.size(); ++n) table.columns.push_back(fmt::format("layer {}", n));
  for (std::size_t h = 0; h < parts.layers.front().heads.size(); ++h) {
    add_row(table, parts, fmt::format("head {}", h), [h](const LayerParts& layer) { return layer.heads[h]; });
  }
  for (std::size_t h = 0; h < parts.layers.front().cross.size(); ++h) {
    add_row(table, parts, fmt::format("cross, head {}", h), [h](const LayerParts& layer) { return layer.cross[h]; });
  }
  if (std::ranges::any_of(parts.layers, [](const LayerParts& layer) { return layer.bias != 0; })) {
    add_row(table, parts, "bias of W_O", [](const LayerParts& layer) { return layer.bias; });
  }
  add_row(table, parts, "feed-forward", [](const LayerParts& layer) { return layer.feed_forward; });
  return table;
}

Table of_the_rest(const LogitParts& parts) {
  return {"",
          {"part", "logit"},
          {{word("embedding and position"), rounded(parts.embedding, 3)},
           {word("all layers"), rounded(parts.sum() - parts.embedding - parts.constant, 3)},
           {word("biases of the final norm and the output map"), rounded(parts.constant, 3)},
           {word("sum"), rounded(parts.sum(), 3)},
           {word("as the model computed it"), rounded(parts.logit, 3)}}};
}

}  // namespace

std::optional<Section> parts_step(const Ran& ran, const Answer& answer) {
  const Model& model = ran.trained.model();
  if (insight::why_no_parts(model) != nullptr) return std::nullopt;
  const LogitParts parts = insight::parts_in_pass(model, ran.trace, answer.row, answer.token);
  Section step;
  step.id = "parts";
  step.title = fmt::format("What adds up to the logit of “{}”", answer.text);
  step.text =
      "The residual stream is a sum, and with the final norm's factor held as it ran the logit is a sum, too: of each "
      "part, the product with the token's embedding. This is the direct share; what a part does through later layers "
      "is counted there.";
  step.tables = {by_layer(parts), of_the_rest(parts)};
  return step;
}

}  // namespace qkv::explain_detail
