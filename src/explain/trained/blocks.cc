#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/listed.h"
#include "explain/drawing.h"
#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/trained/path.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

struct Part {
  std::string_view leaf;
  std::string_view title;
};

// In the order of a pre-norm block; names are those of docs/trace.md.
constexpr std::array<Part, 18> kParts = {{{"resid_pre", "What reaches the block"},
                                          {"ln1", "Normed for the attention"},
                                          {"attn.concat", "The heads, side by side"},
                                          {"attn", "The attention's result, W_O applied"},
                                          {"attn_norm", "The attention's result, normed"},
                                          {"resid_mid", "Residual stream after attention"},
                                          {"ln_cross", "Normed for the cross-attention"},
                                          {"cross.concat", "The heads of the cross-attention, side by side"},
                                          {"cross", "The cross-attention's result, W_O applied"},
                                          {"cross_norm", "The cross-attention's result, normed"},
                                          {"resid_cross", "Residual stream after cross-attention"},
                                          {"ln2", "Normed for the feed-forward layer"},
                                          {"ffn.activated", "Feed-forward, after its activation"},
                                          {"ffn.shares", "What experts' results are multiplied by"},
                                          {"ffn", "The feed-forward layer's result"},
                                          {"ffn_norm", "The feed-forward layer's result, normed"},
                                          {"resid_ffn", "Residual stream before the last norm"},
                                          {"resid_post", "Residual stream after feed-forward"}}};
constexpr std::array<std::string_view, 10> kSums = {"resid_pre", "attn",       "attn_norm",   "resid_mid",
                                                    "cross",     "cross_norm", "resid_cross", "ffn",
                                                    "ffn_norm",  "resid_post"};
constexpr std::string_view kOutput = ".resid_post";

// The rows of what a stack computes: its tokens, its source, or both.
std::vector<std::string> rows_of(const std::vector<TracedSite>& sites, std::string_view block, std::int64_t count) {
  for (const TracedSite& site : sites) {
    const bool is_self = site.shown.name != name_of(AttentionSite::cross);
    if (!is_self || !block.starts_with(site.scope.stack + "blocks.")) continue;
    if (static_cast<std::int64_t>(site.shown.queries.size()) == count) return site.shown.queries;
  }
  return {};
}

Tensor rows_in(const Trace& trace, const std::string& name) { return {trace[name].view().select(0, 0), DType::f64}; }

// Where norms stand in a block, and what its sublayers' results are multiplied by.
struct BlockForm {
  NormOrder order = NormOrder::pre;
  std::optional<double> residual_scale = std::nullopt;
  bool first_norm = true;  // before the attention
};

Table lengths_table(const Trace& trace, const std::string& block, const BlockForm& form,
                    const std::vector<std::string>& rows) {
  Table table;
  table.title = form.residual_scale
                    ? fmt::format(
                          "How long the vectors are: what each sublayer gives, of which {} times is added, "
                          "beside what is there",
                          *form.residual_scale)
                    : "How long the vectors are: what each sublayer adds beside what is there";
  table.columns = {"token"};
  for (const std::string& row : rows) table.rows.push_back({word(row)});
  for (const std::string_view leaf : kSums) {
    const std::string name = fmt::format("{}.{}", block, leaf);
    if (!trace.contains(name)) continue;
    table.columns.emplace_back(leaf);
    const Tensor values = rows_in(trace, name);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      double squares = 0;
      for (const double x : values.view().select(0, static_cast<std::int64_t>(t)).to_vector()) squares += x * x;
      table.rows[t].push_back(rounded(std::sqrt(squares), 2));
    }
  }
  return table;
}

// The experts of each token, those with the largest shares first.
Table experts_table(const Tensor& shares, const std::vector<std::string>& rows) {
  Table table;
  table.title = "The experts that each token goes to, and what their results are multiplied by";
  table.columns = {"token", "experts"};
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const std::vector<double> all = shares.view().select(0, static_cast<std::int64_t>(t)).to_vector();
    std::vector<std::size_t> chosen;
    for (std::size_t e = 0; e < all.size(); ++e) {
      if (all[e] != 0) chosen.push_back(e);
    }
    std::ranges::sort(chosen,
                      [&](std::size_t a, std::size_t b) { return all[a] > all[b] || (all[a] == all[b] && a < b); });
    const auto share = [&](std::size_t e) { return fmt::format("{} ({:.2f})", e, all[e]); };
    table.rows.push_back({word(rows[t]), word(core::joined(chosen, share))});
  }
  return table;
}

// Sublayers stand side by side, and are scaled, in decoders alone; the rest is seen from the names.
BlockForm form_of(const Ran& ran, const std::string& block) {
  const auto has = [&](const char* leaf) { return ran.trace.contains(block + leaf); };
  BlockForm form;
  if (ran.trained.traits().goes_on) {
    const Decoder* decoder = ran.trained.model().parts().decoder;
    form = {decoder->options().order, decoder->options().choices.residual_scale};
  }
  if (is_parallel(form.order)) return form;
  form.first_norm = has(".ln1");
  if (has(".resid_ffn")) form.order = NormOrder::post;
  if (has(".attn_norm")) form.order = has(".ln1") ? NormOrder::both : NormOrder::after;
  return form;
}

// What a sublayer adds to what it reads.
Term sublayer(const BlockForm& form, const char* f, const Term& input) {
  const auto normed = [](const Term& term) { return call("LN", term); };
  const bool reads_plain = form.order == NormOrder::post || form.order == NormOrder::after;
  const Term result = call(f, reads_plain ? input : normed(input));
  const Term behind = has_norms_after(form.order) ? normed(result) : result;
  return form.residual_scale ? row({number(fmt::format("{}", *form.residual_scale)), op("·"), behind}) : behind;
}

std::vector<Formula> formulas_of(const BlockForm& form, bool has_cross) {
  const Term x = name("X");
  const Term mid = name("X′");
  const Term last = has_cross ? name("X″") : mid;
  const auto added = [&](const char* f, const Term& to, const Term& read) {
    const Term all = row({to, op("+"), sublayer(form, f, read)});
    return form.order == NormOrder::post ? call("LN", all) : all;
  };
  const bool reads_plain = form.order == NormOrder::pre && !form.first_norm;
  const Term attended = reads_plain ? row({x, op("+"), call("Attention", x)}) : added("Attention", x, x);
  std::vector<Formula> formulas = {row({mid, op("="), attended})};
  if (has_cross) formulas.push_back(row({last, op("="), added("Cross", mid, mid)}));
  formulas.push_back(row({name("Y"), op("="), added("FFN", last, is_parallel(form.order) ? x : last)}));
  return formulas;
}

Section block_section(const Ran& ran, const std::string& block, const std::vector<std::string>& rows) {
  const Trace& trace = ran.trace;
  Section step;
  step.id = block;
  std::ranges::replace(step.id, '.', '-');
  step.title = fmt::format("{}: attention, feed-forward and the residual stream", block);
  step.text =
      "The residual stream is a vector for each token. Each sublayer reads it and adds its result, so what a head has "
      "found reaches every later layer.";
  const bool has_cross = trace.contains(block + ".cross");
  const BlockForm form = form_of(ran, block);
  step.formulas = formulas_of(form, has_cross);
  step.shape = fmt::format("[T, d_model] = {}", rows_in(trace, block + std::string(kOutput)).shape().to_string());
  for (const auto& [leaf, title] : kParts) {
    const std::string name = fmt::format("{}.{}", block, leaf);
    if (!trace.contains(name)) continue;
    std::string id = name;
    std::ranges::replace(id, '.', '-');
    step.heatmaps.push_back(vectors(std::move(id), fmt::format("{}: {}", leaf, title), rows_in(trace, name), rows));
  }
  step.tables.push_back(lengths_table(trace, block, form, rows));
  if (const std::string shares = block + ".ffn.shares"; trace.contains(shares)) {
    step.tables.push_back(experts_table(rows_in(trace, shares), rows));
  }
  return step;
}

}  // namespace

std::vector<std::string> blocks_of(const Trace& trace) {
  std::vector<std::string> blocks;
  for (const std::string& name : trace.names()) {
    if (name.ends_with(kOutput)) blocks.push_back(name.substr(0, name.size() - kOutput.size()));
  }
  return blocks;
}

std::vector<Section> block_sections(const Ran& ran, const std::vector<TracedSite>& sites, const std::string& block) {
  std::vector<Section> sections;
  for (const std::string& each : blocks_of(ran.trace)) {
    if (!block.empty() && each != block) continue;
    const std::int64_t count = ran.trace[each + std::string(kOutput)].dim(1);
    sections.push_back(block_section(ran, each, rows_of(sites, each, count)));
  }
  return sections;
}

std::optional<Section> final_norm_step(const Ran& ran, const std::vector<TracedSite>& sites) {
  const std::string stack = stack_of(ran.trained);
  if (!ran.trace.contains(stack + "ln_final")) return std::nullopt;
  const Tensor values = rows_in(ran.trace, stack + "ln_final");
  Section step;
  step.id = "final-norm";
  step.is_detail = true;
  step.title = "The final norm";
  step.text = "The residual stream of the last block, normed: the vectors that the answer is read from.";
  step.shape = fmt::format("[T, d_model] = {}", values.shape().to_string());
  step.heatmaps = {vectors("ln_final", "ln_final", values, rows_of(sites, stack + "blocks.", values.dim(0)))};
  return step;
}

}  // namespace qkv::explain_detail
