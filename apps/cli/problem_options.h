// Options of qkv attend that other commands take, too.
#pragma once

#include <string>

#include "attend_problem.h"
#include "cli11_names.h"
#include "qkv/stage.h"

namespace qkv::cli {

inline constexpr const char* kInputGroup =
    "Inputs as [T, D], [B, T, H*D] or [B, H, T, D], in FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME";

/// --q, --k, --heads, --kv-heads and --past-k; none of them required.
void add_input_options(CLI::App& command, AttendFlags& flags);

/// --mask, --mask-file, --causal, --window and --kv-lengths.
void add_mask_options(CLI::App& command, AttendFlags& flags);

inline constexpr const char* kRunGroup = "How it runs";

/// --threads and --target.
void add_run_options(CLI::App& command, AttendFlags& flags);

/// --scale, --softcap, --bias, --bias-file, --dropout, --seed, which needs --dropout, and --sinks.
void add_score_options(CLI::App& command, AttendFlags& flags);

/// The value of --stage. Misuse names those that there are, and `more`.
[[nodiscard]] Stage stage_of(const std::string& name, const std::string& more = "");

}  // namespace qkv::cli
