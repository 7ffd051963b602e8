// qkv info: what this copy is, and what the machine under it can do.
#include "qkv/info.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "commands.h"
#include "output.h"
#include "qkv/attention.h"
#include "qkv/threads.h"

namespace qkv::cli {
namespace {

constexpr DType kDTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

std::string words(const std::vector<std::string>& list) {
  return list.empty() ? "none that matter here" : fmt::format("{}", fmt::join(list, " "));
}

std::string state_of(const CpuTarget& target) {
  if (target.chosen) return "chosen";
  if (target.compiled) return target.runs_here ? "ready" : "in this build, but this machine cannot run it";
  return target.runs_here ? "this machine could run it; not in this build" : "not on this machine, not in this build";
}

std::string as_text(const std::vector<CpuTarget>& targets) {
  const BuildInfo& build = build_info();
  std::string text = fmt::format("qkv {}\n\n", build.version);
  text += fmt::format("build     {}, {}\n", build.compiler, build.build_type.empty() ? "no type" : build.build_type);
  text += fmt::format("flags     {}\n", build.flags.empty() ? "none" : build.flags);
  text += fmt::format("commit    {}\n", build.commit.empty() ? "not known" : build.commit);
  text += fmt::format("cpu       {}, {} threads\n", cpu_model(), std::thread::hardware_concurrency());
  text += fmt::format("uses      {} threads; QKV_THREADS=N sets them\n", threads());
  text += fmt::format("offers    {}\n\ntargets\n", words(cpu_instructions()));
  for (const CpuTarget& target : targets) {
    text += fmt::format("  {} {:<10} {}\n", target.chosen ? '*' : ' ', target.name, state_of(target));
  }
  std::vector<std::string> types;
  for (const DType dtype : kDTypes) types.push_back(fmt::format("{} on {}", name_of(dtype), attention_target(dtype)));
  return text + fmt::format(
                    "\nruns      {}\n\nQKV_FORCE_TARGET=NAME forces a target that is ready; amx leaves to "
                    "avx512 what its tiles cannot multiply.\n",
                    fmt::join(types, ", "));
}

std::string as_json(const std::vector<CpuTarget>& targets) {
  const BuildInfo& build = build_info();
  nlohmann::ordered_json json;
  json["version"] = build.version;
  json["build"] = {{"compiler", build.compiler}, {"type", build.build_type}, {"flags", build.flags}};
  json["build"]["commit"] = build.commit.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(build.commit);
  json["cpu"] = {{"model", cpu_model()},
                 {"threads", std::thread::hardware_concurrency()},
                 {"used", threads()},
                 {"instructions", cpu_instructions()}};
  json["targets"] = nlohmann::ordered_json::array();
  for (const CpuTarget& target : targets) {
    json["targets"].push_back({{"name", target.name},
                               {"instructions", target.instructions},
                               {"compiled", target.compiled},
                               {"runs_here", target.runs_here},
                               {"chosen", target.chosen}});
  }
  json["runs_on"] = nlohmann::ordered_json::object();
  for (const DType dtype : kDTypes) json["runs_on"][std::string(name_of(dtype))] = attention_target(dtype);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Version, build, and the CPU targets found and chosen");
  command->group("About");
  command->footer("Example:\n  QKV_FORCE_TARGET=reference qkv info");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json] {
    const std::vector<CpuTarget> targets = cpu_targets();
    print(*json ? as_json(targets) : as_text(targets));
  });
}

}  // namespace qkv::cli
