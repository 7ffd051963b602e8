// Any bytes as a chat template: an error, or a text whose parts cover it.
#include "qkv/text/chat_template.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "attempt.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<qkv::ChatMessage> messages = {
      {"system", " Be brief. "}, {"user", "Hi <a> \xC3\xA9 \xFF\xE2\x82"}, {"assistant", "<think>x</think>\nYes."}};
  qkv::fuzz::attempt([&] {
    const auto chat_template = qkv::ChatTemplate::parse(std::string_view(reinterpret_cast<const char*>(data), size));
    const qkv::RenderedChat chat = chat_template.render_parts(messages, {.bos_token = "<s>", .eos_token = "</s>"});
    std::size_t at = 0;
    for (const qkv::ChatPart& part : chat.parts) {
      if (part.begin != at || part.end <= part.begin) std::abort();
      at = part.end;
    }
    if (at != chat.text.size()) std::abort();
  });
  return 0;
}
