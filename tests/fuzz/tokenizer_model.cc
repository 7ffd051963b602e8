// Any bytes as a tokenizer.model: an error, or a tokenizer that cuts and joins texts whose offsets lie in them.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "attempt.h"
#include "text/sentence_piece.h"

namespace {

constexpr std::string_view kText =
    "The cat's\tsat  down 123, <s> \xC3\xA9 \xE6\x97\xA5 e\xCC\x81 \xF0\x9F\x99\x82 \xFF\xE2\x82 aaaabab abab ";

void use(const qkv::Tokenizer& tokenizer) {
  const qkv::Encoding encoding = tokenizer.encode(kText, {.pair = "and so on"});
  const std::size_t count = encoding.ids.size();
  if (encoding.offsets.size() != count || encoding.types.size() != count || encoding.sources.size() != count) {
    std::abort();
  }
  for (std::size_t n = 0; n < count; ++n) {
    if (encoding.ids[n] < 0 || encoding.ids[n] >= tokenizer.size()) std::abort();
    if (encoding.offsets[n].begin > encoding.offsets[n].end || encoding.offsets[n].end > kText.size()) std::abort();
  }
  static_cast<void>(tokenizer.decode(encoding.ids, qkv::SpecialTokens::with));
  std::vector<std::int32_t> all;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) all.push_back(id);
  static_cast<void>(tokenizer.decode(all));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  qkv::fuzz::attempt([&] {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    use(*qkv::text::read_sentence_piece(bytes, qkv::text::SentencePieceOptions{}, "tokenizer.model"));
  });
  return 0;
}
