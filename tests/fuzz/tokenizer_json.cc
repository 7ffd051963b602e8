// Any bytes as a tokenizer.json: an error, or a tokenizer that cuts and joins texts whose offsets lie in them.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "attempt.h"
#include "qkv/text/read_tokenizer.h"

namespace {

constexpr std::string_view kText =
    "The cat's\tsat  down 123, [SEP] \xC3\xA9 \xE6\x97\xA5 e\xCC\x81 \xF0\x9F\x99\x82 \xFF\xE2\x82.";

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
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  qkv::fuzz::attempt([&] {
    const auto tokenizer =
        qkv::parse_tokenizer_json(std::string_view(reinterpret_cast<const char*>(data), size), "tokenizer.json");
    use(*tokenizer);
  });
  return 0;
}
