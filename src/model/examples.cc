#include "qkv/model/examples.h"

namespace qkv {
namespace {

// 0 where it is not known how long they were.
void say_if_longer(std::vector<std::string>& all, const char* what, std::size_t length, std::int64_t most) {
  if (most == 0 || static_cast<std::int64_t>(length) <= most) return;
  all.push_back("it learned from " + std::string(what) + " of at most " + std::to_string(most) +
                " tokens; this one has " + std::to_string(length));
}

}  // namespace

std::int64_t TextLengths::patches() const noexcept {
  if (patch_side == 0) return 0;
  const std::int64_t across = image_side / patch_side;
  return across * across;
}

std::vector<std::string> longer_than(const TextLengths& most, const Example& example) {
  std::vector<std::string> all;
  say_if_longer(all, "sources", example.source.size(), most.source);
  say_if_longer(all, "texts", example.tokens.size(), most.tokens);
  return all;
}

std::string answer_in(const Tokenizer& tokenizer, std::vector<std::int32_t> answer) {
  if (const auto end = tokenizer.find("</s>")) std::erase(answer, *end);
  return tokenizer.decode(answer);
}

std::vector<std::string> Examples::outside(const Example& example) const { return longer_than(lengths(), example); }

std::string Examples::answer_text(std::vector<std::int32_t> answer) const {
  return answer_in(vocabulary(), std::move(answer));
}

}  // namespace qkv
