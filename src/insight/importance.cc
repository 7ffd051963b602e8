#include "insight/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "insight/masked_texts.h"
#include "insight/outcome.h"
#include "insight/removed_heads.h"
#include "insight/token_losses.h"
#include "kernels/product/product.h"
#include "model/require_finite.h"
#include "nn/known_linears.h"
#include "qkv/autograd/softmax.h"
#include "qkv/model/decoder.h"
#include "qkv/nn/parameters.h"

namespace qkv::insight {
namespace {

// Whether most of the time goes into products, and the machine multiplies bf16 in less of it than f32.
bool is_by_differences(const Model& model) {
  constexpr std::int64_t kLargeModel = std::int64_t{1} << 22;
  std::int64_t numbers = 0;
  for (const Parameter& one : model.parameters()) numbers += one.value.size();
  return model.dtype() == DType::f32 && numbers >= kLargeModel && kernels::product_dtype(DType::bf16) == DType::bf16;
}

// The loss of each text in what a pass left, of which `batch` stands there some times over. Passes without a head
// multiply only by how far they are from the whole one, where that is quicker.
class Losses {
 public:
  explicit Losses(const Model& model)
      : model_(model),
        few_(TokenLosses::of(model)),
        logits_(logits_name(model)),
        is_by_differences_(is_by_differences(model)) {}

  // What the whole pass over a batch left.
  struct Whole {
    Trace streams;
    nn::KnownLinears linears = {};
    std::optional<TokenLosses::Known> scores = std::nullopt;
    double sum = 0;  // of the losses
  };

  /// What a trace has to keep.
  [[nodiscard]] const std::string& name() const { return few_ ? few_->states_name() : logits_; }

  [[nodiscard]] Whole run(const TextBatch& batch) {
    constexpr std::int64_t kMostKnown = 512;  // tokens, of which a pass leaves less than its weights take
    std::vector<std::string> names = names_of_streams(model_);
    names.push_back(name());
    Whole whole{.streams = Trace(std::move(names))};
    const bool is_known = is_by_differences_ && tokens_of(batch.input()) <= kMostKnown;
    {
      std::optional<nn::NotedLinears> noted;
      if (is_known) noted.emplace(whole.linears);
      model_.run(batch.input(), whole.streams);
    }
    const Tensor value = whole.streams[name()];
    whole.sum = of_batches(value, batch, whole).front();
    if (is_known && few_) whole.scores = few_->known(value, batch.targets);
    return whole;
  }

  /// Calls body() with the products of `whole` known.
  template <class Body>
  void with_known(const Whole& whole, const Body& body) {
    const nn::LinearDifferences differences(whole.linears, weights_);
    body();
  }

  /// The sum over the targets of the batch that begins at each row which is a multiple of its texts.
  [[nodiscard]] std::vector<double> of_batches(const TensorView& value, const TextBatch& batch,
                                               const Whole& whole) const {
    const std::int64_t texts = std::ssize(batch.texts);
    std::vector<double> sums(static_cast<std::size_t>(value.dim(0) / texts), 0);
    if (few_) {
      const std::vector<double> all =
          whole.scores ? few_->sums(value, batch.targets, *whole.scores) : few_->sums(value, batch.targets);
      for (std::size_t n = 0; n < all.size(); ++n) sums[n / batch.texts.size()] += all[n];
      return sums;
    }
    const auto count = static_cast<double>(batch.all_asked());
    for (std::size_t n = 0; n < sums.size(); ++n) {
      const std::int64_t row = static_cast<std::int64_t>(n) * texts;
      const Tensor scores(value.slice(0, row, row + texts));
      const bool is_of_classes = value.rank() == 2;
      const Tensor targets = is_of_classes ? batch.targets.reshape({texts}) : Tensor(batch.targets);
      sums[n] = cross_entropy(Variable(scores), targets).item() * count;
    }
    return sums;
  }

 private:
  const Model& model_;
  std::optional<TokenLosses> few_;
  std::string logits_;
  bool is_by_differences_;
  nn::RoundedWeights weights_;
};

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
    const ModelCall call{.dtype = model.dtype(), .trace = &trace};
    const bool is_of_classes = outcome_of(model) == Outcome::classes;
    backward(is_of_classes ? model.loss(batch.input(), batch.targets.reshape({batch.targets.size()}), call)
                           : cross_entropy(model.forward(batch.input(), call), batch.targets));
    for (SiteHeads& site : analysis.sites) {
      for (std::int64_t layer = 0; layer < site.layers; ++layer) {
        add_gradients(batch, trace, heads_at(model, site, layer), layer_of(site, layer),
                      static_cast<double>(analysis.importance_texts));
      }
    }
  }
  clear_gradients(model.parameters());
}

// Adds the losses of a batch without each of a layer's heads.
void add_losses_without(const Model& model, const TextBatch& batch, Losses& losses, const Losses::Whole& whole,
                        const RemovedLayer& removed, std::span<double> sums) {
  std::vector<double> of_pass;
  const WithoutHead add = [&](std::int64_t head, std::span<const Tensor> values, std::int64_t row) {
    if (row == 0) of_pass = losses.of_batches(values.front(), batch, whole);  // of all its heads together
    sums[static_cast<std::size_t>(head)] += of_pass[static_cast<std::size_t>(row) / batch.texts.size()];
  };
  losses.with_known(whole, [&] {
    without_each_head(model, batch.input(), whole.streams, removed, std::vector<std::string>{losses.name()}, add);
  });
}

std::int64_t heads_of(const HeadAnalysis& analysis) {
  std::int64_t heads = 0;
  for (const SiteHeads& site : analysis.sites) heads += std::ssize(site.all);
  return heads;
}

// The mean loss over the targets of all batches, and how much it rises without each head.
class Removals {
 public:
  Removals(const Model& model, const HeadOptions& options, HeadAnalysis& analysis)
      : model_(model), options_(options), analysis_(analysis), losses_(model) {
    for (const SiteHeads& site : analysis.sites) sums_.emplace_back(site.all.size(), 0.0);
  }

  void add(const std::vector<TextBatch>& batches) {
    const std::int64_t passes = std::ssize(batches) * heads_of(analysis_);
    for (const TextBatch& batch : batches) {
      asked_ += static_cast<double>(batch.all_asked());
      const Losses::Whole whole = losses_.run(batch);
      require_numbers(model_, "analyze_heads", "the losses of the texts", std::array{whole.sum});
      sum_ += whole.sum;
      for (std::size_t n = 0; n < sums_.size(); ++n) add_site(batch, whole, n, passes);
    }
  }

  void tell() {
    analysis_.loss = sum_ / asked_;
    for (std::size_t n = 0; n < sums_.size(); ++n) {
      require_numbers(model_, "analyze_heads", "the losses of the texts", sums_[n]);
      std::vector<HeadStatistics>& heads = analysis_.sites[n].all;
      for (std::size_t h = 0; h < heads.size(); ++h) heads[h].removal = sums_[n][h] / asked_ - *analysis_.loss;
    }
  }

 private:
  void add_site(const TextBatch& batch, const Losses::Whole& whole, std::size_t n, std::int64_t passes) {
    const SiteHeads& site = analysis_.sites[n];
    for (std::int64_t layer = 0; layer < site.layers; ++layer) {
      if (options_.doing) {
        options_.doing(fmt::format("without each head of layer {} of {}", layer, name_of(site.site)), done_, passes);
      }
      add_losses_without(model_, batch, losses_, whole, layer_at(model_, site, layer),
                         std::span(sums_[n]).subspan(static_cast<std::size_t>(layer * site.heads),
                                                     static_cast<std::size_t>(site.heads)));
      done_ += site.heads;
    }
  }

  const Model& model_;
  const HeadOptions& options_;
  HeadAnalysis& analysis_;
  Losses losses_;
  std::vector<std::vector<double>> sums_ = {};  // of each site
  double sum_ = 0;
  double asked_ = 0;
  std::int64_t done_ = 0;
};

bool asks(const HeadText& text) {
  return std::ranges::any_of(text.targets, [](std::int64_t target) { return target >= 0; });
}

// The places behind the last one that asks for a token: no place of a decoder reads what stands behind it.
void drop_unread(HeadText& text) {
  const auto last = std::find_if(text.targets.rbegin(), text.targets.rend(), [](std::int64_t id) { return id >= 0; });
  const auto length = static_cast<std::size_t>(std::distance(last, text.targets.rend()));
  text.targets.resize(length);
  text.ids.resize(length);
  if (!text.types.empty()) text.types.resize(length);
}

// The first of those that ask the model for a token; an encoder that fills gaps is asked by gaps.
std::vector<HeadText> asked_texts(const Model& model, std::span<const HeadText> texts, const HeadOptions& options) {
  Generator generator(options.masks.seed);
  std::vector<HeadText> asked;
  for (const HeadText& text : texts) {
    if (std::ssize(asked) >= options.importance_texts) break;
    const bool is_masked = !asks(text) && options.masks.mask;
    HeadText one = is_masked ? masked_text(text, options.masks, generator) : text;
    if (!asks(one)) continue;
    if (model.traits().goes_on) drop_unread(one);
    asked.push_back(std::move(one));
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
  if (!is_said(outcome_of(model))) {
    return "the model gives states alone, without a head that says tokens, so there is no loss to rise";
  }
  return "no text asks the model for a token";
}

}  // namespace

void add_importance(const Model& model, std::span<const HeadText> texts, const HeadOptions& options,
                    HeadAnalysis& analysis) {
  const std::vector<HeadText> asked =
      is_said(outcome_of(model)) ? asked_texts(model, texts, options) : std::vector<HeadText>();
  if (asked.empty()) {
    analysis.no_importance = why_none(model, options);
    return;
  }
  analysis.importance_texts = static_cast<std::int64_t>(asked.size());
  analysis.masked = masked_tokens(asked, options.masks);
  const std::vector<TextBatch> batches = batches_of(asked, 1);
  gradient_pass(model, batches, analysis);
  Removals removals(model, options, analysis);
  removals.add(batches);
  removals.tell();
}

}  // namespace qkv::insight
