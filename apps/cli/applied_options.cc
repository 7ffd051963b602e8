#include "applied_options.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

// A text that goes on for more than a screen tells nobody anything.
std::string shortened(std::string text) {
  constexpr std::size_t kMost = 200;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  text.resize(end);
  return text + " …";
}

double scale_of(const AttendProblem& problem) {
  return problem.options.scale.value_or(1 / std::sqrt(static_cast<double>(problem.q.dim(3))));
}

std::string_view target_of(const AttendProblem& problem) {
  return attention_target(problem.q.dtype(), {.target = problem.options.target});
}

}  // namespace

std::string applied_as_text(const AttendProblem& problem) {
  const AttentionOptions& options = problem.options;
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<10}{}\n", name, shortened(value));
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

Json applied_as_json(const AttendProblem& problem) {
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

}  // namespace qkv::cli
