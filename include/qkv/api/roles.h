// What each head of a model does over many texts: `qkv analyze`, the page Roles and heads() of Python.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/drawing.h"
#include "qkv/api/field.h"
#include "qkv/api/given_texts.h"
#include "qkv/api/member.h"
#include "qkv/api/models.h"
#include "qkv/api/saying.h"
#include "qkv/api/texts.h"
#include "qkv/insight/heads.h"
#include "qkv/insight/syntax.h"
#include "qkv/insight/texts.h"
#include "qkv/tensor.h"

namespace qkv {

/// The heads of a model over many texts, or beside parsed sentences.
struct AnalyzeRequest {
  std::string model, dtype;
  FileOfTexts file;                           // a text on each line, in place of examples
  std::vector<std::string> texts;             // likewise
  std::vector<std::string> pictures, sounds;  // likewise, for a model that reads such
  ChatRequest talk;                           // of which each text is a message
  std::string syntax;                         // "english", or a CoNLL-U file; empty: no syntax
  std::optional<std::int64_t> count;          // of examples or sentences; 64
  std::vector<std::string> sites;             // empty: all that the model has
  std::int64_t importance = HeadOptions().importance_texts;
  std::optional<std::uint64_t> seed;  // 0 where it is left out
};

[[nodiscard]] const Fields<AnalyzeRequest>& analyze_fields();

struct RolesPattern {
  std::string word, name;
};

struct RolesHead {
  std::string site;
  std::int64_t layer = 0, head = 0;
  std::string word, evidence;
  std::int64_t rows = 0;
  double entropy = 0, evenness = 0;
  std::optional<double> distance;
  std::vector<double> shares, even;      // in the order of the patterns
  std::vector<std::int64_t> share_rows;  // likewise
  std::optional<double> induction, duplicate, similarity, removal, gradient;
  std::optional<std::int64_t> nearest;
  double nearest_distance = 0;
};

/// A pattern that the model's task asks for, with the head that shows it best.
struct RolesTaskPattern {
  std::string pattern, description, site;
  std::int64_t layer = 0, head = 0;
  double weight = 0, largest = 0;
};

struct RolesSite {
  std::string site;
  std::int64_t layers = 0, heads = 0;
  std::vector<Tensor> distances;  // f64 [heads, heads] of each layer
};

/// What `qkv analyze --json` prints.
struct RolesReply {
  std::string title;
  std::string texts;  // what was read
  std::int64_t text_count = 0, tokens = 0;
  std::vector<RolesPattern> patterns;
  std::vector<RolesHead> heads;
  std::vector<RolesSite> sites;
  std::vector<RolesTaskPattern> task_patterns;
  std::optional<double> loss;
  std::int64_t importance_texts = 0, masked_tokens = 0;
  std::string no_importance;  // why there is none
  std::vector<std::string> cautions;
};

/// What the heads of a model do, and over which texts.
struct HeadsFound {
  OpenedModel model;
  HeadTexts texts;
  std::shared_ptr<const HeadAnalysis> analysis;
};

/// The request's texts or file, else texts_to_look_at(), whose `count` is that of the request; only then the patterns
/// of the model's task are looked for. Throws as these and analyze_heads(), naming the field.
[[nodiscard]] HeadsFound found_heads(const AnalyzeRequest& request, const Saying& saying = {});
/// The same of a request with `syntax`. Throws NotThere naming `syntax` for a file that cannot be read, and
/// InvalidArgument for a count beside one.
[[nodiscard]] SyntaxAnalysis found_syntax(const AnalyzeRequest& request, const Saying& saying = {});

/// Of each site the grid of heads, their classes by layer, their distances and their entropy; of the first text its
/// rollout over tokens, and its flow if it is not too long.
[[nodiscard]] std::vector<Drawing> heads_drawings(const HeadsFound& found);
/// The relations by head; none where there are too few pairs.
[[nodiscard]] std::vector<Drawing> syntax_drawings(const SyntaxAnalysis& analysis);

/// Pairs of tokens that a relation must have to be shown.
inline constexpr std::int64_t kFewestPairs = 10;

/// RolesReply, or SyntaxReply where the request has `syntax`. Opens the model.
[[nodiscard]] AnyReply answer(const AnalyzeRequest& request, const Saying& saying = {});

/// `model` and `texts` say whose heads, and over which texts.
[[nodiscard]] RolesReply roles_reply(const HeadAnalysis& analysis, const std::string& model, const std::string& texts);

[[nodiscard]] Members<RolesPattern> describe(const RolesPattern* pattern);
[[nodiscard]] Members<RolesHead> describe(const RolesHead* head);
[[nodiscard]] Members<RolesTaskPattern> describe(const RolesTaskPattern* pattern);
[[nodiscard]] Members<RolesSite> describe(const RolesSite* site);
[[nodiscard]] Members<RolesReply> describe(const RolesReply* reply);

}  // namespace qkv
