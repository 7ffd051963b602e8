// What the replies about heads hold, and what they are asked.
#include "api/fields/shared_fields.h"
#include "api/heads/changes.h"
#include "api/models/shown.h"
#include "qkv/api/heads.h"

namespace qkv {

using api_detail::shared_field;

const Fields<HeadsRequest>& heads_fields() {
  static const Fields<HeadsRequest> kFields = [] {
    Fields<HeadsRequest> fields;
    fields.add(&HeadsRequest::model, shared_field("model"));
    fields.info("model").required = true;
    fields.add(&HeadsRequest::text, shared_field("text"));
    fields.add(&HeadsRequest::second, shared_field("second"));
    fields.info("second").needs = {"text"};
    fields.add(&HeadsRequest::example, shared_field("example"));
    api_detail::add_shown(fields);
    api_detail::say_company_of_shown(fields);
    fields.exclude({"second"}, {"chat"}, "a conversation is one text");
    fields.tell_arguments({{"text", {"ids"}}, {"second", {"pair"}}, {"example", {"ids"}}});
    return fields;
  }();
  return kFields;
}

const Fields<HeadRequest>& head_fields() {
  static const Fields<HeadRequest> kFields = [] {
    Fields<HeadRequest> fields;
    fields.add(heads_fields());
    fields.add(&HeadRequest::site, shared_field("site"));
    fields.add(&HeadRequest::layer, shared_field("layer"));
    fields.add(&HeadRequest::head, shared_field("head"));
    fields.add(&HeadRequest::changes, {.name = "changes",
                                       .form = "CHANGE;…",
                                       .meaning = "What is changed inside the model first, as `change` takes it"});
    fields.add(&HeadRequest::from_text, shared_field("from_text"));
    fields.add(&HeadRequest::hide_special,
               {.name = "hide_special", .meaning = "Leave special tokens out, and renormalise what is left"});
    fields.info("from_text").needs = {"changes"};
    fields.tell_arguments({{"changes", api_detail::kinds_of_change()}});
    fields.give_examples({{"changes", "remove 0.0"}});
    return fields;
  }();
  return kFields;
}

const Fields<PairRequest>& pair_fields() {
  static const Fields<PairRequest> kFields = [] {
    Fields<PairRequest> fields;
    fields.add(head_fields());
    fields.add(&PairRequest::query, shared_field("query"));
    fields.add(&PairRequest::key, shared_field("key"));
    return fields;
  }();
  return kFields;
}

Members<HeadsSaid> describe(const HeadsSaid* /*type*/) {
  return Members<HeadsSaid>("HeadsSaid")
      .add(&HeadsSaid::token, "token", "As people read it")
      .add(&HeadsSaid::share, "share", "Its probability");
}

Members<HeadsClass> describe(const HeadsClass* /*type*/) {
  return Members<HeadsClass>("HeadsClass")
      .add(&HeadsClass::layer, "layer", "From 0")
      .add(&HeadsClass::head, "head", "From 0")
      .add(&HeadsClass::word, "word", "What the head does on this text, in a word")
      .add(&HeadsClass::evidence, "evidence", "Why it is called so")
      .add(&HeadsClass::evenness, "evenness", "Mean entropy over the largest possible, 0 to 1");
}

Members<HeadsSite> describe(const HeadsSite* /*type*/) {
  return Members<HeadsSite>("HeadsSite")
      .add(&HeadsSite::site, "site", "tokens, source or cross")
      .add(&HeadsSite::layers, "layers", "How many")
      .add(&HeadsSite::heads, "heads", "Of each layer")
      .add(&HeadsSite::queries, "queries", "Tokens at the queries")
      .add(&HeadsSite::keys, "keys", "Tokens at the keys")
      .add(&HeadsSite::roles, "roles", "Of the keys: word, punctuation or separator")
      .add(&HeadsSite::second_from, "second_from", "Of a pair of texts: the place where the second begins")
      .add(&HeadsSite::asks_from_patches, "asks_from_patches", "Whether queries are patches of the image")
      .add(&HeadsSite::reads_patches, "reads_patches", "Whether keys are patches of the image")
      .add(&HeadsSite::maps, "maps", "f32 [layers, heads, rows, columns]: the largest weight of each cell")
      .add(&HeadsSite::classes, "classes", "Of each head, layer by layer");
}

Members<HeadsReply> describe(const HeadsReply* /*type*/) {
  return Members<HeadsReply>("HeadsReply")
      .add(&HeadsReply::title, "title", "The model")
      .add(&HeadsReply::kind, "kind", "decoder, encoder, …")
      .add(&HeadsReply::sites, "sites", "Its attentions")
      .add_if_there(&HeadsReply::sources, "sources",
                    "Of each token of a conversation: template, or its message's role (user, assistant, …)")
      .add(&HeadsReply::asked, "asked", "The token at which it says something")
      .add(&HeadsReply::asked_at, "asked_at", "The place of that token in its text, from 0")
      .add(&HeadsReply::says, "says", "What it says there, the likeliest first")
      .add(&HeadsReply::image, "image", "u8 [side, side, 3]: the picture that it sees")
      .add(&HeadsReply::patches, "patches", "Patches along a side of the picture")
      .add_cautions();
}

Members<HeadPattern> describe(const HeadPattern* /*type*/) {
  return Members<HeadPattern>("HeadPattern")
      .add(&HeadPattern::word, "word", "A word for it")
      .add(&HeadPattern::name, "name", "A phrase")
      .add(&HeadPattern::share, "share", "Mean weight on its keys")
      .add(&HeadPattern::rows, "rows", "Queries that have such a key");
}

Members<HeadWords> describe(const HeadWords* /*type*/) {
  return Members<HeadWords>("HeadWords")
      .add(&HeadWords::title, "title", "Model, layer and head")
      .add(&HeadWords::queries, "queries", "Tokens at the queries")
      .add(&HeadWords::keys, "keys", "Tokens at the keys")
      .add(&HeadWords::roles, "roles", "Of the keys: word, punctuation or separator")
      .add(&HeadWords::second_from, "second_from", "Of a pair of texts: the place where the second begins")
      .add(&HeadWords::shown, "shown", "What the head does")
      .add(&HeadWords::patterns, "patterns", "Mean weight on each pattern's keys");
}

Members<HeadReply> describe(const HeadReply* /*type*/) {
  return Members<HeadReply>("HeadReply")
      .add(members_of<HeadWords>())
      .add(&HeadReply::weights, "weights", "f32 [queries, keys]")
      .add(&HeadReply::times_uniform, "times_uniform",
           "f32 [queries, keys]: each weight times the keys that its query can read")
      .add(&HeadReply::hidden, "hidden", "b8 [queries, keys]: what is not read")
      .add(&HeadReply::hidden_special, "hidden_special", "What hide_special has done")
      .add(&HeadReply::key_totals, "key_totals", "f64 [keys]: weight on each key, summed")
      .add(&HeadReply::query_totals, "query_totals", "f64 [queries]: sums of the rows")
      .add(&HeadReply::seen, "seen", "i64 [queries]: keys that each can read")
      .add(&HeadReply::entropy, "entropy", "f64 [queries], in nats");
}

Members<HeadPartsReply> describe(const HeadPartsReply* /*type*/) {
  return Members<HeadPartsReply>("HeadPartsReply")
      .add(members_of<HeadWords>())
      .add(&HeadPartsReply::q, "q", "f32 [queries, D], after rotation")
      .add(&HeadPartsReply::k, "k", "f32 [keys, D]")
      .add(&HeadPartsReply::lse, "lse", "f64 [queries]: log of the sum of exp of a row's scores")
      .add(&HeadPartsReply::scale, "scale", "What q.k is multiplied by")
      .add(&HeadPartsReply::softcap, "softcap", "c of c tanh(x / c)")
      .add(&HeadPartsReply::bias, "bias", "f32 [queries, keys]: added to the scores")
      .add(&HeadPartsReply::hidden, "hidden", "b8 [queries, keys]: what the mask hides")
      .add(&HeadPartsReply::hidden_special, "hidden_special", "What hide_special would do");
}

Members<PairReply> describe(const PairReply* /*type*/) {
  return Members<PairReply>("PairReply")
      .add(&PairReply::query, "query", "Its token")
      .add(&PairReply::key, "key", "Its token")
      .add(&PairReply::q, "q", "f64 [D]")
      .add(&PairReply::k, "k", "f64 [D]")
      .add(&PairReply::products, "products", "f64 [D]: q times k, number by number")
      .add(&PairReply::dot, "dot", "Their sum")
      .add(&PairReply::scale, "scale", "What it is multiplied by")
      .add(&PairReply::softcapped, "softcapped", "Their product after the softcap")
      .add(&PairReply::bias, "bias", "What the bias adds to it")
      .add(&PairReply::score, "score", "What softmax reads; null where the key is hidden")
      .add(&PairReply::weight, "weight", "What comes of it")
      .add(&PairReply::weight_left, "weight_left", "Its share without special tokens")
      .add(&PairReply::uniform, "uniform", "The weight if all visible keys had the same");
}

}  // namespace qkv
