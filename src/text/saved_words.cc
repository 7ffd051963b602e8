#include "text/saved_words.h"

#include <optional>
#include <utility>

#include "qkv/error.h"
#include "text/base64.h"

namespace qkv::text {

const std::string& saved_word(const std::map<std::string, std::string>& config, const std::string& word) {
  const auto found = config.find(word);
  if (found == config.end()) throw InvalidArgument(kMakeTokenizer, word, "a value", "none");
  return found->second;
}

std::string saved_bytes(const std::map<std::string, std::string>& config, const std::string& word) {
  std::optional<std::string> bytes = from_base64(saved_word(config, word));
  if (!bytes) throw InvalidArgument(kMakeTokenizer, word, "base64", "another text");
  return std::move(*bytes);
}

}  // namespace qkv::text
