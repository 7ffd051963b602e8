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

[[nodiscard]] const Members<InfoBuild>& members_of(const InfoBuild* build);
[[nodiscard]] const Members<InfoCpu>& members_of(const InfoCpu* cpu);
[[nodiscard]] const Members<InfoTarget>& members_of(const InfoTarget* target);
[[nodiscard]] const Members<InfoReply>& members_of(const InfoReply* reply);

}  // namespace qkv
