// What the figures of `qkv task` hold.
#include "qkv/api/task.h"

namespace qkv {

const Members<TaskInfo::Length>& members_of(const TaskInfo::Length* /*type*/) {
  using L = TaskInfo::Length;
  static const auto kMembers = Members<L>("TaskLength")
                                   .add(&L::unit, "unit", "What it counts")
                                   .add(&L::usual, "usual", "The default")
                                   .add(&L::least, "least", "That it may be")
                                   .add(&L::most, "most", "Likewise");
  return kMembers;
}

const Members<PatternRow>& members_of(const PatternRow* /*type*/) {
  static const auto kMembers = Members<PatternRow>("PatternRow")
                                   .add(&PatternRow::query, "query", "A place of the tokens")
                                   .add(&PatternRow::keys, "keys", "That it should attend to, in rising order");
  return kMembers;
}

const Members<Dependency>& members_of(const Dependency* /*type*/) {
  static const auto kMembers = Members<Dependency>("Dependency")
                                   .add(&Dependency::head, "head", "The word that it hangs on; null of the root")
                                   .add(&Dependency::label, "label", "nsubj, obj, det and the like");
  return kMembers;
}

const Members<Coreference>& members_of(const Coreference* /*type*/) {
  static const auto kMembers = Members<Coreference>("Coreference")
                                   .add(&Coreference::mention, "mention", "The pronoun's place")
                                   .add(&Coreference::antecedent, "antecedent", "The noun's that it stands for");
  return kMembers;
}

const Members<Syntax>& members_of(const Syntax* /*type*/) {
  static const auto kMembers = Members<Syntax>("Syntax")
                                   .add(&Syntax::sentence, "sentence", "As it reads with nothing hidden")
                                   .add(&Syntax::dependencies, "dependencies", "One for each word")
                                   .add(&Syntax::coreferences, "coreferences", "Pronouns and their nouns");
  return kMembers;
}

const Members<TaskSummary>& members_of(const TaskSummary* /*type*/) {
  using S = TaskSummary;
  static const auto kMembers =
      Members<S>("TaskSummary")
          .add(&S::name, "name", "Its name")
          .add(&S::description, "description", "What a model learns")
          .add(&S::kind, "kind", "decoder, encoder, encoder-decoder or image-text")
          .add(&S::model, "model", "That learns it")
          .add(&S::accuracy, "accuracy", "Share of the scored answers that a trained model must get right")
          .add_if_there(&S::length, "length", "How long examples get");
  return kMembers;
}

const Members<TaskList>& members_of(const TaskList* /*type*/) {
  static const auto kMembers = Members<TaskList>("TaskList").add(&TaskList::tasks, "tasks", "The simplest first");
  return kMembers;
}

const Members<TaskExtents>& members_of(const TaskExtents* /*type*/) {
  static const auto kMembers = Members<TaskExtents>("TaskExtents")
                                   .add(&TaskExtents::tokens, "tokens", "Of the longest example")
                                   .add(&TaskExtents::source, "source", "Likewise; 0 where there is no source")
                                   .add(&TaskExtents::patches, "patches", "Of an image; 0 where there is none");
  return kMembers;
}

const Members<TaskVocabularies>& members_of(const TaskVocabularies* /*type*/) {
  static const auto kMembers = Members<TaskVocabularies>("TaskVocabularies")
                                   .add(&TaskVocabularies::tokens, "tokens", "Pieces of tokens and labels")
                                   .add(&TaskVocabularies::source, "source", "Of the source");
  return kMembers;
}

const Members<TaskPattern>& members_of(const TaskPattern* /*type*/) {
  static const auto kMembers = Members<TaskPattern>("TaskPattern")
                                   .add(&TaskPattern::name, "name", "Its name")
                                   .add(&TaskPattern::site, "site", "tokens, source or cross")
                                   .add(&TaskPattern::description, "description", "Which keys it is on");
  return kMembers;
}

const Members<ShownExample>& members_of(const ShownExample* /*type*/) {
  using E = ShownExample;
  static const auto kMembers = Members<E>("ShownExample")
                                   .add(&E::n, "n", "Its number")
                                   .add(&E::source, "source", "Pieces; none where there is no source")
                                   .add(&E::tokens, "tokens", "Pieces")
                                   .add(&E::labels, "labels", "What is to be said at each; null where nothing is asked")
                                   .add(&E::scored, "scored", "Whether the label counts in the accuracy")
                                   .add_if_there(&E::patterns, "patterns", "Rows of each relation of the task")
                                   .add_if_there(&E::syntax, "syntax", "Of tasks of language");
  return kMembers;
}

const Members<TaskFigures>& members_of(const TaskFigures* /*type*/) {
  using F = TaskFigures;
  static const auto kMembers = Members<F>("TaskFigures")
                                   .add(members_of(static_cast<const TaskSummary*>(nullptr)))
                                   .add(&F::lengths, "lengths", "The longest that an example can be")
                                   .add(&F::vocabulary, "vocabulary", "How many pieces there are")
                                   .add_if_there(&F::relations, "relations", "What a solved model's attention shows")
                                   .add(&F::split, "split", "train or test")
                                   .add(&F::seed, "seed", "Of the task")
                                   .add(&F::examples, "examples", "Those asked for");
  return kMembers;
}

}  // namespace qkv
