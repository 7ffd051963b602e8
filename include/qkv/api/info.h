// What this copy is, and what the machine under it can do; or what is in a file: `qkv info`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"

namespace qkv {

/// Version, build, processor and targets, in lines of at most `width` columns. Throws as cpu_targets().
[[nodiscard]] std::string info_as_text(int width);

struct InfoRequest {
  std::string file;  // whose contents are told; empty: this copy and its machine
};

struct InfoBuild {
  std::string compiler, type, flags;
  std::optional<std::string> commit;
  std::vector<std::string> targets, left_out;
};

struct InfoCpu {
  std::string model;
  std::int64_t threads = 0, used = 0;
  std::vector<std::string> instructions;
};

struct InfoTarget {
  std::string name, instructions, line;
  std::optional<std::string> substitute;
  bool compiled = false, runs_here = false, chosen = false;
};

/// What `qkv info --json` prints.
struct InfoReply {
  std::string version;
  InfoBuild build;
  InfoCpu cpu;
  std::vector<InfoTarget> targets;
  Named<std::string> runs_on;  // by dtype
};

[[nodiscard]] const Fields<InfoRequest>& info_fields();

/// This copy and its machine. Throws as cpu_targets().
[[nodiscard]] InfoReply machine_info();

/// InfoReply, or Contents. Throws as machine_info() and contents_of().
[[nodiscard]] AnyReply answer(const InfoRequest& request);

[[nodiscard]] Members<InfoBuild> describe(const InfoBuild* build);
[[nodiscard]] Members<InfoCpu> describe(const InfoCpu* cpu);
[[nodiscard]] Members<InfoTarget> describe(const InfoTarget* target);
[[nodiscard]] Members<InfoReply> describe(const InfoReply* reply);

}  // namespace qkv
