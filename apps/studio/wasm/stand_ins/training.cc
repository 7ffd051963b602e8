// A page has no directory in which a run or a model could be written.
#include <algorithm>

#include "api/studio/studio_questions.h"

namespace qkv {
namespace {

api_detail::Answerer without_files(const std::string& command) {
  const std::string refusal = "the engine in a page writes no files; `qkv " + command + "` does";
  std::string name = command;
  std::ranges::replace(name, ' ', '_');
  return {.question = {.name = name, .meaning = {}, .fields = {}, .replies = {}, .examples = {}, .refusal = refusal},
          .answer = {}};
}

}  // namespace

std::vector<api_detail::Answerer> api_detail::questions_that_write() {
  return {without_files("train"), without_files("bench bottleneck"), without_files("convert"), without_files("fetch"),
          without_files("view")};
}

}  // namespace qkv
