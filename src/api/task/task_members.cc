// What the figures of `qkv task` hold.
#include "qkv/api/task.h"

namespace qkv {

Members<TaskInfo::Length> describe(const TaskInfo::Length* /*type*/) {
  using L = TaskInfo::Length;
  return Members<L>("TaskLength")
      .add(&L::unit, "unit", "What it counts")
      .add(&L::usual, "usual", "The default")
      .add(&L::least, "least", "That it may be")
      .add(&L::most, "most", "Likewise");
}

Members<PatternRow> describe(const PatternRow* /*type*/) {
  return Members<PatternRow>("PatternRow")
      .add(&PatternRow::query, "query", "A place of the tokens")
      .add(&PatternRow::keys, "keys", "That it should attend to, in rising order");
}

Members<Dependency> describe(const Dependency* /*type*/) {
  return Members<Dependency>("Dependency")
      .add(&Dependency::head, "head", "The word that it hangs on; null of the root")
      .add(&Dependency::label, "label", "nsubj, obj, det and the like");
}

Members<Coreference> describe(const Coreference* /*type*/) {
  return Members<Coreference>("Coreference")
      .add(&Coreference::mention, "mention", "The pronoun's place")
      .add(&Coreference::antecedent, "antecedent", "The noun's that it stands for");
}

Members<Syntax> describe(const Syntax* /*type*/) {
  return Members<Syntax>("Syntax")
      .add(&Syntax::sentence, "sentence", "As it reads with nothing hidden")
      .add(&Syntax::dependencies, "dependencies", "One for each word")
      .add(&Syntax::coreferences, "coreferences", "Pronouns and their nouns");
}

Members<TaskSummary> describe(const TaskSummary* /*type*/) {
  using S = TaskSummary;
  return Members<S>("TaskSummary")
      .add(&S::name, "name", "Its name")
      .add(&S::description, "description", "What a model learns")
      .add(&S::kind, "kind", "decoder, encoder, encoder-decoder or image-text")
      .add(&S::model, "model", "That learns it")
      .add(&S::accuracy, "accuracy", "Share of the scored answers that a trained model must get right")
      .add_if_there(&S::length, "length", "How long examples get");
}

Members<TaskList> describe(const TaskList* /*type*/) {
  return Members<TaskList>("TaskList").add(&TaskList::tasks, "tasks", "The simplest first");
}

Members<TaskExtents> describe(const TaskExtents* /*type*/) {
  return Members<TaskExtents>("TaskExtents")
      .add(&TaskExtents::tokens, "tokens", "Of the longest example")
      .add(&TaskExtents::source, "source", "Likewise; 0 where there is no source")
      .add(&TaskExtents::patches, "patches", "Of an image; 0 where there is none");
}

Members<TaskVocabularies> describe(const TaskVocabularies* /*type*/) {
  return Members<TaskVocabularies>("TaskVocabularies")
      .add(&TaskVocabularies::tokens, "tokens", "Pieces of tokens and labels")
      .add(&TaskVocabularies::source, "source", "Of the source");
}

Members<TaskPattern> describe(const TaskPattern* /*type*/) {
  return Members<TaskPattern>("TaskPattern")
      .add(&TaskPattern::name, "name", "Its name")
      .add(&TaskPattern::site, "site", "tokens, source or cross")
      .add(&TaskPattern::description, "description", "Which keys it is on");
}

Members<ShownExample> describe(const ShownExample* /*type*/) {
  using E = ShownExample;
  return Members<E>("ShownExample")
      .add(&E::n, "n", "Its number")
      .add(&E::source, "source", "Pieces; none where there is no source")
      .add(&E::tokens, "tokens", "Pieces")
      .add(&E::labels, "labels", "What is to be said at each; null where nothing is asked")
      .add(&E::scored, "scored", "Whether the label counts in the accuracy")
      .add_if_there(&E::patterns, "patterns", "Rows of each relation of the task")
      .add_if_there(&E::syntax, "syntax", "Of tasks of language");
}

Members<TaskFigures> describe(const TaskFigures* /*type*/) {
  using F = TaskFigures;
  return Members<F>("TaskFigures")
      .add(members_of<TaskSummary>())
      .add(&F::lengths, "lengths", "The longest that an example can be")
      .add(&F::vocabulary, "vocabulary", "How many pieces there are")
      .add_if_there(&F::relations, "relations", "What a solved model's attention shows")
      .add(&F::split, "split", "train or test")
      .add(&F::seed, "seed", "Of the task")
      .add(&F::examples, "examples", "Those asked for");
}

}  // namespace qkv
