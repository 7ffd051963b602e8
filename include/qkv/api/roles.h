// What each head of a model does over many texts, and what the model says when something inside it is changed: the page
// Roles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/heads.h"
#include "qkv/api/member.h"
#include "qkv/insight/heads.h"
#include "qkv/tensor.h"

namespace qkv {

struct RolesRequest {
  std::string model, texts;
  std::int64_t count = 16;
  std::int64_t importance = 8;
};

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

/// What the studio's question `roles` answers and `qkv analyze --json` prints.
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
};

/// `model` and `texts` say whose heads, and over which texts.
[[nodiscard]] RolesReply roles_reply(const HeadAnalysis& analysis, const std::string& model, const std::string& texts);

struct ChangeRequest : HeadsRequest {
  std::string changes;
  std::string from_text, query, token, against;
};

struct ChangeScore {
  double logit = 0, probability = 0;
  std::int64_t rank = 0;
};

struct ChangeToken {
  std::string token;
  ChangeScore before, after;
};

struct ChangeReply {
  std::string title;
  std::vector<std::string> changes;  // as they were read
  std::vector<std::string> tokens;
  std::int64_t place = 0;
  std::optional<ChangeToken> answer, against;
  std::vector<ChangeToken> moved;  // by the change of their probability, the largest first
  std::vector<double> divergence;  // KL(before, after) in nats, at each place
  std::vector<double> state_cosines;
  std::optional<double> vector_cosine;
  std::string sentence;
};

[[nodiscard]] const Fields<RolesRequest>& roles_fields();
[[nodiscard]] const Fields<ChangeRequest>& change_fields();

[[nodiscard]] const Members<RolesPattern>& members_of(const RolesPattern* pattern);
[[nodiscard]] const Members<RolesHead>& members_of(const RolesHead* head);
[[nodiscard]] const Members<RolesTaskPattern>& members_of(const RolesTaskPattern* pattern);
[[nodiscard]] const Members<RolesSite>& members_of(const RolesSite* site);
[[nodiscard]] const Members<RolesReply>& members_of(const RolesReply* reply);
[[nodiscard]] const Members<ChangeScore>& members_of(const ChangeScore* score);
[[nodiscard]] const Members<ChangeToken>& members_of(const ChangeToken* token);
[[nodiscard]] const Members<ChangeReply>& members_of(const ChangeReply* reply);

}  // namespace qkv
