#include "explain/trained/long_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/parallel.h"
#include "explain/drawing.h"
#include "explain/numbers.h"
#include "insight/asked_text.h"
#include "insight/call_places.h"
#include "insight/logit_parts.h"
#include "insight/read_layers.h"
#include "nn/trace_record.h"
#include "qkv/insight/heads.h"
#include "qkv/threads.h"

namespace qkv::explain_detail {
namespace {

constexpr std::int64_t kSampledRows = 1024;  // queries that statistics are of

std::int64_t part_of(std::int64_t extent, std::int64_t parts) { return (extent + parts - 1) / parts; }

// What is read of one head, row by row.
struct HeadSums {
  LayerHeads patterns{1};
  Spread spread = {};
  double rows = 0;            // of spread
  std::vector<double> cells;  // sums of the weights of each block
};

class LayerReader {
 public:
  LayerReader(const Trace::Attention& call, const Probe& probe, const PatternTokens& tokens)
      : call_(call),
        probe_(probe),
        tokens_(tokens),
        T_(probe.shape().Tk),
        block_(part_of(T_, kPictureSide)),
        cells_(part_of(T_, block_)),
        heads_(static_cast<std::size_t>(probe.shape().H)) {
    for (HeadSums& head : heads_) head.cells.resize(static_cast<std::size_t>(cells_ * cells_));
  }

  void read() {
    for (std::int64_t first = 0; first < T_; first += block_) add_rows(first, std::min(first + block_, T_));
  }

  // [H, rows, columns] of means.
  [[nodiscard]] Tensor cells() const {
    Tensor all(DType::f64, {std::ssize(heads_), cells_, cells_});
    const auto values = all.values<double>();
    std::size_t next = 0;
    for (const HeadSums& head : heads_) {
      for (std::int64_t row = 0; row < cells_; ++row) {
        for (std::int64_t column = 0; column < cells_; ++column) {
          const auto pairs = static_cast<double>(extent_of(row) * extent_of(column));
          values[next++] = head.cells[static_cast<std::size_t>(row * cells_ + column)] / pairs;
        }
      }
    }
    return all;
  }

  [[nodiscard]] std::vector<HeadInLongText> heads() const {
    std::vector<HeadInLongText> all;
    for (const HeadSums& head : heads_) {
      const double rows = std::max(1.0, head.rows);
      all.push_back({.shown = class_of(head.patterns.statistics().front()),
                     .spread = {.largest = head.spread.largest / rows,
                                .effective_keys = head.spread.effective_keys / rows,
                                .jacobian = head.spread.jacobian / rows}});
    }
    return all;
  }

 private:
  [[nodiscard]] std::int64_t extent_of(std::int64_t cell) const { return std::min(block_, T_ - cell * block_); }

  void add_rows(std::int64_t first, std::int64_t end) {
    const std::int64_t step = part_of(T_, kSampledRows);
    std::vector<Tensor> hidden(static_cast<std::size_t>(end - first));  // of the rows that are sampled
    for (std::int64_t i = first; i < end; ++i) {
      if (i % step == 0) hidden[static_cast<std::size_t>(i - first)] = insight::hidden_places(call_, 0, i, i + 1);
    }
    core::parallel_for(threads(), std::ssize(heads_), [&](int, std::int64_t h) {
      HeadSums& head = heads_[static_cast<std::size_t>(h)];
      const Tensor rows = probe_.tile({.h = h, .i_begin = first, .i_end = end, .j_end = T_});
      std::vector<double> row(static_cast<std::size_t>(T_));
      for (std::int64_t i = first; i < end; ++i) {
        rows.view().load_row(std::array{i - first}, row);
        add_cells(row, first / block_, head);
        if (i % step != 0) continue;
        const Tensor& places = hidden[static_cast<std::size_t>(i - first)];
        head.patterns.add_rows(i, rows.view().slice(0, i - first, i - first + 1).unsqueeze(0), tokens_,
                               places.empty() ? TensorView() : places.view());
        add_spread(spread_of(row), head);
      }
    });
  }

  void add_cells(std::span<const double> row, std::int64_t cell_row, HeadSums& head) const {
    for (std::int64_t column = 0; column < cells_; ++column) {
      double sum = 0;
      const auto keys =
          row.subspan(static_cast<std::size_t>(column * block_), static_cast<std::size_t>(extent_of(column)));
      for (const double weight : keys) sum += weight;
      head.cells[static_cast<std::size_t>(cell_row * cells_ + column)] += sum;
    }
  }

  static void add_spread(const Spread& row, HeadSums& head) {
    if (row.largest == 0) return;
    head.spread.largest += row.largest;
    head.spread.effective_keys += row.effective_keys;
    head.spread.jacobian += row.jacobian;
    ++head.rows;
  }

  const Trace::Attention& call_;
  const Probe& probe_;
  const PatternTokens& tokens_;
  std::int64_t T_;
  std::int64_t block_;
  std::int64_t cells_;
  std::vector<HeadSums> heads_;
};

// The rows of the window out of all of a pass; empty where the value has no row for each token.
Variable rows_in_window(const Variable& value, std::int64_t T, std::int64_t first) {
  const int axis = value.rank() == 4 ? 2 : 1;
  const bool has_rows = (value.rank() == 3 || value.rank() == 4) && value.dim(axis) == T;
  if (!has_rows) return {};
  return Variable(Tensor(value.value().slice(axis, first, first + kRowsInFull)));
}

class LongRun {
 public:
  LongRun(const TextModel& trained, const Batch& batch, const Example& example, const LongQuestion& question,
          Trace& trace)
      : trained_(trained),
        batch_(batch),
        question_(question),
        trace_(trace),
        T_(std::ssize(example.tokens)),
        scope_(*trained.model().scope_of(AttentionSite::tokens)) {
    SiteWeights& shown = site_.shown;
    site_.scope = scope_;
    shown.name = name_of(AttentionSite::tokens);
    shown.keys = texts_of(trained.tokenizer(), example.tokens);
    shown.queries.assign(shown.keys.begin() + question.first, shown.keys.begin() + question.first + kRowsInFull);
    shown.roles = insight::roles_of(trained, {example.tokens.begin(), example.tokens.end()}, trained.tokenizer());
    shown.long_text = LongText{.block = part_of(T_, kPictureSide), .step = part_of(T_, kSampledRows), .heads = {}};
    tokens_ = {.queries = {example.tokens.begin(), example.tokens.end()},
               .keys = {example.tokens.begin(), example.tokens.end()},
               .roles = shown.roles};
  }

  TracedSite run() {
    trace_ = Trace(names());
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope_.layers); ++layer) {
      insight::read_layer(trace_, scope_.stack, layer, [this, layer] { read_layer(layer); });
    }
    trained_.model().run(input_of(batch_), trace_);
    const Tensor last_row(trace_[last_block()].view().slice(1, T_ - 1, T_));
    keep_window(*trace_.record());
    trace_.record()->edits.clear();  // they mean this object
    const std::string name = scope_.name(question_.layer);
    trace_.record()->attentions.place_of(name) = {.name = name, .call = std::move(shown_)};
    if (trained_.model().scores_tokens()) add_scores(last_row);
    return std::move(site_);
  }

 private:
  [[nodiscard]] std::string last_block() const { return fmt::format("{}blocks.{}", scope_.stack, scope_.layers - 1); }

  // All but the scores, which are made of the window's rows alone.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names = insight::names_of_parts(scope_);
    std::erase(names, scope_.stack + "logits");
    names.push_back(scope_.stack + "blocks.*");
    return names;
  }

  void read_layer(std::size_t layer) {
    const std::string name = scope_.name(layer);
    const Trace::Attention call = trace_.attention(name);
    {
      const Probe probe = trace_.probe(name);
      LayerReader reader(call, probe, tokens_);
      reader.read();
      site_.shown.weights.push_back(reader.cells());
      site_.shown.long_text->heads.push_back(reader.heads());
    }
    if (layer == question_.layer) shown_ = call_in_window(call);
    keep_window(*trace_.record());
  }

  // As a call of the window's queries over all keys.
  [[nodiscard]] Trace::Attention call_in_window(const Trace::Attention& call) {
    const std::int64_t first = question_.first;
    const MatrixWindow window{.Tq = T_, .Tk = T_, .first_i = first};
    Trace::Attention part = call;
    part.q = rows_in_window(call.q, T_, first);
    part.out = rows_in_window(call.out, T_, first);
    part.lse = Variable(Tensor(call.lse.value().slice(2, first, first + kRowsInFull)));
    part.options.mask = within(call.options.mask, window);
    part.options.bias = within(call.options.bias, window);
    part.options.plan = nullptr;
    part.options.plans = nullptr;
    const Tensor hidden = insight::hidden_places(call, 0, first, first + kRowsInFull);
    if (!hidden.empty()) site_.shown.hidden = hidden;
    return part;
  }

  void keep_window(trace_detail::Record& record) const {
    trace_detail::Ordered<trace_detail::Kept> rows;
    for (const trace_detail::Kept& kept : record.kept.all()) {
      Variable value = kept.value;
      const bool is_cut = value.rank() > 1 && value.dim(value.rank() == 4 ? 2 : 1) == kRowsInFull;
      if (!is_cut) value = rows_in_window(value, T_, question_.first);
      if (!value.empty()) rows.place_of(kept.name) = {.name = kept.name, .value = std::move(value)};
    }
    record.kept = std::move(rows);
  }

  // [1, 1, d_model]: what the last block makes of the text's last token.
  void add_scores(const Tensor& last_row) {
    const NoGradient constant;
    Trace end({"*"});
    const Variable stream(trace_[last_block()]);
    static_cast<void>(trained_.model().read_out(stream, {.dtype = trained_.model().dtype(), .trace = &end}));
    for (const std::string& name : end.names()) {
      trace_.record()->kept.place_of(name) = {.name = name, .value = Variable(end[name])};
    }
    const Variable last = trained_.model().read_out(Variable(last_row), {.dtype = trained_.model().dtype()});
    trace_.record()->kept.place_of(kLastScores) = {.name = kLastScores, .value = last};
  }

  const TextModel& trained_;
  const Batch& batch_;
  const LongQuestion& question_;
  Trace& trace_;
  std::int64_t T_;
  SiteScope scope_;
  PatternTokens tokens_ = {.queries = {}, .keys = {}};
  TracedSite site_;
  Trace::Attention shown_;  // of the question's layer
};

}  // namespace

bool is_long_text(const TextModel& trained, const Example& example) {
  const bool is_alone = example.source.empty() && example.image.empty();
  return (trained.traits().goes_on || trained.traits().fills) && is_alone && std::ssize(example.tokens) > kWholeTokens;
}

TracedSite run_long_text(const TextModel& trained, const Batch& batch, const Example& example,
                         const LongQuestion& question, Trace& trace) {
  return LongRun(trained, batch, example, question, trace).run();
}

}  // namespace qkv::explain_detail
