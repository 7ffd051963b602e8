#include "view/applied_options.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "qkv/picture/terminal.h"
#include "view/lines.h"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostText = 200;  // a text that goes on for more than a screen tells nobody anything

double scale_of(const AttentionProblem& problem) {
  return problem.options.scale.value_or(1 / std::sqrt(static_cast<double>(problem.q.dim(3))));
}

std::string_view target_of(const AttentionProblem& problem) {
  return attention_target(problem.q.dtype(), {.target = problem.options.target});
}

}  // namespace

std::string applied_as_text(const AttentionProblem& problem, int width) {
  const AttentionOptions& options = problem.options;
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    text += view_detail::named_lines(name, fit_to_width(value, kMostText, " …"), width);
  };
  add("scale", fmt::format("{}{}", scale_of(problem), options.scale ? "" : " (1 / sqrt(D))"));
  if (options.softcap) add("softcap", fmt::to_string(*options.softcap));
  if (!options.bias.is_zero()) add("bias", options.bias.to_string());
  add("mask", options.mask.to_string());
  if (options.dropout) add("dropout", fmt::format("p = {}, seed {}", options.dropout->p, options.dropout->seed));
  if (!options.sinks.empty()) add("sinks", fmt::format("{}", fmt::join(options.sinks, ", ")));
  add("target", std::string(target_of(problem)));
  return text;
}

Json view_detail::applied_as_json(const AttentionProblem& problem) {
  const AttentionOptions& options = problem.options;
  const auto& dropout = options.dropout;
  return {{"scale", scale_of(problem)},
          {"softcap", options.softcap ? Json(*options.softcap) : Json()},
          {"bias", options.bias.is_zero() ? Json() : Json(options.bias.to_string())},
          {"mask", options.mask.to_string()},
          {"dropout", dropout ? Json{{"p", dropout->p}, {"seed", dropout->seed}} : Json()},
          {"sinks", options.sinks},
          {"target", target_of(problem)}};
}

}  // namespace qkv
