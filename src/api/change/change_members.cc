// What the figures of `qkv change` hold.
#include "qkv/api/change.h"

namespace qkv {

Members<ChangeAsked> describe(const ChangeAsked* /*type*/) {
  using A = ChangeAsked;
  return Members<A>("ChangeAsked")
      .add(&A::model, "model", "Whose")
      .add(&A::interventions, "interventions", "As they were read")
      .add_if_there(&A::from_text, "from_text", "The other text")
      .add_if_there(&A::from_example, "from_example", "Or the number of the other example")
      .add_cautions();
}

Members<BeforeAndAfter> describe(const BeforeAndAfter* /*type*/) {
  return Members<BeforeAndAfter>("BeforeAndAfter")
      .add(&BeforeAndAfter::before, "before", "Of the untouched run")
      .add(&BeforeAndAfter::after, "after", "Of the changed one");
}

Members<ChangeScore> describe(const ChangeScore* /*type*/) {
  return Members<ChangeScore>("ChangeScore")
      .add(&ChangeScore::logit, "logit", "Before the softmax over the vocabulary")
      .add(&ChangeScore::probability, "probability", "After it")
      .add(&ChangeScore::rank, "rank", "1 is the likeliest");
}

Members<ChangedToken> describe(const ChangedToken* /*type*/) {
  using T = ChangedToken;
  return Members<T>("ChangedToken")
      .add(&T::token, "token", "Its number")
      .add(&T::piece, "piece", "As people read it")
      .add(&T::before, "before", "Of the untouched run")
      .add(&T::after, "after", "Of the changed one");
}

Members<ChangeFigures> describe(const ChangeFigures* /*type*/) {
  using F = ChangeFigures;
  return Members<F>("ChangeFigures")
      .add(members_of<ChangeAsked>())
      .add(&F::tokens, "tokens", "The text")
      .add_if_there(&F::from_tokens, "from_tokens", "The other text")
      .add(&F::place, "place", "Where it is looked at")
      .add_if_there(&F::cosine, "cosine", "Of two towers: of picture and text")
      .add_if_there(&F::state_cosines, "state_cosines",
                    "Of a model of states: of each token's last state before and after")
      .add_if_there(&F::vector_cosine, "vector_cosine", "Likewise of the text's vector")
      .add_if_there(&F::answer, "answer",
                    "The token that is asked for; this and what follows of a model that says tokens")
      .add_if_there(&F::is_expected, "is_expected", "Whether the task, or the text, has it there")
      .add_if_there(&F::against, "against", "What it is held against")
      .add_if_there(&F::moved, "moved", "By the change of their probability, the largest first")
      .add_if_there(&F::risen, "risen", "By the rise of their logit")
      .add_if_there(&F::fallen, "fallen", "By its fall")
      .add_if_there(&F::divergence, "divergence", "KL(before, after) in nats, at each place")
      .add(&F::sentence, "sentence", "In words");
}

Members<ChangeOfTexts> describe(const ChangeOfTexts* /*type*/) {
  using F = ChangeOfTexts;
  return Members<F>("ChangeOfTexts")
      .add(members_of<ChangeAsked>())
      .add(&F::texts, "texts", "How many")
      .add_if_there(&F::cosine, "cosine", "Of two towers: of picture and text, the mean")
      .add_if_there(&F::vector_cosine, "vector_cosine",
                    "Of a model of states: of a text's vector before and after, the mean")
      .add_if_there(&F::state_cosine, "state_cosine", "Likewise of a token's last state")
      .add_if_there(&F::asked, "asked", "Tokens asked for; this and what follows of a model that says tokens")
      .add_if_there(&F::scored, "scored", "Those that count in the accuracy")
      .add_if_there(&F::loss, "loss", "Mean of them, in nats")
      .add_if_there(&F::accuracy, "accuracy", "Share of the scored ones that are right")
      .add_if_there(&F::worse, "worse", "Texts whose loss rises");
}

Members<SweepFigure> describe(const SweepFigure* /*type*/) {
  using F = SweepFigure;
  return Members<F>("SweepFigure")
      .add(&F::name, "name", "The site of the heads; resid_post of places")
      .add(&F::rows, "rows", "Layers; of places first input")
      .add(&F::columns, "columns", "Heads, or tokens")
      .add(&F::changes, "changes", "Of the measure: a list for each row");
}

Members<SweepFigures> describe(const SweepFigures* /*type*/) {
  using F = SweepFigures;
  return Members<F>("SweepFigures")
      .add(members_of<ChangeAsked>())
      .add(&F::measure, "measure", "What changes")
      .add(&F::before, "before", "It without a change")
      .add_if_there(&F::other, "other", "Of places: it of the other text")
      .add(&F::maps, "maps", "One for each site");
}

}  // namespace qkv
