// One token's attention written out: every product, every exponential, every share.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/exact_math.h"
#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

constexpr std::size_t kTermsShown = 8;  // columns of products; the rest is summed in one more
constexpr std::size_t kKeysShown = 32;  // rows; the rest is summed in one more
constexpr std::size_t kKeysInFormula = 8;

/// One head's numbers for one query.
struct HeadTrace {
  std::int64_t head = 0;
  std::string query;                   // names that tell two of the same word apart
  std::vector<std::string> names;      // of the keys
  std::vector<double> q;               // [d_k]
  std::vector<std::vector<double>> k;  // [Tk][d_k]
  std::vector<std::vector<double>> v;  // [Tk][d_v]
  std::vector<double> raw, scaled, softcapped, biased, masked, weights, dropped;
  std::vector<double> out;        // [d_v], the engine's
  std::vector<std::size_t> keys;  // which rows are shown
};

std::vector<double> row_of(const TensorView& tensor, std::int64_t head, std::int64_t row) {
  return tensor.select(0, 0).select(0, head).select(0, row).to_vector();
}

std::vector<std::size_t> keys_to_show(const std::vector<double>& weights) {
  std::vector<std::size_t> keys(weights.size());
  std::iota(keys.begin(), keys.end(), 0);
  if (keys.size() <= kKeysShown) return keys;
  // NaN has no order, which a sort must have; such weights stand last.
  const auto rank = [&](std::size_t key) {
    return std::isnan(weights[key]) ? -std::numeric_limits<double>::infinity() : weights[key];
  };
  std::ranges::partial_sort(keys, keys.begin() + kKeysShown, [&](std::size_t a, std::size_t b) {
    return rank(a) > rank(b) || (rank(a) == rank(b) && a < b);
  });
  keys.resize(kKeysShown);
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// The T x T matrices that a trace reads one row of, made once for all heads.
struct Stages {
  explicit Stages(const Run& run)
      : raw(run.stage(Stage::raw)),
        scaled(run.stage(Stage::scaled)),
        softcapped(run.stage(Stage::softcapped)),
        biased(run.stage(Stage::biased)),
        masked(run.stage(Stage::masked)),
        weights(run.stage(Stage::weights)),
        dropped(run.stage(run.last_stage())) {}
  Tensor raw, scaled, softcapped, biased, masked, weights, dropped;
};

HeadTrace trace_of(const Run& run, const Stages& stages, std::int64_t head, std::int64_t query) {
  HeadTrace trace;
  trace.query = distinct_names(run.queries.tokens, run.first_query)[static_cast<std::size_t>(query)];
  trace.names = distinct_names(run.keys.tokens);
  trace.head = head;
  const std::int64_t key_head = head / (run.heads / run.kv_heads);
  trace.q = row_of(run.q, head, query);
  trace.out = row_of(run.out, head, query);
  for (std::int64_t j = 0; j < run.tk(); ++j) {
    trace.k.push_back(row_of(run.k, key_head, j));
    trace.v.push_back(row_of(run.v, key_head, j));
  }
  trace.raw = row_of(stages.raw, head, query);
  trace.scaled = row_of(stages.scaled, head, query);
  trace.softcapped = row_of(stages.softcapped, head, query);
  trace.biased = row_of(stages.biased, head, query);
  trace.masked = row_of(stages.masked, head, query);
  trace.weights = row_of(stages.weights, head, query);
  trace.dropped = row_of(stages.dropped, head, query);
  trace.keys = keys_to_show(trace.weights);
  return trace;
}

// The first terms each in a cell of their own, the others as one sum.
void add_terms(std::vector<Cell>& row, const std::vector<double>& terms) {
  const std::size_t single = terms.size() <= kTermsShown ? terms.size() : kTermsShown - 1;
  for (std::size_t d = 0; d < single; ++d) row.push_back(rounded(terms[d]));
  if (single < terms.size()) {
    row.push_back(rounded(std::accumulate(terms.begin() + static_cast<std::ptrdiff_t>(single), terms.end(), 0.0)));
  }
}

void add_term_columns(std::vector<std::string>& columns, std::size_t count) {
  const std::size_t single = count <= kTermsShown ? count : kTermsShown - 1;
  for (std::size_t d = 0; d < single; ++d) columns.push_back(fmt::format("{}", d));
  if (single < count) columns.push_back(fmt::format("the other {}", count - single));
}

Table products_table(const HeadTrace& trace) {
  Table table;
  table.title = fmt::format("Head {}: “{}” asks each key: q[d] · k[d], and their sum", trace.head, trace.query);
  table.columns = {"key"};
  add_term_columns(table.columns, trace.q.size());
  table.columns.emplace_back("q · k");
  std::vector<Cell> query = {word("q")};
  std::vector<double> values = trace.q;
  add_terms(query, values);
  if (values.size() > kTermsShown) query.back() = word("");
  query.push_back(word(""));
  table.rows.push_back(std::move(query));
  for (const std::size_t j : trace.keys) {
    std::vector<Cell> row = {word(trace.names[j])};
    std::vector<double> terms(trace.q.size());
    std::transform(trace.q.begin(), trace.q.end(), trace.k[j].begin(), terms.begin(), std::multiplies<>());
    add_terms(row, terms);
    row.push_back(rounded(trace.raw[j]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

bool differ(const std::vector<double>& a, const std::vector<double>& b) { return a != b; }

struct ScoreColumn {
  std::string title;
  std::vector<double> values;
  bool is_summed = false;
};

std::vector<ScoreColumn> softmax_columns(const Run& run, const HeadTrace& trace) {
  std::vector<ScoreColumn> columns = {{"q · k", trace.raw}, {fmt::format("× {}", shown(run.scale())), trace.scaled}};
  if (run.attention.softcap) columns.push_back({"capped", trace.softcapped});
  if (differ(trace.softcapped, trace.biased)) columns.push_back({"+ bias", trace.biased});
  if (differ(trace.biased, trace.masked)) columns.push_back({"masked", trace.masked});
  const double top = *std::max_element(trace.masked.begin(), trace.masked.end());
  ScoreColumn exponents{"exp(s − max)", std::vector<double>(trace.masked.size()), true};
  if (std::isfinite(top)) {
    std::transform(trace.masked.begin(), trace.masked.end(), exponents.values.begin(),
                   [&](double score) { return core::exp(score - top); });
  }
  columns.push_back(std::move(exponents));
  columns.push_back({"weight α", trace.weights, true});
  if (run.attention.dropout) columns.push_back({"after dropout", trace.dropped, true});
  return columns;
}

Table softmax_table(const Run& run, const HeadTrace& trace) {
  Table table;
  table.title = fmt::format("Head {}: from scores to weights (max = {})", trace.head,
                            shown(*std::max_element(trace.masked.begin(), trace.masked.end())));
  table.columns = {"key"};
  const std::vector<ScoreColumn> columns = softmax_columns(run, trace);
  for (const ScoreColumn& column : columns) table.columns.push_back(column.title);
  for (const std::size_t j : trace.keys) {
    std::vector<Cell> row = {word(trace.names[j])};
    for (const ScoreColumn& column : columns) row.push_back(rounded(column.values[j]));
    table.rows.push_back(std::move(row));
  }
  std::vector<Cell> sums = {word(trace.keys.size() < trace.weights.size() ? "sum of all keys" : "sum")};
  for (const ScoreColumn& column : columns) {
    sums.push_back(column.is_summed ? rounded(std::accumulate(column.values.begin(), column.values.end(), 0.0))
                                    : word(""));
  }
  table.rows.push_back(std::move(sums));
  return table;
}

std::vector<double> share(const HeadTrace& trace, std::size_t j) {
  std::vector<double> terms = trace.v[j];
  // A hidden key's value is never read: NaN there does not leak.
  for (double& term : terms) term = trace.dropped[j] == 0 ? 0.0 : term * trace.dropped[j];
  return terms;
}

void add_row(Table& table, std::string label, Cell weight, const std::vector<double>& values) {
  std::vector<Cell> row = {word(std::move(label)), std::move(weight)};
  const std::size_t single = values.size() <= kTermsShown ? values.size() : kTermsShown;
  for (std::size_t d = 0; d < single; ++d) row.push_back(rounded(values[d]));
  table.rows.push_back(std::move(row));
}

Table shares_table(const HeadTrace& trace) {
  Table table;
  table.title = fmt::format("Head {}: α · v, and their sum", trace.head);
  if (trace.out.size() > kTermsShown) {
    table.title += fmt::format(" (the first {} of {} numbers)", kTermsShown, trace.out.size());
  }
  table.columns = {"key", "α"};
  for (std::size_t d = 0; d < std::min(trace.out.size(), kTermsShown); ++d) {
    table.columns.push_back(fmt::format("{}", d));
  }
  std::vector<double> total(trace.out.size());
  std::vector<double> rest(trace.out.size());
  double rest_weight = 0;
  for (std::size_t j = 0; j < trace.weights.size(); ++j) {
    const std::vector<double> terms = share(trace, j);
    std::transform(total.begin(), total.end(), terms.begin(), total.begin(), std::plus<>());
    if (std::binary_search(trace.keys.begin(), trace.keys.end(), j)) {
      add_row(table, trace.names[j], rounded(trace.dropped[j]), terms);
    } else {
      std::transform(rest.begin(), rest.end(), terms.begin(), rest.begin(), std::plus<>());
      rest_weight += trace.dropped[j];
    }
  }
  if (trace.keys.size() < trace.weights.size()) {
    add_row(table, fmt::format("the other {}", trace.weights.size() - trace.keys.size()), rounded(rest_weight), rest);
  }
  add_row(table, "sum", rounded(std::accumulate(trace.dropped.begin(), trace.dropped.end(), 0.0)), total);
  add_row(table, "engine", word(""), trace.out);
  return table;
}

Formula written_out(const HeadTrace& trace) {
  using namespace math;
  const Term head{fmt::format("head {}: ", trace.head),
                  fmt::format("<mtext>head {}:</mtext><mspace width=\"0.6em\"/>", trace.head)};
  Term formula = row({head, sub(name("o"), token(trace.query)), op("=")});
  bool is_first = true;
  for (std::size_t j = 0; j < trace.weights.size(); ++j) {
    if (trace.dropped[j] == 0) continue;
    if (!is_first) formula = row({formula, op("+")});
    is_first = false;
    formula = row({formula, number(shown(trace.dropped[j], 3)), op("·"), sub(name("v"), token(trace.names[j]))});
  }
  return is_first ? row({formula, number("0")}) : formula;
}

}  // namespace

Section query_section(const Scene& scene, const insight::TokenChoice& query) {
  const Run& run = *scene.run;
  const std::string& token = run.queries.tokens[static_cast<std::size_t>(query.index)];
  Section section;
  section.id = "query";
  section.title = fmt::format("“{}” (position {}), written out", token, run.first_query + query.index);
  section.text =
      "The whole of attention for one token: its query times every key, the softmax of that row, and the values' "
      "shares. The last two rows of each head must agree: the sum written out here, and what the engine returned.";
  if (query.is_ambiguous) {
    std::vector<std::string> names = distinct_names(run.queries.tokens, run.first_query);
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with(token + "@"); });
    section.notes.push_back(fmt::format("“{}” occurs {} times; this is {}. Others: {}.", token, names.size(),
                                        names.front(), fmt::join(std::span(names).subspan(1), ", ")));
  }
  const Stages stages(run);
  for (std::int64_t head = 0; head < run.heads; ++head) {
    const HeadTrace trace = trace_of(run, stages, head, query.index);
    if (trace.weights.size() <= kKeysInFormula) section.formulas.push_back(written_out(trace));
    section.tables.push_back(products_table(trace));
    section.tables.push_back(softmax_table(run, trace));
    section.tables.push_back(shares_table(trace));
  }
  return section;
}

}  // namespace qkv::explain_detail
