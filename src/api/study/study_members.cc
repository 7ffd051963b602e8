// What the figures of `qkv bench` hold.
#include "qkv/api/study.h"

namespace qkv {

Members<VariantFigures> describe(const VariantFigures* /*type*/) {
  using F = VariantFigures;
  return Members<F>("VariantFigures")
      .add(&F::tokens, "tokens", "T, of queries and of keys")
      .add(&F::variant, "variant", "Its name; a mask as it was given")
      .add_if_there(&F::seconds, "seconds", "Median; this and what follows unless it was skipped")
      .add_if_there(&F::runs, "runs", "That were timed")
      .add_if_there(&F::bytes, "bytes", "On the heap at most at once, without inputs and out")
      .add_if_there(&F::rms_error, "rms_error", "Root of the mean square, over that of the exact rows")
      .add_if_there(&F::max_error, "max_error", "The largest, over the sampled rows")
      .add_if_there(&F::pairs, "pairs", "Share of the T x T pairs that count; null of linear attention")
      .add_if_there(&F::tiles, "tiles", "Share of the 64 x 64 tiles computed; null likewise")
      .add_if_there(&F::skipped, "skipped", "Why it was not run");
}

Members<VariantsFigures> describe(const VariantsFigures* /*type*/) {
  using F = VariantsFigures;
  return Members<F>("VariantsFigures")
      .add(&F::heads, "heads", "How many")
      .add(&F::head_dim, "head_dim", "Their width")
      .add(&F::causal, "causal", "Whether each token sees itself and earlier ones alone")
      .add(&F::dtype, "dtype", "Of the inputs")
      .add(&F::threads, "threads", "That computed")
      .add(&F::data, "data", "random, or local: neighbouring tokens are alike")
      .add(&F::seed, "seed", "Of the inputs and of the random blocks")
      .add(&F::window, "window", "Keys to either side, itself included")
      .add(&F::stride, "stride", "Of the strided pattern")
      .add(&F::block, "block", "Side of the block-sparse pattern's blocks")
      .add(&F::sampled_rows, "sampled_rows", "Of each head, over which errors are taken")
      .add(&F::results, "results", "Each variant at each length");
}

Members<PositionFigures> describe(const PositionFigures* /*type*/) {
  using F = PositionFigures;
  return Members<F>("PositionFigures")
      .add(&F::positions, "positions", "Their kind")
      .add(&F::addressing, "addressing", "absolute, relative, or - of none")
      .add(&F::parameters, "parameters", "Of the model")
      .add_if_there(&F::loss, "loss", "Of the last step; this and what follows unless training failed")
      .add_if_there(&F::seconds, "seconds", "Of training")
      .add_if_there(&F::accuracy, "accuracy", "Share of the answers that are as expected, at each test length")
      .add_if_there(&F::failed, "failed", "Why training ended");
}

Members<PositionsFigures> describe(const PositionsFigures* /*type*/) {
  using F = PositionsFigures;
  return Members<F>("PositionsFigures")
      .add(&F::task, "task", "What was learned")
      .add(&F::unit, "unit", "What lengths count")
      .add(&F::train_length, "train_length", "Of the examples in training")
      .add(&F::test_lengths, "test_lengths", "Of the examinations")
      .add(&F::layers, "layers", "Blocks")
      .add(&F::d_model, "d_model", "Width")
      .add(&F::heads, "heads", "Of a block")
      .add(&F::steps, "steps", "Of training")
      .add(&F::batch, "batch", "Examples of a step")
      .add(&F::learning_rate, "learning_rate", "The highest")
      .add(&F::examples, "examples", "Held out, of each length")
      .add(&F::seed, "seed", "Of the models and the examples")
      .add(&F::trained_places, "trained_places", "Places of the longest text in training")
      .add(&F::results, "results", "Each kind");
}

Members<BottleneckSizes> describe(const BottleneckSizes* /*type*/) {
  return Members<BottleneckSizes>("BottleneckSizes")
      .add(&BottleneckSizes::vector, "vector", "Of the model with one vector")
      .add(&BottleneckSizes::attention, "attention", "Of the model with attention");
}

Members<BottleneckShares> describe(const BottleneckShares* /*type*/) {
  return Members<BottleneckShares>("BottleneckShares")
      .add(&BottleneckShares::letters, "letters", "Share of them that are right")
      .add(&BottleneckShares::texts, "texts", "Share of them that are right throughout");
}

Members<BottleneckLength> describe(const BottleneckLength* /*type*/) {
  using L = BottleneckLength;
  return Members<L>("BottleneckLength")
      .add(&L::length, "length", "Letters of a text")
      .add(&L::vector, "vector", "Through one vector")
      .add(&L::attention, "attention", "With attention over all states");
}

Members<BottleneckFigures> describe(const BottleneckFigures* /*type*/) {
  using F = BottleneckFigures;
  return Members<F>("BottleneckFigures")
      .add(&F::parameters, "parameters", "How many each model has")
      .add(&F::longest, "longest", "Letters of the longest texts in training")
      .add(&F::steps, "steps", "Of training")
      .add(&F::batch, "batch", "Texts of a step")
      .add(&F::learning_rate, "learning_rate", "The highest")
      .add(&F::seed, "seed", "Of the models and the texts")
      .add(&F::lengths, "lengths", "How well texts of each length are repeated");
}

}  // namespace qkv
