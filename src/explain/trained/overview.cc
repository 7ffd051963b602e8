// Every head in a line: which pattern it shows in this text, and how spread its weights are.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "explain/numbers.h"
#include "explain/trained/model_run.h"
#include "explain/words.h"
#include "qkv/insight/heads.h"

namespace qkv::explain_detail {
namespace {

// The tokens of a site as numbers: equal ones for equal tokens.
PatternTokens tokens_of(const SiteWeights& site) {
  if (site.key_columns > 0) return {.queries = {}, .keys = {}};  // patches
  PatternTokens tokens{.queries = {}, .keys = {}, .roles = site.roles, .is_self = site.queries == site.keys};
  std::map<std::string, std::int64_t> numbers;
  const auto number_of = [&](const std::string& token) {
    return numbers.try_emplace(token, static_cast<std::int64_t>(numbers.size())).first->second;
  };
  std::ranges::transform(site.queries, std::back_inserter(tokens.queries), number_of);
  std::ranges::transform(site.keys, std::back_inserter(tokens.keys), number_of);
  return tokens;
}

struct Shown {
  std::string name;
  double weight = 0;
};

// As analyze_heads() has it of many texts. [1, Tq, Tk]
HeadClass class_in(const SiteWeights& site, const PatternTokens& tokens, const TensorView& head) {
  LayerHeads sums(1);
  sums.add(head, tokens, site.hidden.empty() ? TensorView() : site.hidden.view());
  return class_of(sums.statistics().front());
}

Shown pattern_of(const SiteWeights& site, const PatternTokens& tokens, std::size_t layer, std::size_t head) {
  const auto at = static_cast<std::int64_t>(head);
  const HeadClass found = class_in(site, tokens, site.weights[layer].view().slice(0, at, at + 1));
  const bool is_pattern = found.word != "broad" && found.word != "mixed" && found.word != "-";
  Shown best = is_pattern ? Shown{found.word, found.weight} : Shown{};
  for (const SitePattern& relation : site.relations) {  // the task's own word for it goes first
    const double weight = relation.layers[layer][head];
    if (weight >= kShowsPattern && weight + 0.01 >= best.weight) best = {relation.name, weight};
  }
  return best.name.empty() && found.word == "broad" ? Shown{found.word, found.weight} : best;
}

Shown pattern_in(const HeadInLongText& head) {
  const bool is_none = head.shown.word == "mixed" || head.shown.word == "-";
  return is_none ? Shown{} : Shown{head.shown.word, head.shown.weight};
}

void add_head(Section& step, Table& table, const SiteWeights& site, const PatternTokens& tokens, std::size_t layer,
              std::size_t head) {
  const TensorView matrix = site.weights[layer].view().select(0, static_cast<std::int64_t>(head));
  const HeadInLongText* const read = site.long_text ? &site.long_text->heads[layer][head] : nullptr;
  const Shown shown_pattern = read != nullptr ? pattern_in(*read) : pattern_of(site, tokens, layer, head);
  const Spread spread = read != nullptr ? read->spread : mean_spread(matrix);
  const std::string name = fmt::format("{}.{}", layer, head);
  table.rows.push_back({word(name), word(shown_pattern.name.empty() ? "–" : shown_pattern.name),
                        shown_pattern.name.empty() ? word("") : rounded(shown_pattern.weight, 2),
                        rounded(spread.effective_keys, 1), rounded(spread.largest, 2)});
  step.thumbnails.push_back(
      {.title = fmt::format("{} {}", capital(site.name), name),
       .label = shown_pattern.name.empty() ? "" : fmt::format("{} {:.2f}", shown_pattern.name, shown_pattern.weight),
       .target = head_id(site, layer, head),
       .weights = matrix_in(site, layer, static_cast<std::int64_t>(head))});
}

}  // namespace

Section overview_step(const ModelRun& model_run) {
  Section step;
  step.id = "overview";
  step.is_detail = true;
  step.title = "All heads at a glance";
  step.text =
      "Pattern: that of the task, or the class that `qkv analyze` gives a head, from this text alone; a number says "
      "the "
      "mean weight on its keys. None is named below a mean of 0.5, or of twice what an even head would have. A broad "
      "head spreads its weights nearly evenly; its number is the entropy, as a share of the largest possible. Keys in "
      "effect: exp(entropy) of a row. This and the largest weight are means over the rows.";
  const bool has_whole = model_run.sites.back().name == "whole text";
  for (const SiteWeights& site : model_run.sites) {
    if (has_whole && &site != &model_run.sites.back()) continue;  // parts of the whole text's heads
    if (site.long_text && site.long_text->step > 1) {
      step.notes.push_back(fmt::format("Statistics of this long text use one query in {}; the maps use all of them.",
                                       site.long_text->step));
    }
    const PatternTokens tokens = tokens_of(site);
    Table table{capital(site.name), {"head", "pattern", "weight", "keys in effect", "largest weight"}, {}};
    for (std::size_t layer = 0; layer < site.weights.size(); ++layer) {
      const auto heads = static_cast<std::size_t>(site.weights[layer].dim(0));
      for (std::size_t head = 0; head < heads; ++head) add_head(step, table, site, tokens, layer, head);
    }
    step.tables.push_back(std::move(table));
  }
  return step;
}

}  // namespace qkv::explain_detail
