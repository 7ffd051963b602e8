// What the replies about roles hold.
#include "qkv/api/roles.h"

namespace qkv {

Members<RolesPattern> describe(const RolesPattern* /*type*/) {
  return Members<RolesPattern>("RolesPattern")
      .add(&RolesPattern::word, "word", "A word")
      .add(&RolesPattern::name, "name", "A phrase");
}

Members<RolesHead> describe(const RolesHead* /*type*/) {
  using R = RolesHead;
  return Members<R>("RolesHead")
      .add(&R::site, "site", "tokens, source or cross")
      .add(&R::layer, "layer", "From 0")
      .add(&R::head, "head", "From 0")
      .add(&R::word, "word", "What it does, in a word")
      .add(&R::evidence, "evidence", "Why it is called so")
      .add(&R::rows, "rows", "Queries that were counted")
      .add(&R::entropy, "entropy", "Mean, in nats")
      .add(&R::evenness, "evenness", "Mean of entropy over the largest possible")
      .add(&R::distance, "distance", "Mean distance of query and key, in tokens")
      .add(&R::shares, "shares", "Mean weight on each pattern's keys")
      .add(&R::even, "even", "What an even head would have there")
      .add(&R::share_rows, "share_rows", "Queries that see such a key; 0: the share says nothing")
      .add(&R::induction, "induction", "On repeated random tokens: weight on the token after the same one")
      .add(&R::duplicate, "duplicate", "Likewise on the same one")
      .add(&R::similarity, "similarity", "Spearman's correlation of weights with how alike tokens are")
      .add(&R::removal, "removal", "Rise of the loss without it, in nats")
      .add(&R::gradient, "gradient", "Mean of |gradient times output|")
      .add(&R::nearest, "nearest", "The head of its layer that is most alike")
      .add(&R::nearest_distance, "nearest_distance", "How far that is, 0 to 1; 0 where there is none");
}

Members<RolesTaskPattern> describe(const RolesTaskPattern* /*type*/) {
  using P = RolesTaskPattern;
  return Members<P>("RolesTaskPattern")
      .add(&P::pattern, "pattern", "Its name")
      .add(&P::description, "description", "Which keys it is on")
      .add(&P::site, "site", "tokens, source or cross")
      .add(&P::layer, "layer", "Of the head that shows it best")
      .add(&P::head, "head", "That head")
      .add(&P::weight, "weight", "Its mean weight on the pattern's keys")
      .add(&P::largest, "largest", "Share of the queries whose largest weight is there");
}

Members<RolesSite> describe(const RolesSite* /*type*/) {
  return Members<RolesSite>("RolesSite")
      .add(&RolesSite::site, "site", "tokens, source or cross")
      .add(&RolesSite::layers, "layers", "How many")
      .add(&RolesSite::heads, "heads", "Of a layer")
      .add(&RolesSite::distances, "distances", "f64 [heads, heads] of each layer: how far heads are apart, 0 to 1");
}

Members<RolesReply> describe(const RolesReply* /*type*/) {
  using R = RolesReply;
  return Members<R>("RolesReply")
      .add(&R::title, "title", "The model")
      .add(&R::texts, "texts", "What was read")
      .add(&R::text_count, "text_count", "How many texts")
      .add(&R::tokens, "tokens", "How many tokens")
      .add(&R::patterns, "patterns", "What shares are of, in their order")
      .add(&R::heads, "heads", "Of all sites, layer by layer")
      .add(&R::sites, "sites", "Those that the model has")
      .add(&R::task_patterns, "task_patterns", "Of its task, on its held-out examples; none over texts of one's own")
      .add(&R::loss, "loss", "Mean over the targets, in nats")
      .add(&R::importance_texts, "importance_texts", "Texts by which importance is measured")
      .add(&R::masked_tokens, "masked_tokens", "Tokens of these texts that were masked to ask for them")
      .add(&R::no_importance, "no_importance", "Why removal and gradient are null; empty where they are not")
      .add_cautions();
}

}  // namespace qkv
