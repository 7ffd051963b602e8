// All heads of a model over one text, one head whole, and one pair of tokens element by element: the page Heads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/api/texts.h"
#include "qkv/tensor.h"

namespace qkv {

struct HeadsRequest {
  std::string model, text;
  std::string second;  // of a pair of texts, for an encoder
  std::optional<std::int64_t> example;
  std::string picture = {}, sound = {};  // in place of a text
  ChatRequest talk = {};                 // whose message the text is
};

/// What the model says next, or at the place where its task asks.
struct HeadsSaid {
  std::string token;
  double share = 0;
};

struct HeadsClass {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::string word;      // "previous", "induction", …, "broad", "mixed"
  std::string evidence;  // "0.97 on the previous token"
  double evenness = 0;   // mean entropy over its largest possible, in [0, 1]
};

struct HeadsSite {
  std::string site;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::vector<std::string> queries, keys;
  std::vector<std::string> roles;           // of the keys
  std::optional<std::int64_t> second_from;  // of a pair of texts: the place where the second begins
  bool asks_from_patches = false;           // whether queries are patches of the image …
  bool reads_patches = false;               // … and keys
  Tensor maps;                              // f32 [layers, heads, rows, columns], the largest weight of each cell
  std::vector<HeadsClass> classes;
};

struct HeadsReply {
  std::string title;
  std::string kind;
  std::vector<HeadsSite> sites;
  std::vector<std::string> sources;  // of each token of a conversation, as ReadExample has them
  std::string asked;                 // the token after which, or at which, it is said
  std::int64_t asked_at = 0;         // its place
  std::vector<HeadsSaid> says;
  std::optional<Tensor> image;  // u8 [side, side, 3]
  std::int64_t patches = 0;     // of the image, along a side, row by row; they are the last of their places
  std::vector<std::string> cautions;
};

/// A head as it is, or in a model that is changed: `changes` as "remove 1.0; cut 7:3".
struct HeadRequest : HeadsRequest {
  std::string site;
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::string changes, from_text;
  bool hide_special = false;  // leave out [CLS], <s> and their like, and renormalise what is left
};

/// The mean weight on the keys of one pattern.
struct HeadPattern {
  std::string word;
  std::string name;
  double share = 0;
  std::int64_t rows = 0;
};

/// What is said of a head, beside its numbers.
struct HeadWords {
  std::string title;
  std::vector<std::string> queries, keys, roles;
  std::optional<std::int64_t> second_from;
  HeadsClass shown;
  std::vector<HeadPattern> patterns;
};

struct HeadReply : HeadWords {
  Tensor weights;                // f32 [Tq, Tk]
  Tensor times_uniform;          // f32 [Tq, Tk]: each weight times the keys that its query can read
  std::optional<Tensor> hidden;  // b8 [Tq, Tk]: by the mask, or as special tokens
  std::string hidden_special;    // what was left out, and what that does; empty unless asked for
  Tensor key_totals;             // f64 [Tk]
  Tensor query_totals;           // f64 [Tq]
  Tensor seen;                   // i64 [Tq]: keys that each query can read
  Tensor entropy;                // f64 [Tq], in nats
};

/// What the replies `head` and `pair` follow from, in O(Tq + Tk) numbers: a file carries it in their place. The weight
/// of a pair is exp(score - lse), its score softcap(scale q.k) + bias.
struct HeadPartsReply : HeadWords {
  Tensor q;    // f32 [Tq, D]
  Tensor k;    // f32 [Tk, D]
  Tensor lse;  // f64 [Tq]
  double scale = 0;
  std::optional<double> softcap;
  std::optional<Tensor> bias;    // f32 [Tq, Tk]
  std::optional<Tensor> hidden;  // b8 [Tq, Tk]: by the mask
  std::string hidden_special;    // what `head` says if special tokens are left out
};

struct PairRequest : HeadRequest {
  std::int64_t query = 0;
  std::int64_t key = 0;
};

struct PairReply {
  std::string query, key;
  Tensor q, k, products;  // f64 [D]
  double dot = 0;
  double scale = 0;
  std::optional<double> softcapped;  // dot times scale after the softcap, where there is one
  std::optional<double> bias;        // what is added to it, where there is a bias and the pair is seen
  std::optional<double> score;       // after softcap, bias and mask; null where the mask hides the key
  double weight = 0;
  std::optional<double> weight_left;  // of hide_special: the share of what is left
  double uniform = 0;                 // what it would be if all keys that the query sees had the same
};

/// A head is shown whole up to so many tokens; longer texts are for the page Far. Of a sound it is shown up to so many
/// places, which Whisper has 1,500 of, and of a picture.
inline constexpr std::int64_t kWholeHead = 1024;
inline constexpr std::int64_t kWholeSound = 1536;

[[nodiscard]] const Fields<HeadsRequest>& heads_fields();
[[nodiscard]] const Fields<HeadRequest>& head_fields();
[[nodiscard]] const Fields<PairRequest>& pair_fields();

[[nodiscard]] Members<HeadsSaid> describe(const HeadsSaid* said);
[[nodiscard]] Members<HeadsClass> describe(const HeadsClass* shown);
[[nodiscard]] Members<HeadsSite> describe(const HeadsSite* site);
[[nodiscard]] Members<HeadsReply> describe(const HeadsReply* reply);
[[nodiscard]] Members<HeadPattern> describe(const HeadPattern* pattern);
[[nodiscard]] Members<HeadWords> describe(const HeadWords* words);
[[nodiscard]] Members<HeadReply> describe(const HeadReply* reply);
[[nodiscard]] Members<HeadPartsReply> describe(const HeadPartsReply* reply);
[[nodiscard]] Members<PairReply> describe(const PairReply* reply);

}  // namespace qkv
