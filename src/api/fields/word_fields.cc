#include "api/fields/word_fields.h"

#include <cstdint>
#include <vector>

#include "qkv/model/attention_site.h"
#include "qkv/model/model_kind.h"
#include "qkv/model/token_input.h"

namespace qkv::api_detail {
namespace {

template <class Word>
std::vector<std::string> words_to(Word last) {
  std::vector<std::string> words;
  for (int n = 0; n <= static_cast<int>(last); ++n) words.emplace_back(name_of(static_cast<Word>(n)));
  return words;
}

}  // namespace

FieldInfo positions_field(const std::string& group) {
  return {.name = "positions",
          .form = "NAME",
          .meaning = "How a token's place is told",
          .group = group,
          .words = words_to(Positions::t5)};
}

FieldInfo site_field(const std::string& group) {
  return {.name = "site",
          .form = "SITE",
          .meaning = "Which attention",
          .group = group,
          .words = words_to(AttentionSite::cross),
          .otherwise = "cross, else tokens"};
}

FieldInfo model_kind_field(const std::string& group) {
  return {.name = "model", .form = "NAME", .meaning = "Which kind", .group = group, .words = model_kind_names()};
}

}  // namespace qkv::api_detail
