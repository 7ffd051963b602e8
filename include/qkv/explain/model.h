// A trained model explained on a text or an image: its answer, what every head looks at, each step of one layer, the
// residual stream, and what each part and each head adds to the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/explain.h"
#include "qkv/model/shown.h"
#include "qkv/model/text_model.h"
#include "qkv/nn/trace.h"
#include "qkv/tensor.h"
#include "qkv/wav.h"

namespace qkv {

/// What a model is shown, and which part of it to look at. Needs one of text, messages, picture, sound
/// and example. Of two towers, a text or a picture without captions shows only the tower that reads it.
struct ModelQuestion {
  std::string title = {};                              // what the explanation calls the model
  std::optional<std::string> text = std::nullopt;      // UTF-8, of the model's own tokens
  Tensor picture = {};                                 // u8 [H, W, 3], for a model that reads images
  std::optional<Sound> sound = std::nullopt;           // for a model that reads sound
  std::optional<std::int64_t> example = std::nullopt;  // which held-out example of its task
  std::vector<std::string> captions = {};              // of a two-tower model: what the picture may show
  std::optional<std::int64_t> answer = std::nullopt;   // tokens to write after the text; default: as its task asks
  std::optional<std::string> site = std::nullopt;      // "tokens", "source" or "cross"
  std::optional<std::int64_t> layer = std::nullopt;
  std::optional<std::int64_t> head = std::nullopt;
  std::optional<std::string> query = std::nullopt;  // a token to write out, or its index
  bool blocks = false;                              // show every block, not only that of the head
  std::vector<ChatMessage> messages = {};           // or a conversation, in the model's chat template
  bool whys = false;                                // answer why, from the numbers of the head's layer
  bool removal = false;                             // show what each head's removal does, even if that takes long
};

/// What a pass over one example left of it.
struct ModelPass {
  Example example;  // with the answer that was written
  Trace trace;      // of its attentions, and of nothing else
  Tensor said;      // f64 [vocabulary]: scores at the place that the task asks of; empty of a model that says no tokens
};

/// The example that the model reads for a question, with the model's answer if its task wants one, whose tokens are
/// "answer" in a conversation. Throws as explain_model().
[[nodiscard]] ReadExample shown_example(const TextModel& model, const ModelQuestion& question);

/// Runs the model in its own dtype and shows, step by step:
/// - its answer, one head, how well each head shows the patterns of the task, the image if there is one, every head;
/// - each step of that head's layer, and its block with the residual stream;
/// - the scores and probabilities of one answer: at the query, else where the pattern or the task asks for one;
/// - what each part of the residual stream adds to the answer's score, of pre-norm models;
/// - how the answer's probability changes if a head gives zeros: a pass for each head, left out if these would take
///   more than about a second, unless question.removal asks for it. All else needs one pass.
/// If the question does not say layer and head, it is the head with the largest mean weight on a pattern of the task
/// that the text has; without such a pattern, the head that shows one best on 16 held-out examples; else a head of the
/// last layer, of its cross-attention if it has one.
///
/// A text of up to 1,024 tokens allocates every T x T matrix. Of a longer one, which a decoder or an encoder reads
/// alone, layers are read one at a time: maps of heads are means over blocks, patterns and spreads are of some thousand
/// queries, and steps show the last 64 queries (or those up to question.query) over all keys; removal is left out, and
/// a head that the question leaves open is chosen by held-out examples, before the pass.
/// Memory is O(T * D) beside what a pass needs, of up to 32,768 tokens. Throws InvalidArgument naming the member of
/// the question.
[[nodiscard]] Explanation explain_model(const TextModel& model, const ModelQuestion& question);

/// The most telling steps, without details; with a query, no steps. Of the maps over an image only those of tokens that
/// have a pattern, if any has one.
[[nodiscard]] Explanation in_short(const Explanation& explanation);
/// in_short(), and with it the overview of all heads and the maps of the other heads that show a pattern.
[[nodiscard]] Explanation with_known_heads(const Explanation& explanation);

}  // namespace qkv
