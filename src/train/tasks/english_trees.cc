#include "qkv/train/english_trees.h"

#include "qkv/train/task.h"

namespace qkv {

std::vector<ParsedSentence> english_trees(std::int64_t count) {
  if (count < 1) throw InvalidArgument("english_trees", "count", "1 or more", std::to_string(count));
  const std::unique_ptr<const Task> english = make_task("english");
  std::vector<ParsedSentence> all;
  for (std::int64_t n = 0; n < count; ++n) {
    const Example example = english->example(Split::test, n);
    ParsedSentence sentence{.text = example.syntax->sentence,
                            .words = {},
                            .dependencies = example.syntax->dependencies,
                            .coreferences = example.syntax->coreferences};
    for (std::size_t begin = 0; begin < sentence.text.size();) {
      const std::size_t end = std::min(sentence.text.find(' ', begin), sentence.text.size());
      sentence.words.push_back({begin, end});
      begin = end + 1;
    }
    all.push_back(std::move(sentence));
  }
  return all;
}

}  // namespace qkv
