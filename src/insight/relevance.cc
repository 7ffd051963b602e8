#include "qkv/insight/relevance.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/scope.h"
#include "qkv/autograd/shape.h"
#include "qkv/model/attention_site.h"
#include "qkv/nn/parameters.h"

namespace qkv {
namespace {

Variable identity(std::int64_t size) {
  Tensor matrix(DType::f64, {size, size});
  for (std::int64_t n = 0; n < size; ++n) matrix.set({n, n}, 1);
  return Variable(std::move(matrix));
}

// Equation 5: [Tq, Tk], the mean over heads of the positive part of weight times gradient.
Variable relevant_weights(const Trace& trace, const std::string& attention) {
  const Tensor weights = trace[attention + ".weights"];
  const GradientProbe gradients = trace.gradient_probe(attention);
  const std::int64_t heads = weights.dim(1);
  const std::int64_t Tq = weights.dim(2);
  const std::int64_t Tk = weights.dim(3);
  std::vector<double> mean(static_cast<std::size_t>(Tq * Tk));
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::vector<double> weight = weights.view().select(0, 0).select(0, h).to_vector();
    const std::vector<double> gradient =
        gradients.tile({.b = 0, .h = h, .i_end = Tq, .j_end = Tk}, Stage::weights).view().to_vector();
    for (std::size_t n = 0; n < mean.size(); ++n) {
      mean[n] += std::max(0.0, weight[n] * gradient[n]) / static_cast<double>(heads);
    }
  }
  return Variable(Tensor(mean, {Tq, Tk}));
}

// Equation 6 over the self-attention of a stack.
Variable through_layers(const Trace& trace, const SiteScope& scope, std::int64_t tokens) {
  Variable R = identity(tokens);
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope.layers); ++layer) {
    R = R + matmul(relevant_weights(trace, scope.name(layer)), R);
  }
  return R;
}

// Equations 8 and 9: without its identity a row sums to 1, and the identity is added again.
Variable normalised_rows(const Variable& R) {
  Tensor rows(R.value());
  const std::int64_t size = rows.dim(0);
  for (std::int64_t i = 0; i < size; ++i) {
    rows.set({i, i}, rows.at({i, i}) - 1);
    double sum = 0;
    for (std::int64_t j = 0; j < size; ++j) sum += rows.at({i, j});
    for (std::int64_t j = 0; sum > 0 && j < size; ++j) rows.set({i, j}, rows.at({i, j}) / sum);
  }
  return Variable(std::move(rows)) + identity(size);
}

// The one place of [1, T, d] that stands for the whole, which alone has a gradient.
std::int64_t place_read(const Trace& trace, const std::string& states) {
  const Tensor gradient = trace.gradient(states);
  std::int64_t place = 0;
  double most = 0;
  for (std::int64_t t = 0; t < gradient.dim(1); ++t) {
    double size = 0;
    for (const double value : gradient.view().select(0, 0).select(0, t).to_vector()) size += std::abs(value);
    if (size <= most) continue;
    most = size;
    place = t;
  }
  return place;
}

// What a place, or the mean of all, has from others: its row without the 1 that each began with.
std::vector<double> row_at(const Variable& R, std::int64_t place) {
  std::vector<double> row = R.value().select(0, place).to_vector();
  row[static_cast<std::size_t>(place)] -= 1;
  return row;
}

std::vector<double> mean_row(const Variable& R) { return mean(R - identity(R.dim(0)), {0}).value().to_vector(); }

std::vector<double> image_row(const TwoTowerOptions& options, const Trace& trace, std::int64_t tokens) {
  const Variable R = through_layers(trace, {"image.", "attn", options.image_layers}, tokens);
  switch (options.image_pooling) {
    case ImagePooling::mean:
      return mean_row(R);
    case ImagePooling::attention:
      return matmul(relevant_weights(trace, "image_pool.attn"), R).value().to_vector();
    case ImagePooling::class_token:
      break;
  }
  std::vector<double> row = row_at(R, 0);
  row.erase(row.begin());
  return row;
}

std::vector<double> text_row(const TwoTowerOptions& options, const Trace& trace, std::int64_t tokens) {
  const Variable R = through_layers(trace, {"text.", "attn", options.text_layers}, tokens);
  return options.text_pooling == TextPooling::mean ? mean_row(R) : row_at(R, place_read(trace, "text"));
}

Tensor batch_of_one(const TensorView& image) {
  return Tensor(image).reshape({1, image.dim(0), image.dim(1), image.dim(2)});
}

Tensor row_of(std::span<const std::int32_t> tokens) {
  return {std::vector<std::int64_t>(tokens.begin(), tokens.end()), {1, std::ssize(tokens)}};
}

// Equations 6 and 10 over the blocks of a decoder: from the last token to the patches.
std::vector<double> last_row(const Trace& trace, const CaptionerOptions& options, std::int64_t tokens,
                             std::int64_t patches) {
  const Variable image = normalised_rows(through_layers(trace, {"encoder.", "attn", options.encoder_layers}, patches));
  const SiteScope self{"decoder.", "attn", options.layers};
  const SiteScope cross{"decoder.", "cross", options.layers};
  Variable text = identity(tokens);
  Variable R(Tensor(DType::f64, {tokens, patches}));
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(options.layers); ++layer) {
    const Variable within = relevant_weights(trace, self.name(layer));
    R = R + matmul(within, R);
    text = text + matmul(within, text);
    const Variable read = matmul(relevant_weights(trace, cross.name(layer)), image);
    R = R + matmul(transpose(normalised_rows(text), 0, 1), read);
  }
  return R.value().select(0, tokens - 1).to_vector();
}

}  // namespace

PairRelevance pair_relevance(const TwoTower& towers, const TensorView& image, std::span<const std::int32_t> tokens) {
  const TwoTowerOptions& options = towers.options();
  Trace image_trace({"image", "*.attn"});
  Trace text_trace({"text", "*.attn"});
  const Variable embedded = towers.embed_images(batch_of_one(image), {.trace = &image_trace});
  const Tensor ids = row_of(tokens);
  const Variable cosine = sum(embedded * towers.embed_texts({.ids = ids}, {.trace = &text_trace}));
  backward(cosine);
  const std::int64_t rows = (options.image_side - options.image_margin) / options.patch_side;
  const std::int64_t before = options.image_pooling == ImagePooling::class_token ? 1 : 0;
  const NoGradient constant;
  PairRelevance relevance{.cosine = cosine.item(),
                          .patches = Tensor(image_row(options, image_trace, rows * rows + before), {rows, rows}),
                          .tokens = Tensor(text_row(options, text_trace, std::ssize(tokens)), {std::ssize(tokens)})};
  clear_gradients(towers.parameters());
  return relevance;
}

Tensor caption_relevance(const Captioner& captioner, const TensorView& image, std::span<const std::int32_t> tokens,
                         std::span<const std::int32_t> said) {
  if (said.size() != tokens.size()) {
    throw InvalidArgument("caption_relevance", "said", std::to_string(tokens.size()) + ", a token for each place",
                          std::to_string(said.size()));
  }
  const CaptionerOptions& options = captioner.options();
  const Tensor images = batch_of_one(image);
  const std::int64_t rows = options.image_side / options.patch_side;
  std::vector<double> all;
  for (std::size_t p = 0; p < tokens.size(); ++p) {
    Trace trace({"*.attn", "*.cross"});
    const Variable scores = captioner.forward(images, row_of(tokens.first(p + 1)), {.trace = &trace});
    const auto place = static_cast<std::int64_t>(p);
    backward(sum(slice(slice(scores, 1, place, place + 1), 2, said[p], said[p] + 1)));
    const NoGradient constant;
    const std::vector<double> row = last_row(trace, options, place + 1, rows * rows);
    all.insert(all.end(), row.begin(), row.end());
  }
  clear_gradients(captioner.parameters());
  return {all, {std::ssize(tokens), rows, rows}};
}

}  // namespace qkv
