// Which heads follow the grammar, as `qkv analyze --syntax` prints it as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/member.h"
#include "qkv/insight/syntax.h"

namespace qkv {

struct SyntaxHead {
  std::int64_t layer = 0, head = 0;
};

struct SyntaxRelation {
  std::string relation, direction;
  std::int64_t pairs = 0;
  std::optional<SyntaxHead> best;
  std::vector<double> accuracies;  // of all heads, layer by layer
  std::optional<std::int64_t> offset;
  double offset_accuracy = 0;
};

struct SyntaxReply {
  std::string model;
  std::int64_t sentences = 0, words = 0, layers = 0, heads = 0;
  std::vector<SyntaxRelation> relations;
  std::vector<std::string> cautions;
};

[[nodiscard]] SyntaxReply syntax_reply(const SyntaxAnalysis& analysis, const std::string& model);

[[nodiscard]] Members<SyntaxHead> describe(const SyntaxHead* head);
[[nodiscard]] Members<SyntaxRelation> describe(const SyntaxRelation* relation);
[[nodiscard]] Members<SyntaxReply> describe(const SyntaxReply* reply);

}  // namespace qkv
