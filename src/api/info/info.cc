#include "qkv/api/info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "api/replies/lines.h"
#include "qkv/attention.h"
#include "qkv/info.h"
#include "qkv/targets.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using api_detail::named_lines;

constexpr DType kDTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};

std::string words(const std::vector<std::string>& list) {
  return list.empty() ? "none that matter here" : fmt::format("{}", fmt::join(list, " "));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    words.emplace_back(word);
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

const Fields<InfoRequest>& info_fields() {
  static const Fields<InfoRequest> kFields = [] {
    Fields<InfoRequest> fields;
    fields.add(&InfoRequest::file,
               {.name = "file", .form = "FILE", .meaning = "What is in it: GGUF, safetensors, or a model's folder"});
    fields.give_examples({{"file", "model.gguf"}});
    return fields;
  }();
  return kFields;
}

InfoReply machine_info() {
  const BuildInfo& build = build_info();
  const auto if_any = [](std::string_view text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
  InfoReply reply;
  reply.version = build.version;
  reply.build = {.compiler = std::string(build.compiler),
                 .type = std::string(build.build_type),
                 .flags = std::string(build.flags),
                 .commit = if_any(build.commit),
                 .targets = words_of(build.targets),
                 .left_out = words_of(build.left_out)};
  reply.cpu = {.model = cpu_model(),
               .threads = std::thread::hardware_concurrency(),
               .used = threads(),
               .instructions = cpu_instructions()};
  for (const CpuTarget& target : cpu_targets()) {
    reply.targets.push_back({target.name, target.instructions, target.line, if_any(target.substitute), target.compiled,
                             target.runs_here, target.chosen});
  }
  for (const DType dtype : kDTypes) reply.runs_on.emplace_back(name_of(dtype), attention_target(dtype));
  return reply;
}

Members<InfoBuild> describe(const InfoBuild* /*type*/) {
  return Members<InfoBuild>("InfoBuild")
      .add(&InfoBuild::compiler, "compiler", "Name and version")
      .add(&InfoBuild::type, "type", "Release, Debug, …")
      .add(&InfoBuild::flags, "flags", "As CMake passed them")
      .add(&InfoBuild::commit, "commit", "Of the source tree; null if it is not known")
      .add(&InfoBuild::targets, "targets", "CPU targets that it holds beside reference")
      .add(&InfoBuild::left_out, "left_out", "Those that it could hold");
}

Members<InfoCpu> describe(const InfoCpu* /*type*/) {
  return Members<InfoCpu>("InfoCpu")
      .add(&InfoCpu::model, "model", "The processor's name")
      .add(&InfoCpu::threads, "threads", "That the machine offers")
      .add(&InfoCpu::used, "used", "That a call uses")
      .add(&InfoCpu::instructions, "instructions", "Sets of them that kernels can use");
}

Members<InfoTarget> describe(const InfoTarget* /*type*/) {
  using T = InfoTarget;
  return Members<T>("InfoTarget")
      .add(&T::name, "name", "As QKV_FORCE_TARGET takes it")
      .add(&T::instructions, "instructions", "What the machine must offer")
      .add(&T::line, "line", "What it multiplies")
      .add(&T::substitute, "substitute", "The target that does the rest; null if there is none")
      .add(&T::compiled, "compiled", "Whether this build holds it")
      .add(&T::runs_here, "runs_here", "Whether the machine offers the instructions")
      .add(&T::chosen, "chosen", "Whether calls use it: one target is chosen");
}

Members<InfoReply> describe(const InfoReply* /*type*/) {
  return Members<InfoReply>("InfoReply")
      .add(&InfoReply::version, "version", "Of qkv")
      .add(&InfoReply::build, "build", "How it was built")
      .add(&InfoReply::cpu, "cpu", "The machine")
      .add(&InfoReply::targets, "targets", "All that qkv knows, the slowest first")
      .add(&InfoReply::runs_on, "runs_on", "The target of each dtype");
}

}  // namespace qkv
