#include "qkv/model/batch.h"

#include <algorithm>

#include "model/batch_form.h"
#include "model/pair_embeddings.h"
#include "qkv/autograd/softmax.h"

namespace qkv {
namespace {

std::int64_t length(const std::vector<std::int32_t>& tokens) { return static_cast<std::int64_t>(tokens.size()); }

std::int64_t text_length(const Example& example, BatchLayout layout) {
  return length(example.tokens) + (layout == BatchLayout::joined ? length(example.source) : 0);
}

void write_source(const Example& example, std::int64_t offset, std::int64_t* ids) {
  for (const std::int32_t token : example.source) {
    *ids++ = token == Tokenizer::kPadding ? token : token + offset;
  }
}

void write_tokens(const Example& example, std::int64_t start, Batch& batch) {
  auto* ids = batch.ids.values<std::int64_t>().data() + start;
  auto* targets = batch.targets.values<std::int64_t>().data() + start;
  auto* scored = batch.scored.values<std::int64_t>().data() + start;
  for (std::size_t p = 0; p < example.tokens.size(); ++p) {
    ids[p] = example.tokens[p];
    if (!example.labels[p]) continue;
    targets[p] = *example.labels[p];
    scored[p] = example.scored[p] ? 1 : 0;
  }
}

void write_row(const Tensor& example, std::int64_t b, Tensor& all) {
  const std::span<const float> from = example.values<float>();
  std::ranges::copy(from, all.values<float>().begin() + b * static_cast<std::int64_t>(from.size()));
}

template <class Length>
std::int64_t longest(std::span<const Example> examples, const Length& length_of) {
  std::int64_t most = 1;
  for (const Example& example : examples) most = std::max(most, length_of(example));
  return most;
}

Batch blank_batch(const BatchForm& form, std::span<const Example> examples) {
  const auto count = static_cast<std::int64_t>(examples.size());
  const std::int64_t width = longest(examples, [&](const Example& e) { return text_length(e, form.layout); });
  Batch batch;
  batch.layout = form.layout;
  batch.ids = Tensor(DType::i64, {count, width});
  batch.targets = Tensor(DType::i64, {count, width});
  batch.scored = Tensor(DType::i64, {count, width});
  batch.patches = form.lengths.patches();
  std::ranges::fill(batch.targets.values<std::int64_t>(), kNothingAsked);
  if (form.has_source && form.layout == BatchLayout::apart) {
    batch.source = Tensor(DType::i64, {count, longest(examples, [](const Example& e) { return length(e.source); })});
  }
  const Tensor& image = examples.front().image;
  if (form.lengths.image_side > 0 && !image.empty()) {
    batch.images = Tensor(DType::f32, image.shape().inserted(0, count));
    batch.patches = (image.dim(1) / form.lengths.patch_side) * (image.dim(2) / form.lengths.patch_side);
  }
  const Tensor& sound = examples.front().sound;
  if (!sound.empty()) batch.sounds = Tensor(DType::f32, sound.shape().inserted(0, count));
  return batch;
}

}  // namespace

BatchLayout layout_for(ModelKind kind) noexcept {
  return traits_of(kind).goes_on ? BatchLayout::joined : BatchLayout::apart;
}

ModelInput input_of(const Batch& batch) {
  const bool has_text = std::ranges::any_of(batch.lengths, [](std::int64_t length) { return length > 0; });
  return {.ids = has_text ? batch.ids.view() : TensorView(),
          .lengths = batch.lengths,
          .source = batch.source,
          .source_lengths = batch.source_lengths,
          .images = batch.images,
          .sounds = batch.sounds};
}

std::int64_t joined_source_offset(const Examples& from) {
  return joined_source_offset(from.vocabulary(), from.source_vocabulary());
}

Batch batch_of(const Examples& from, std::span<const Example> examples, BatchLayout layout) {
  return batch_of({.layout = layout,
                   .lengths = from.lengths(),
                   .has_source = from.lengths().source > 0,
                   .source_offset = layout == BatchLayout::joined ? joined_source_offset(from) : 0},
                  examples);
}

std::int64_t joined_source_offset(const Tokenizer& tokens, const Tokenizer& source) {
  return have_same_pieces(tokens, source) ? 0 : tokens.size();
}

Batch batch_of(const BatchForm& form, std::span<const Example> examples) {
  if (examples.empty()) throw InvalidArgument("batch_of", "examples", "one or more", "none");
  Batch batch = blank_batch(form, examples);
  const bool is_joined = form.layout == BatchLayout::joined;
  const std::int64_t offset = is_joined ? form.source_offset : 0;
  for (std::int64_t b = 0; b < batch.ids.dim(0); ++b) {
    const Example& example = examples[static_cast<std::size_t>(b)];
    const std::int64_t row = b * batch.ids.dim(1);
    if (is_joined) {
      write_source(example, offset, batch.ids.values<std::int64_t>().data() + row);
    } else if (!batch.source.empty()) {
      write_source(example, offset, batch.source.values<std::int64_t>().data() + b * batch.source.dim(1));
    }
    write_tokens(example, is_joined ? row + length(example.source) : row, batch);
    if (!batch.images.empty()) write_row(example.image, b, batch.images);
    if (!batch.sounds.empty()) write_row(example.sound, b, batch.sounds);
    batch.lengths.push_back(text_length(example, form.layout));
    batch.source_lengths.push_back(length(example.source));
    batch.tokens += length(example.source) + length(example.tokens) + (batch.images.empty() ? 0 : batch.patches);
  }
  return batch;
}

TensorView weights_of_example(const Batch& batch, std::int64_t b, AttentionSite site, const TensorView& weights) {
  const TensorView all = weights.select(0, b);
  // Images and sounds are of one size; before patches may stand a class token.
  const bool is_of_texts = batch.images.empty() && batch.sounds.empty();
  const std::int64_t source = is_of_texts ? batch.source_lengths[static_cast<std::size_t>(b)] : all.dim(2);
  const std::int64_t end = batch.lengths[static_cast<std::size_t>(b)];
  const std::int64_t begin = batch.layout == BatchLayout::joined ? source : 0;
  switch (site) {
    case AttentionSite::source:
      return all.slice(1, 0, source).slice(2, 0, source);
    case AttentionSite::cross:
      return all.slice(1, begin, end).slice(2, 0, source);
    case AttentionSite::tokens:
      break;
  }
  return all.slice(1, begin, end).slice(2, begin, end);
}

Variable batch_loss(const Model& model, const Batch& batch, const ModelCall& call) {
  return model.loss(input_of(batch), batch.targets, call);
}

Tensor batch_cosines(const Model& model, const Batch& batch) {
  const NoGradient constant;
  const TwoTower* towers = model.parts().towers;
  if (towers == nullptr) {
    throw InvalidArgument("batch_cosines", "model", "a two-tower model", name_of(model.kind()));
  }
  const PairEmbeddings embeddings(*towers, batch);
  std::vector<double> cosines;
  for (std::int64_t b = 0; b < batch.size(); ++b) cosines.push_back(embeddings.cosine(b, b));
  return {cosines, {batch.size()}};
}

}  // namespace qkv
