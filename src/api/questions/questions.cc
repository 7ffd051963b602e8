// The one list of what can be asked.
#include "qkv/api/questions.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "api/studio/studio_questions.h"
#include "qkv/nearest_word.h"

namespace qkv {
namespace {

using api_detail::Answerer;

std::vector<Answerer> questions_of_pages() {
  using namespace api_detail;
  return {
      about_question(),
      explain_question(),
      bench_question(),
      number_question(),
      heads_question(),
      head_question(),
      head_parts_question(),
      pair_question(),
      mask_question(),
      positions_question(),
      cost_question(),
      roles_question(),
      change_question(),
      far_open_question(),
      far_tile_question(),
      far_walk_question(),
      far_row_question(),
      far_largest_question(),
      far_find_question(),
      learn_question(),
      train_question(),
      pictures_question(),
      operations_question(),
      bottleneck_question(),
      bottleneck_lengths_question(),
  };
}

// A command's question that a page asks, too.
void join(Question& question, Question&& of_command) {
  question.meaning = std::move(of_command.meaning);
  question.command = std::move(of_command.command);
  question.replies = std::move(of_command.replies);
  for (std::string& example : of_command.examples) {
    const bool is_there = std::ranges::find(question.examples, example) != question.examples.end();
    if (!is_there) question.examples.push_back(std::move(example));
  }
}

void add(std::vector<Answerer>& all, std::vector<Answerer> others) {
  for (Answerer& one : others) {
    const auto same = std::ranges::find(all, one.question.name, [](const Answerer& a) { return a.question.name; });
    if (same == all.end()) {
      all.push_back(std::move(one));
      continue;
    }
    const bool is_one = same->question.fields.data() == one.question.fields.data();
    if (!is_one) throw std::logic_error(one.question.name + ": two questions of one name");
    join(same->question, std::move(one.question));
  }
}

}  // namespace

const std::vector<Answerer>& api_detail::answerers() {
  static const std::vector<Answerer> kAll = [] {
    std::vector<Answerer> all = questions_of_pages();
    add(all, questions_of_commands());
    add(all, questions_that_write());
    return all;
  }();
  return kAll;
}

const Answerer& api_detail::answerer_named(std::string_view name) {
  std::vector<std::string_view> names;
  std::string known;
  for (const Answerer& one : answerers()) {
    if (one.question.name == name) return one;
    names.emplace_back(one.question.name);
    known += (known.empty() ? "" : ", ") + one.question.name;
  }
  const auto nearest = nearest_word(name, names);
  throw InvalidArgument(
      "studio", "question", "one of " + known,
      "\"" + std::string(name) + "\"" + (nearest ? "; did you mean " + std::string(*nearest) + "?" : ""));
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
