#include "model/config.h"

#include "qkv/number_text.h"

namespace qkv::config_detail {

void Read::operator()(const char* word, std::int64_t& value) const {
  const std::string& digits = text(word);
  const auto number = number_from<std::int64_t>(digits);
  if (!number) throw InvalidArgument(function_, word, "a whole number", "\"" + digits + "\"");
  value = *number;
}

void Read::operator()(const char* word, bool& value) const {
  if (text(word) != "yes" && text(word) != "no") {
    throw InvalidArgument(function_, word, "yes or no", "\"" + text(word) + "\"");
  }
  value = text(word) == "yes";
}

void Read::operator()(const char* word, Positions& value) const { value = positions_named(text(word)); }

void Read::require_kind(const char* kind) const {
  if (text("kind") != kind) throw InvalidArgument(function_, "kind", kind, "\"" + text("kind") + "\"");
}

const std::string& Read::text(const char* word) const {
  const auto found = config_.find(word);
  if (found == config_.end()) throw InvalidArgument(function_, word, "a value", "none");
  return found->second;
}

}  // namespace qkv::config_detail
