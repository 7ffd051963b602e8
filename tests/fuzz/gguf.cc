// Any bytes as a GGUF file: an error, or tensors each of which loads or says why not, a tokenizer that cuts texts, and
// a model or what is wrong with it.
#include "qkv/gguf.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "attempt.h"
#include "files/gguf_keys.h"
#include "model/families/gguf.h"
#include "text/gguf_tokenizer.h"

namespace {

using qkv::fuzz::attempt;

constexpr std::string_view kText =
    "The cat's <|im_start|>\tsat [SEP] 2026 \xC3\xA9 \xE6\x97\xA5 \xF0\x9F\x99\x82 \xFF.";

void use(const qkv::Tokenizer& tokenizer) {
  const qkv::Encoding encoding = tokenizer.encode(kText);
  for (std::size_t n = 0; n < encoding.ids.size(); ++n) {
    if (encoding.ids[n] < 0 || encoding.ids[n] >= tokenizer.size()) std::abort();
    if (encoding.offsets[n].begin > encoding.offsets[n].end || encoding.offsets[n].end > kText.size()) std::abort();
  }
  static_cast<void>(tokenizer.decode(encoding.ids));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  attempt([&] {
    const qkv::Gguf file({bytes.begin(), bytes.end()});
    for (const qkv::GgufEntry& entry : file.entries()) {
      attempt([&] { static_cast<void>(file.load(entry.name).to_vector()); });
    }
    const qkv::files::GgufKeys keys(file);
    attempt([&] { static_cast<void>(qkv::text::gguf_ends(keys)); });
    attempt([&] {
      std::vector<std::string> cautions;
      if (const auto tokenizer = qkv::text::gguf_tokenizer(keys, cautions)) use(*tokenizer);
    });
    attempt([&] { static_cast<void>(qkv::families::model_of_gguf(file)); });
  });
  return 0;
}
