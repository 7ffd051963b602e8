// Which tokens of a conversation are text, and which the template put around it.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "explain/numbers.h"
#include "explain/trained/model_run.h"

namespace qkv::explain_detail {
namespace {

// Many tokens are read as a text, whose spaces break lines.
std::string in_plain_spaces(std::string text) {
  constexpr std::string_view kShown = "␣";
  for (std::size_t at = text.find(kShown); at != std::string::npos; at = text.find(kShown, at)) {
    text.replace(at, kShown.size(), " ");
  }
  return text;
}

}  // namespace

Section template_step(const ModelRun& model_run) {
  Section step;
  step.id = "template";
  step.title = "Which tokens are the template's";
  const std::vector<std::string>& sources = model_run.sources;
  const auto own = std::ranges::count(sources, "template");
  step.text = fmt::format(
      "The model learned conversations in a template, which puts each message between tokens of its own: {} of these "
      "{} tokens. It ends with what stands before the model's answer.",
      own, sources.size());
  step.shape = fmt::format("[{}]", sources.size());
  Table table{"", {"tokens", "of", "text"}, {}};
  for (std::size_t begin = 0; begin < sources.size();) {
    std::size_t end = begin;
    std::string text;
    for (; end < sources.size() && sources[end] == sources[begin]; ++end) text += model_run.tokens[end];
    const std::string places = end == begin + 1 ? fmt::format("{}", begin) : fmt::format("{} to {}", begin, end - 1);
    table.rows.push_back({word(places), word(sources[begin]), word(in_plain_spaces(std::move(text)))});
    begin = end;
  }
  step.tables.push_back(std::move(table));
  return step;
}

}  // namespace qkv::explain_detail
