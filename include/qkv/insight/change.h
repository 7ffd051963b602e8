// What interventions do to what a model says: of one text the answer before and after, over many texts the loss, and
// sweeps over heads and places.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qkv/insight/interventions.h"
#include "qkv/model/embed.h"
#include "qkv/model/shown.h"
#include "qkv/model/text_model.h"
#include "qkv/picture/heatmap.h"

namespace qkv {

/// One text, or what a model is shown in its place, and the token that is looked at.
struct TextQuestion {
  std::optional<std::string> text = std::nullopt;      // UTF-8; a model that answers writes its answer after it
  std::optional<std::int64_t> example = std::nullopt;  // of the held-out ones, in place of a text
  std::optional<std::string> query = std::nullopt;     // where: a token or its index; else the last that is asked
  std::optional<std::string> token = std::nullopt;     // the answer; else the expected token, else the likeliest
  std::optional<std::string> against = std::nullopt;   // the token that the answer is held against
  std::vector<ChatMessage> messages = {};              // in place of a text, as Shown has them …
  Tensor picture = {};
  std::optional<Sound> sound = std::nullopt;

  [[nodiscard]] Shown shown() const {
    return {.text = text, .messages = messages, .picture = picture, .sound = sound, .example = example};
  }
};

struct ChangeQuestion {
  TextQuestion of = {};
  /// The other text, as many tokens long. Its likeliest token is what the answer is held against, if that is another
  /// one and `of.against` is none.
  std::optional<std::string> from_text = std::nullopt;
  std::optional<std::int64_t> from_example = std::nullopt;  // a held-out example, in place of the other text
  std::vector<ChatMessage> from_messages = {};              // a conversation, likewise
  std::vector<Intervention> interventions = {};
  EmbedOptions vectors = {};  // how states become a vector, of a model without scores of tokens
};

/// A token at the place that is looked at.
struct TokenScore {
  double logit = 0;
  double probability = 0;
  std::int64_t rank = 0;  // 1 is the likeliest
};
struct TokenChange {
  std::int32_t token = 0;
  std::string shown = {};  // as shown_token() has it
  TokenScore before = {};
  TokenScore after = {};
};

/// The cosine of a picture and a text, of two towers.
struct PairChange {
  double before = 0;
  double after = 0;
};

struct TextChange {
  std::vector<std::string> tokens = {};  // T, as shown_token() has them
  std::vector<std::string> from = {};    // of the other text
  std::int64_t place = 0;
  bool is_expected = false;  // the answer is what the task, or the text, has there
  std::optional<TokenChange> answer = std::nullopt;
  std::optional<TokenChange> against = std::nullopt;
  std::vector<TokenChange> moved = {};  // by the change of their probability, the largest first
  std::vector<TokenChange> risen = {};  // by the rise of their logit
  std::vector<TokenChange> fallen = {};
  std::vector<double> divergence = {};  // [T]: KL(before, after) in nats of what is said at each place
  /// Of a model without scores of tokens: the cosine of each token's last state before and after, and of the pooled
  /// ones.
  std::vector<double> state_cosines = {};
  std::optional<double> vector_cosine = std::nullopt;
  std::optional<PairChange> pair = std::nullopt;
};

/// Three passes at most, and what the interventions need. Throws InvalidArgument naming text, example, query, token,
/// against, from_text, from_example or the kind of an intervention.
[[nodiscard]] TextChange change_text(const TextModel& trained, const ChangeQuestion& question);

/// Means over all targets of all texts.
struct LossChange {
  std::int64_t texts = 0;
  std::int64_t asked = 0;   // targets
  std::int64_t scored = 0;  // those that count in the accuracy
  double loss_before = 0;   // nats
  double loss_after = 0;
  double accuracy_before = 0;
  double accuracy_after = 0;
  std::int64_t worse = 0;  // texts whose loss rises
  /// Of a model without scores of tokens, instead: means of the cosines.
  std::optional<double> state_cosine = std::nullopt;
  std::optional<double> vector_cosine = std::nullopt;
  std::optional<PairChange> pair = std::nullopt;  // of two towers: the mean
};

/// The texts one after the other. Throws as change_text(), and naming texts if there are none, or none asks for a
/// token.
[[nodiscard]] LossChange change_texts(const TextModel& trained, std::span<const HeadText> texts,
                                      const ChangeQuestion& question);

/// Changes of one measure of the answer, one intervention at a time.
struct SweepMap {
  std::string name;                       // "tokens": the site, or "resid_post"
  Tensor changes;                         // f64 [layers, heads or places]
  std::vector<std::string> rows = {};     // "0", …; of places first "input"
  std::vector<std::string> columns = {};  // heads or tokens
};
struct Sweep {
  std::string measure;  // "log-probability of “x”", "logit of “x” less that of “y”"
  double before = 0;
  std::optional<double> other = std::nullopt;  // of places: the measure of the other text
  std::vector<SweepMap> maps = {};
};

/// Each head removed, beside the interventions of the question: a pass each. `doing` is told what is going on.
[[nodiscard]] Sweep sweep_heads(const TextModel& trained, const ChangeQuestion& question,
                                const std::function<void(const std::string& what)>& doing = {});
/// Activation patching (causal tracing; Meng et al. 2022, section 2.1): of the stack that says tokens the input and
/// each block's output, at each place, from the other text. A pass for each.
[[nodiscard]] Sweep sweep_places(const TextModel& trained, const ChangeQuestion& question,
                                 const std::function<void(const std::string& what)>& doing = {});

/// For people, in at most 80 columns but for tokens. `model` says whose.
[[nodiscard]] std::string change_table(const TextChange& change, const ChangeQuestion& question,
                                       const std::string& model);
[[nodiscard]] std::string change_table(const LossChange& change, const ChangeQuestion& question,
                                       const std::string& model);
/// A heatmap for each map, of one scale.
[[nodiscard]] Panel sweep_panel(const Sweep& sweep, const std::string& title);
/// The five largest changes of each map in words, a line a map.
[[nodiscard]] std::string sweep_table(const Sweep& sweep);

}  // namespace qkv
