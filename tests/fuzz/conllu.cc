// CoNLL-U: whatever can be read has its words inside its text, and heads among its words.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "qkv/insight/syntax.h"

namespace {

void require(bool sound) {
  if (!sound) std::abort();
}

void check(const qkv::ParsedSentence& sentence) {
  require(!sentence.words.empty() && sentence.words.size() == sentence.dependencies.size());
  std::size_t end = 0;
  for (const qkv::TextRange& word : sentence.words) {
    require(word.begin >= end && word.end > word.begin && word.end <= sentence.text.size());
    end = word.end;
  }
  for (const qkv::Dependency& dependency : sentence.dependencies) {
    require(!dependency.head ||
            (*dependency.head >= 0 && *dependency.head < static_cast<std::int64_t>(sentence.words.size())));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const qkv::ParsedSentence& sentence : qkv::parse_conllu(text)) check(sentence);
  } catch (const qkv::Error&) {  // NOLINT(bugprone-empty-catch): malformed
  }
  return 0;
}
