#include "qkv/train/task.h"

namespace qkv {
namespace {

// 0 where it is not known how long they were.
void say_if_longer(std::vector<std::string>& all, const char* what, std::size_t length, std::int64_t most) {
  if (most == 0 || static_cast<std::int64_t>(length) <= most) return;
  all.push_back("it learned from " + std::string(what) + " of at most " + std::to_string(most) +
                " tokens; this one has " + std::to_string(length));
}

}  // namespace

std::vector<std::string> Task::outside(const TaskExample& example) const { return longer_than(lengths(), example); }

std::vector<std::string> Task::longer_than(const TaskLengths& most, const TaskExample& example) {
  std::vector<std::string> all;
  say_if_longer(all, "sources", example.source.size(), most.source);
  say_if_longer(all, "texts", example.tokens.size(), most.tokens);
  return all;
}

std::string Task::answer_text(std::vector<std::int32_t> answer) const {
  if (const auto end = vocabulary().find("</s>")) std::erase(answer, *end);
  return vocabulary().decode(answer);
}

}  // namespace qkv
