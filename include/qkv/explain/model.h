// A trained model explained, from text or image to the answer: what it says, what every head looks at, each step of one
// layer, the residual stream, and what each part and each head does for the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/explain.h"
#include "qkv/model/text_model.h"
#include "qkv/tensor.h"

namespace qkv {

/// What a model is shown, and which part of it to look at. One of text, picture and example is given; to two towers a
/// text or a picture without captions shows the one tower that reads it.
struct ModelQuestion {
  std::string title = {};                              // what the explanation calls the model
  std::optional<std::string> text = std::nullopt;      // UTF-8, of the model's own tokens
  Tensor picture = {};                                 // u8 [H, W, 3], for a model that reads images
  std::optional<std::int64_t> example = std::nullopt;  // of the held-out ones of its task
  std::vector<std::string> captions = {};              // of a two-tower model: what the picture may show
  std::optional<std::int64_t> answer = std::nullopt;   // tokens to write after the text; as its task asks if not given
  std::optional<std::string> site = std::nullopt;      // "tokens", "source" or "cross"
  std::optional<std::int64_t> layer = std::nullopt;
  std::optional<std::int64_t> head = std::nullopt;
  std::optional<std::string> query = std::nullopt;  // a token to write out, or its index
  bool blocks = false;                              // show every block, not that of the head alone
  bool chat = false;                                // the text is a message, read in the model's chat template
  bool whys = false;                                // answer why, from the numbers of the head's layer
  bool removal = false;                             // what each head's removal does, also where that takes long
};

/// What the model reads of a question: the example, with the answer that the model writes where its task wants one.
/// Throws as explain_model().
[[nodiscard]] Example shown_example(const TextModel& model, const ModelQuestion& question);

/// Runs the model and shows what ran, in its own dtype: what it says, one head, how well each head shows the patterns
/// of the task, the image if there is one, every head, each step of the layer of that head, its block with the residual
/// stream, the scores and probabilities of one answer (at the query; else where the pattern or the task asks for one),
/// what each part of the residual stream adds to its score (pre-norm), and the change of its probability if a head
/// gives zeros, for which the model runs once for each head. That step is left out where it would take more than about
/// a second, unless question.removal asks for it. All else needs one pass. Where the question leaves layer and head
/// open, the text decides: of the patterns of the task that it has, the head with the largest mean weight on one;
/// without a pattern, the head that shows one best on 16 held-out examples; else the last layer, across if the model
/// has such attention.
/// Allocates every T x T matrix. Throws InvalidArgument naming the member of the question.
[[nodiscard]] Explanation explain_model(const TextModel& model, const ModelQuestion& question);

/// What says the most in the least room: no details, beside a query no steps at all, and of the maps over an image
/// those of the tokens that have a pattern, if any has one.
[[nodiscard]] Explanation in_short(const Explanation& explanation);
/// That, the overview of all heads, and the maps of the other heads that show a pattern.
[[nodiscard]] Explanation with_known_heads(const Explanation& explanation);

}  // namespace qkv
