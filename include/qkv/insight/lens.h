// What a model would say after each layer, and what each part of the residual stream adds to a logit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/insight/change.h"

namespace qkv {

/// The likeliest token at one place of one layer.
struct LensCell {
  std::int32_t token = 0;
  std::string shown = {};
  double probability = 0;
};

/// The logit lens (nostalgebraist 2020): the state after each layer, read by the last norm and output map of the model.
struct LogitLens {
  std::vector<std::string> tokens = {};          // T
  std::vector<std::string> sources = {};         // likewise, of a conversation
  std::vector<std::string> layers = {};          // "input", which block 0 reads, then "0", … of each block's output
  std::vector<std::vector<LensCell>> said = {};  // [layers][T]
  std::int64_t place = 0;
  std::string answer = {};
  bool is_expected = false;
  std::vector<TokenScore> scores = {};  // [layers] of the answer at the place
  Tensor probabilities = {};            // f64 [layers, T] of the answer
};

/// One pass, and Model::read_out() of the state after each layer, so that what reads it is the model's own code. Throws
/// InvalidArgument as change_text() for the question, and naming model for one that says no tokens.
[[nodiscard]] LogitLens logit_lens(const TextModel& trained, const TextQuestion& question);

/// What the parts of one layer add.
struct LayerParts {
  std::vector<double> heads = {};  // of self-attention
  std::vector<double> cross = {};  // of cross-attention
  double bias = 0;                 // of their output maps, and of norms after them
  double feed_forward = 0;
};

/// A logit, or the difference of two, as a sum over the parts of the residual stream (direct logit attribution; Elhage
/// et al. 2021). The last norm divides by what it divided by; with that held, the logit is linear in the stream. What a
/// part does through later layers is counted there.
struct LogitParts {
  double logit = 0;  // that the model computed, before a cap of logits
  double embedding = 0;
  std::vector<LayerParts> layers = {};
  double constant = 0;  // biases of the last norm and of the output map
  /// What each head reads from each key, as its part: sums over keys to LayerParts. f64 [layers, heads, keys].
  Tensor keys = {};
  Tensor cross_keys = {};  // empty without cross-attention

  [[nodiscard]] double sum() const;
};

/// Of the text at `place` of ids, the logit of `token`; less that of `against`. One pass. Throws InvalidArgument naming
/// model for one whose residual stream has no last norm before the output map (post-norm blocks, BERT's head), or that
/// says no tokens.
[[nodiscard]] LogitParts logit_parts(const Model& model, const HeadText& text, std::int64_t place, std::int32_t token,
                                     std::optional<std::int32_t> against = std::nullopt);

/// Both of one question; parts are none where logit_parts() has none.
struct LensReport {
  LogitLens lens = {};
  std::optional<std::string> against = std::nullopt;
  std::optional<LogitParts> parts = std::nullopt;
  std::vector<std::string> keys = {};        // the tokens that self-attention reads
  std::vector<std::string> cross_keys = {};  // the source's tokens, or numbers of patches
};
[[nodiscard]] LensReport lens_report(const TextModel& trained, const TextQuestion& question);

/// For people, in `width` columns: the lens over as many places as fit, up to the one that is looked at; the answer
/// layer by layer; the parts that add most, and the keys that they are read from.
[[nodiscard]] std::string lens_table(const LensReport& report, const std::string& model, int width = 80);
/// The answer's probability and that of the likeliest token, layer by place, and what heads and keys add.
[[nodiscard]] Panel lens_panel(const LensReport& report, const std::string& model);

}  // namespace qkv
