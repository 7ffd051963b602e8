#include "qkv/api/info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "api/replies/json_of.h"
#include "api/replies/lines.h"
#include "qkv/attention.h"
#include "qkv/info.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using api_detail::Json;
using api_detail::named_lines;

constexpr DType kDTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

std::string words(const std::vector<std::string>& list) {
  return list.empty() ? "none that matter here" : fmt::format("{}", fmt::join(list, " "));
}

Json words_of(std::string_view text) {
  Json words = Json::array();
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    words.push_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

std::string state_of(const CpuTarget& target) {
  if (target.chosen) return "chosen";
  if (target.compiled) return target.runs_here ? "ready" : "in this build, but this machine cannot run it";
  return target.runs_here ? "this machine could run it; not in this build" : "not on this machine, not in this build";
}

std::string work_of(const CpuTarget& target) {
  return target.substitute.empty() ? target.line : target.line + "; the rest: " + target.substitute;
}

}  // namespace

std::string info_as_text(int width) {
  const BuildInfo& build = build_info();
  std::string text = fmt::format("qkv {}\n\n", build.version);
  const auto add = [&](std::string_view name, const std::string& value) { text += named_lines(name, value, width); };
  add("build", fmt::format("{}, {}", build.compiler, build.build_type.empty() ? "no type" : build.build_type));
  add("flags", build.flags.empty() ? "none" : std::string(build.flags));
  add("commit", build.commit.empty() ? "not known" : std::string(build.commit));
  add("holds", std::string(build.targets));
  if (!build.left_out.empty()) add("left out", fmt::format("{}; QKV_TARGETS=all compiles them", build.left_out));
  add("cpu", fmt::format("{}, {} threads", cpu_model(), std::thread::hardware_concurrency()));
  add("uses", fmt::format("{} threads; QKV_THREADS=N sets them", threads()));
  add("offers", words(cpu_instructions()));
  text += "\ntargets\n";
  const std::vector<CpuTarget> targets = cpu_targets();
  for (const CpuTarget& target : targets) {
    text += fmt::format("  {} {:<10} {}\n", target.chosen ? '*' : ' ', target.name, state_of(target));
  }
  constexpr int kColumn = 15;
  text += "\nwhat each multiplies\n";
  for (const CpuTarget& target : targets) {
    if (!target.compiled) continue;
    text +=
        api_detail::prose(work_of(target), width, kColumn).replace(0, kColumn, fmt::format("    {:<11}", target.name));
  }
  std::vector<std::string> types;
  for (const DType dtype : kDTypes) types.push_back(fmt::format("{} on {}", name_of(dtype), attention_target(dtype)));
  text += '\n';
  add("runs", fmt::format("{}", fmt::join(types, ", ")));
  return text + "\n" + api_detail::prose("QKV_FORCE_TARGET=NAME forces a target that is ready.", width);
}

std::string info_as_json() {
  const BuildInfo& build = build_info();
  Json json;
  json["version"] = build.version;
  json["build"] = {{"compiler", build.compiler}, {"type", build.build_type}, {"flags", build.flags}};
  json["build"]["commit"] = build.commit.empty() ? Json() : Json(build.commit);
  json["build"]["targets"] = words_of(build.targets);
  json["build"]["left_out"] = words_of(build.left_out);
  json["cpu"] = {{"model", cpu_model()},
                 {"threads", std::thread::hardware_concurrency()},
                 {"used", threads()},
                 {"instructions", cpu_instructions()}};
  json["targets"] = Json::array();
  for (const CpuTarget& target : cpu_targets()) {
    json["targets"].push_back({{"name", target.name},
                               {"instructions", target.instructions},
                               {"line", target.line},
                               {"substitute", target.substitute.empty() ? Json() : Json(target.substitute)},
                               {"compiled", target.compiled},
                               {"runs_here", target.runs_here},
                               {"chosen", target.chosen}});
  }
  json["runs_on"] = Json::object();
  for (const DType dtype : kDTypes) json["runs_on"][std::string(name_of(dtype))] = attention_target(dtype);
  return api_detail::text_of(json);
}

}  // namespace qkv
