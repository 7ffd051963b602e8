#include "qkv/insight/compare_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/parallel.h"
#include "core/watched.h"
#include "insight/outcome.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

constexpr const char* kCompareModels = "compare_models";
constexpr std::size_t kWorstPlaces = 5;

void require_writer(const char* argument, const TextModel& model) {
  const bool writes_on =
      model.traits().goes_on && !model.reads_source() && insight::outcome_of(model.model()) == insight::Outcome::scores;
  if (writes_on) return;
  throw InvalidArgument(kCompareModels, argument, "a model that goes on with texts",
                        "one of kind " + std::string(name_of(model.kind())));
}

// What one model makes of one window.
struct WindowPass {
  Tensor scores;               // f32 or f64 [T, vocabulary]
  std::vector<Tensor> stream;  // [T, d] of each layer
};

WindowPass pass_over(const Model& model, const Tensor& ids) {
  const SiteScope scope = *model.scope_of(AttentionSite::tokens);
  const std::vector<std::string> names = insight::stream_names(scope);
  Trace trace(names);
  const NoGradient constant;
  const Variable scores = model.forward({.ids = ids}, {.dtype = model.dtype(), .trace = &trace});
  WindowPass pass{.scores = Tensor(scores.value().select(0, 0), DType::f32), .stream = {}};
  for (const std::string& name : names) pass.stream.emplace_back(trace[name].view().select(0, 0), DType::f32);
  return pass;
}

// One row of scores: its largest one, where it is, and the log of the sum of exponentials.
struct ScoreRow {
  std::size_t likeliest = 0;
  double log_sum = 0;
};
ScoreRow read_row(std::span<const float> scores) {
  ScoreRow row;
  row.likeliest = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
  const auto most = static_cast<double>(scores[row.likeliest]);
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score) - most);
  row.log_sum = most + std::log(sum);
  return row;
}

struct PlaceResult {
  double divergence = 0;
  double log_a = 0;  // of the token that follows
  double log_b = 0;
  std::size_t likeliest_a = 0;
  std::size_t likeliest_b = 0;
};

PlaceResult compared_rows(std::span<const float> a, std::span<const float> b, std::size_t expected) {
  const ScoreRow row_a = read_row(a);
  const ScoreRow row_b = read_row(b);
  PlaceResult place{.likeliest_a = row_a.likeliest, .likeliest_b = row_b.likeliest};
  for (std::size_t n = 0; n < a.size(); ++n) {
    const double log_a = static_cast<double>(a[n]) - row_a.log_sum;
    const double log_b = static_cast<double>(b[n]) - row_b.log_sum;
    place.divergence += std::exp(log_a) * (log_a - log_b);
  }
  place.log_a = static_cast<double>(a[expected]) - row_a.log_sum;
  place.log_b = static_cast<double>(b[expected]) - row_b.log_sum;
  return place;
}

double relative_error(std::span<const float> a, std::span<const float> b) {
  double error = 0;
  double size = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const double difference = static_cast<double>(b[n]) - static_cast<double>(a[n]);
    error += difference * difference;
    size += static_cast<double>(a[n]) * static_cast<double>(a[n]);
  }
  return error == 0 ? 0 : std::sqrt(error / size);
}

std::span<const float> row_of(const Tensor& rows, std::size_t n) {
  const auto width = static_cast<std::size_t>(rows.dim(1));
  return rows.values<float>().subspan(n * width, width);
}

Model computing_in(const Model& model, std::optional<DType> dtype) { return dtype ? model.to(*dtype) : model; }

class Comparing {
 public:
  Comparing(const TextModel& a, const TextModel& b, const CompareOptions& options, std::vector<std::int32_t> ids)
      : a_(a),
        b_(b),
        options_(options),
        a_model_(computing_in(a.model(), options.dtype)),
        b_model_(computing_in(b.model(), options.dtype)),
        ids_(std::move(ids)) {}

  ModelComparison run() {
    const std::size_t window = static_cast<std::size_t>(window_of_both());
    for (std::size_t begin = 0; begin < ids_.size(); begin += window) {
      core::look();
      const std::size_t count = std::min(window, ids_.size() - begin);
      if (count > 1) read_window(begin, count);
      if (options_.progress) {
        options_.progress(static_cast<std::int64_t>(begin + count), static_cast<std::int64_t>(ids_.size()));
      }
    }
    return finished();
  }

 private:
  [[nodiscard]] std::int64_t window_of_both() const {
    std::int64_t window = options_.window;
    for (const TextModel* model : {&a_, &b_}) {
      if (const auto positions = model->positions()) window = std::min(window, *positions);
    }
    return window;
  }

  void read_window(std::size_t begin, std::size_t count) {
    Tensor ids(DType::i64, {1, static_cast<std::int64_t>(count)});
    for (std::size_t n = 0; n < count; ++n) ids.values<std::int64_t>()[n] = ids_[begin + n];
    const WindowPass a = pass_over(a_model_, ids);
    const WindowPass b = pass_over(b_model_, ids);
    if (a.scores.dim(1) != b.scores.dim(1)) {
      throw InvalidArgument(kCompareModels, "b", fmt::format("one with scores for {} tokens, as `a`", a.scores.dim(1)),
                            std::to_string(b.scores.dim(1)));
    }
    std::vector<PlaceResult> places(count - 1);
    core::parallel_for(threads(), std::ssize(places), [&](int /*worker*/, std::int64_t task) {
      const auto n = static_cast<std::size_t>(task);
      places[n] =
          compared_rows(row_of(a.scores, n), row_of(b.scores, n), static_cast<std::size_t>(ids_[begin + n + 1]));
    });
    for (std::size_t n = 0; n < places.size(); ++n) add_place(begin + n, places[n]);
    add_layers(begin, count, a, b);
  }

  void add_place(std::size_t place, const PlaceResult& result) {
    if (!std::isfinite(result.divergence) || !std::isfinite(result.log_a) || !std::isfinite(result.log_b)) {
      throw Error(fmt::format("the scores behind token {} of the text are not finite", place));
    }
    total_.predicted += 1;
    total_.divergence += result.divergence;
    total_.agreement += result.likeliest_a == result.likeliest_b ? 1 : 0;
    total_.perplexity_a -= result.log_a;
    total_.perplexity_b -= result.log_b;
    auto& worst = total_.worst;
    if (worst.size() == kWorstPlaces && worst.back().divergence >= result.divergence) return;
    const auto shown = [&](const TextModel& model, std::size_t id) {
      return shown_token(model.tokenizer(), static_cast<std::int32_t>(id));
    };
    const ComparedPlace one{.place = static_cast<std::int64_t>(place),
                            .before = text_before(place),
                            .expected = shown(a_, static_cast<std::size_t>(ids_[place + 1])),
                            .a = shown(a_, result.likeliest_a),
                            .b = shown(b_, result.likeliest_b),
                            .divergence = result.divergence};
    worst.insert(std::ranges::upper_bound(worst, one.divergence, std::ranges::greater(), &ComparedPlace::divergence),
                 one);
    if (worst.size() > kWorstPlaces) worst.pop_back();
  }

  [[nodiscard]] std::string text_before(std::size_t place) const {
    constexpr std::size_t kTokens = 8;
    std::string text;
    for (std::size_t n = place + 1 - std::min(place + 1, kTokens); n <= place; ++n) {
      text += shown_token(a_.tokenizer(), ids_[n]);
    }
    return text;
  }

  void add_layers(std::size_t begin, std::size_t count, const WindowPass& a, const WindowPass& b) {
    const bool are_alike = a.stream.size() == b.stream.size() && a.stream.front().shape() == b.stream.front().shape();
    if (!are_alike) return;
    auto& layers = total_.layers;
    for (std::size_t layer = layers.size(); layer < a.stream.size(); ++layer) {
      layers.push_back({.layer = layer == 0 ? "input" : std::to_string(layer - 1)});
    }
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      for (std::size_t n = 0; n < count; ++n) {
        const double error = relative_error(row_of(a.stream[layer], n), row_of(b.stream[layer], n));
        layers[layer].error += error;
        if (error <= layers[layer].worst) continue;
        layers[layer].worst = error;
        layers[layer].place = static_cast<std::int64_t>(begin + n);
      }
    }
    read_ += static_cast<double>(count);
  }

  ModelComparison finished() {
    const auto count = static_cast<double>(total_.predicted);
    total_.tokens = std::ssize(ids_);
    total_.divergence /= count;
    total_.agreement /= count;
    total_.perplexity_a = std::exp(total_.perplexity_a / count);
    total_.perplexity_b = std::exp(total_.perplexity_b / count);
    for (ComparedLayer& layer : total_.layers) {
      layer.error /= read_;
      layer.token = shown_token(a_.tokenizer(), ids_[static_cast<std::size_t>(layer.place)]);
    }
    return std::move(total_);
  }

  const TextModel& a_;
  const TextModel& b_;
  const CompareOptions& options_;
  const Model a_model_, b_model_;
  std::vector<std::int32_t> ids_;
  ModelComparison total_;
  double read_ = 0;  // tokens of which the layers were compared
};

}  // namespace

ModelComparison compare_models(const TextModel& a, const TextModel& b, std::string_view text,
                               const CompareOptions& options) {
  require_writer("a", a);
  require_writer("b", b);
  if (options.window < 2) {
    throw InvalidArgument(kCompareModels, "window", "2 tokens or more", std::to_string(options.window));
  }
  std::vector<std::int32_t> ids = a.tokenizer().encode(text).ids;
  if (ids.size() < 2) {
    throw InvalidArgument(kCompareModels, "text", "2 tokens or more", std::to_string(ids.size()));
  }
  if (a.tokenizer().size() != b.tokenizer().size() || b.tokenizer().encode(text).ids != ids) {
    throw InvalidArgument(kCompareModels, "b", "a model that cuts the text into the same tokens as `a`",
                          "one that cuts it otherwise");
  }
  return Comparing(a, b, options, std::move(ids)).run();
}

}  // namespace qkv
