// The one list of what can be asked.
#include "qkv/api/questions.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "api/studio/question_weight.h"
#include "core/nearest_word.h"

namespace qkv {
namespace {

using api_detail::Answerer;

std::vector<Answerer> questions_of_pages() {
  using namespace api_detail;
  return {
      light(about_question()),
      light(bench_question(), is_short_text),
      light(number_question(), is_short_text),
      light(heads_question(), is_short_text),
      light(head_question(), is_short_text),
      light(head_parts_question(), is_short_text),
      light(pair_question(), is_short_text),
      light(positions_question()),
      far_open_question(),
      far_tile_question(),
      far_walk_question(),
      far_row_question(),
      far_largest_question(),
      far_find_question(),
      light(learn_question()),
      light(pictures_question()),
      light(operations_question()),
      light(bottleneck_question()),
      bottleneck_lengths_question(),
  };
}

}  // namespace

const std::vector<Answerer>& api_detail::answerers() {
  static const std::vector<Answerer> kAll = [] {
    std::vector<Answerer> all = questions_of_pages();
    for (std::vector<Answerer> more : {questions_of_attention(), questions_of_heads(), questions_of_texts(),
                                       questions_of_tasks(), questions_that_write()}) {
      std::ranges::move(more, std::back_inserter(all));
    }
    return all;
  }();
  return kAll;
}

const Answerer& api_detail::answerer_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Answerer& one : answerers()) {
    if (one.question.name == name) return one;
    names.emplace_back(one.question.name);
  }
  core::refuse_word("studio", "question", name, names);
}

std::span<const Question> questions() {
  static const std::vector<Question> kAll = [] {
    std::vector<Question> all;
    std::ranges::transform(api_detail::answerers(), std::back_inserter(all), &Answerer::question);
    return all;
  }();
  return kAll;
}

}  // namespace qkv
