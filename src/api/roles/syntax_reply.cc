#include "qkv/api/syntax.h"

namespace qkv {
namespace {

double share_of(std::int64_t right, std::int64_t pairs) {
  return pairs > 0 ? static_cast<double>(right) / static_cast<double>(pairs) : 0;
}

SyntaxRelation shown(const RelationAccuracy& relation, std::int64_t heads) {
  SyntaxRelation one;
  one.relation = relation.label;
  one.direction = name_of(relation.direction);
  one.pairs = relation.pairs;
  if (relation.best) one.best = {.layer = *relation.best / heads, .head = *relation.best % heads};
  for (const std::int64_t right : relation.right) one.accuracies.push_back(share_of(right, relation.pairs));
  one.offset = relation.offset;
  one.offset_accuracy = share_of(relation.offset_right, relation.pairs);
  return one;
}

}  // namespace

SyntaxReply syntax_reply(const SyntaxAnalysis& analysis, const std::string& model) {
  SyntaxReply reply{.model = model,
                    .sentences = analysis.sentences,
                    .words = analysis.words,
                    .layers = analysis.layers,
                    .heads = analysis.heads,
                    .relations = {},
                    .cautions = {}};
  for (const RelationAccuracy& one : analysis.relations) reply.relations.push_back(shown(one, analysis.heads));
  return reply;
}

Members<SyntaxHead> describe(const SyntaxHead* /*type*/) {
  return Members<SyntaxHead>("SyntaxHead")
      .add(&SyntaxHead::layer, "layer", "Its layer")
      .add(&SyntaxHead::head, "head", "Its place there");
}

Members<SyntaxRelation> describe(const SyntaxRelation* /*type*/) {
  using R = SyntaxRelation;
  return Members<R>("SyntaxRelation")
      .add(&R::relation, "relation", "Its label, without a subtype")
      .add(&R::direction, "direction", "to head, from the dependent; or to dependent")
      .add(&R::pairs, "pairs", "How many there are")
      .add(&R::best, "best", "The head that finds most; null where none finds any")
      .add(&R::accuracies, "accuracies", "Share of the pairs that each head finds, layer by layer")
      .add(&R::offset, "offset", "The best guess at a fixed distance: -1 is the word before; null likewise")
      .add(&R::offset_accuracy, "offset_accuracy", "Share of the pairs that it finds");
}

Members<SyntaxReply> describe(const SyntaxReply* /*type*/) {
  using R = SyntaxReply;
  return Members<R>("SyntaxReply")
      .add(&R::model, "model", "Whose heads")
      .add(&R::sentences, "sentences", "With their trees")
      .add(&R::words, "words", "Of them")
      .add(&R::layers, "layers", "How many")
      .add(&R::heads, "heads", "Of a layer")
      .add(&R::relations, "relations", "The most frequent first, in both directions")
      .add_cautions();
}

}  // namespace qkv
