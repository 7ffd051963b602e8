#include "insight/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "insight/masked_texts.h"
#include "insight/outcome.h"
#include "insight/removed_heads.h"
#include "insight/token_losses.h"
#include "model/require_finite.h"
#include "qkv/autograd/softmax.h"
#include "qkv/nn/parameters.h"

namespace qkv::insight {
namespace {

// The loss of each text in what a pass left, of which `batch` stands there some times over.
class Losses {
 public:
  explicit Losses(const Model& model) : model_(model), few_(TokenLosses::of(model)), logits_(logits_name(model)) {}

  /// What a trace has to keep.
  [[nodiscard]] const std::string& name() const { return few_ ? few_->states_name() : logits_; }

  /// Of a trace for run().
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names = names_of_streams(model_);
    if (few_) names.push_back(few_->states_name());
    return names;
  }

  /// The sum over the targets of a batch.
  [[nodiscard]] double run(const TextBatch& batch, Trace& trace) const {
    const NoGradient constant;
    if (!few_) {
      const Variable scores = model_.forward(batch.input(), {.dtype = model_.dtype(), .trace = &trace});
      return of_batches(scores.value(), batch).front();
    }
    model_.run(batch.input(), trace);
    return of_batches(trace[few_->states_name()], batch).front();
  }

  /// The sum over the targets of the batch that begins at each row which is a multiple of its texts.
  [[nodiscard]] std::vector<double> of_batches(const TensorView& value, const TextBatch& batch) const {
    const std::int64_t texts = std::ssize(batch.texts);
    std::vector<double> sums(static_cast<std::size_t>(value.dim(0) / texts), 0);
    if (few_) {
      const std::vector<double> all = few_->sums(value, batch.targets);
      for (std::size_t n = 0; n < all.size(); ++n) sums[n / batch.texts.size()] += all[n];
      return sums;
    }
    const auto count = static_cast<double>(batch.all_asked());
    for (std::size_t n = 0; n < sums.size(); ++n) {
      const std::int64_t row = static_cast<std::int64_t>(n) * texts;
      const Tensor scores(value.slice(0, row, row + texts));
      sums[n] = cross_entropy(Variable(scores), batch.targets).item() * count;
    }
    return sums;
  }

 private:
  const Model& model_;
  std::optional<TokenLosses> few_;
  std::string logits_;
};

// Mean loss over the targets of all batches. `streams` gets a trace of each for without_each_head().
double loss_of(const Model& model, const Losses& losses, const std::vector<TextBatch>& batches,
               std::vector<Trace>& streams) {
  double sum = 0;
  double asked = 0;
  for (const TextBatch& batch : batches) {
    sum += losses.run(batch, streams.emplace_back(losses.names()));
    asked += static_cast<double>(batch.all_asked());
  }
  require_numbers(model, "analyze_heads", "the losses of the texts", std::array{sum});
  return sum / asked;
}

double product_of(const TensorView& a, const TensorView& b) {
  const std::vector<double> x = a.to_vector();
  const std::vector<double> y = b.to_vector();
  double sum = 0;
  for (std::size_t n = 0; n < x.size(); ++n) sum += x[n] * y[n];
  return sum;
}

RemovedLayer layer_at(const Model& model, const SiteHeads& site, std::int64_t layer) {
  return {.scope = *model.scope_of(site.site), .layer = static_cast<std::size_t>(layer), .heads = site.heads};
}

std::string heads_at(const Model& model, const SiteHeads& site, std::int64_t layer) {
  return model.scope_of(site.site)->name(static_cast<std::size_t>(layer), "heads");
}

// |sum of gradient x output| of each text's own mean loss. A text's loss depends on its own places only, so that the
// gradient of the batch's mean is that of the text, times its share of the targets.
void add_gradients(const TextBatch& batch, const Trace& trace, const std::string& name, std::span<HeadStatistics> heads,
                   double texts) {
  const Tensor outputs = trace[name];
  const Tensor gradients = trace.gradient(name);
  for (std::size_t b = 0; b < batch.texts.size(); ++b) {
    const auto at = static_cast<std::int64_t>(b);
    const double share = static_cast<double>(batch.all_asked()) / static_cast<double>(batch.asked[b]);
    for (HeadStatistics& head : heads) {
      const double sum = product_of(outputs.view().select(0, at).select(0, head.head),
                                    gradients.view().select(0, at).select(0, head.head));
      head.gradient = head.gradient.value_or(0) + std::abs(sum) * share / texts;
    }
  }
}

std::span<HeadStatistics> layer_of(SiteHeads& site, std::int64_t layer) {
  return std::span(site.all).subspan(static_cast<std::size_t>(layer * site.heads),
                                     static_cast<std::size_t>(site.heads));
}

void gradient_pass(const Model& model, const std::vector<TextBatch>& batches, HeadAnalysis& analysis) {
  std::vector<std::string> names;
  for (const SiteHeads& site : analysis.sites) {
    for (std::int64_t layer = 0; layer < site.layers; ++layer) names.push_back(heads_at(model, site, layer));
  }
  for (const TextBatch& batch : batches) {
    Trace trace(names);
    backward(cross_entropy(model.forward(batch.input(), {.dtype = model.dtype(), .trace = &trace}), batch.targets));
    for (SiteHeads& site : analysis.sites) {
      for (std::int64_t layer = 0; layer < site.layers; ++layer) {
        add_gradients(batch, trace, heads_at(model, site, layer), layer_of(site, layer),
                      static_cast<double>(analysis.importance_texts));
      }
    }
  }
  clear_gradients(model.parameters());
}

// Texts with what their whole pass left.
struct Measured {
  std::vector<TextBatch> batches;
  std::vector<Trace> streams = {};
};

// The rise of the mean loss without each of a layer's heads.
void add_removals(const Model& model, const Measured& texts, const Losses& losses, const RemovedLayer& removed,
                  double loss, std::span<HeadStatistics> layer) {
  std::vector<double> sums(layer.size(), 0);
  double asked = 0;
  const std::vector<std::string> kept{losses.name()};
  for (std::size_t n = 0; n < texts.batches.size(); ++n) {
    const TextBatch& batch = texts.batches[n];
    asked += static_cast<double>(batch.all_asked());
    std::vector<double> of_pass;
    const WithoutHead add = [&](std::int64_t head, std::span<const Tensor> values, std::int64_t row) {
      if (row == 0) of_pass = losses.of_batches(values.front(), batch);  // of all its heads together
      sums[static_cast<std::size_t>(head)] += of_pass[static_cast<std::size_t>(row) / batch.texts.size()];
    };
    without_each_head(model, batch.input(), texts.streams[n], removed, kept, add);
  }
  require_numbers(model, "analyze_heads", "the losses of the texts", sums);
  for (std::size_t n = 0; n < layer.size(); ++n) layer[n].removal = sums[n] / asked - loss;
}

std::int64_t heads_of(const HeadAnalysis& analysis) {
  std::int64_t heads = 0;
  for (const SiteHeads& site : analysis.sites) heads += std::ssize(site.all);
  return heads;
}

bool asks(const HeadText& text) {
  return std::ranges::any_of(text.targets, [](std::int64_t target) { return target >= 0; });
}

// The first of those that ask the model for a token; an encoder that fills gaps is asked by gaps.
std::vector<HeadText> asked_texts(std::span<const HeadText> texts, const HeadOptions& options) {
  Generator generator(options.masks.seed);
  std::vector<HeadText> asked;
  for (const HeadText& text : texts) {
    if (std::ssize(asked) >= options.importance_texts) break;
    const bool is_masked = !asks(text) && options.masks.mask;
    const HeadText one = is_masked ? masked_text(text, options.masks, generator) : text;
    if (asks(one)) asked.push_back(one);
  }
  return asked;
}

std::int64_t masked_tokens(const std::vector<HeadText>& texts, const MaskedTokens& masks) {
  std::int64_t count = 0;
  for (const HeadText& text : texts) {
    for (std::size_t p = 0; masks.mask && p < text.targets.size(); ++p) {
      if (text.targets[p] >= 0 && text.ids[p] == *masks.mask) ++count;
    }
  }
  return count;
}

std::string why_none(const Model& model, const HeadOptions& options) {
  if (options.importance_texts <= 0) return "not asked for";
  if (model.traits().is_pair) return "two towers say no tokens";
  if (!model.scores_tokens()) {
    return "the model gives states alone, without a head that says tokens, so there is no loss to rise";
  }
  return "no text asks the model for a token";
}

}  // namespace

void add_importance(const Model& model, std::span<const HeadText> texts, const HeadOptions& options,
                    HeadAnalysis& analysis) {
  const std::vector<HeadText> asked = model.scores_tokens() ? asked_texts(texts, options) : std::vector<HeadText>();
  if (asked.empty()) {
    analysis.no_importance = why_none(model, options);
    return;
  }
  analysis.importance_texts = static_cast<std::int64_t>(asked.size());
  analysis.masked = masked_tokens(asked, options.masks);
  Measured measured{.batches = batches_of(asked, 1)};
  gradient_pass(model, measured.batches, analysis);
  const Losses losses(model);
  analysis.loss = loss_of(model, losses, measured.batches, measured.streams);
  std::int64_t done = 0;
  for (SiteHeads& site : analysis.sites) {
    for (std::int64_t layer = 0; layer < site.layers; ++layer) {
      if (options.doing) {
        options.doing(fmt::format("without each head of layer {} of {}", layer, name_of(site.site)), done,
                      heads_of(analysis));
      }
      add_removals(model, measured, losses, layer_at(model, site, layer), *analysis.loss, layer_of(site, layer));
      done += site.heads;
    }
  }
}

}  // namespace qkv::insight
