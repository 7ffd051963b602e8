// The subcommands: each file of this folder adds one, and its callback does the work when the command line is read.
#pragma once

#include "cli11_names.h"

namespace qkv::cli {

/// Exit codes of the command.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;        // the request was sound, its execution failed (or: the two files differ)
inline constexpr int kMisuse = 2;         // the request has no meaning
inline constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells have it

/// Thrown by a command that has already said all there is to say, and whose answer is an exit code.
struct Exit {
  int code = kSuccess;
};

void add_analyze(CLI::App& app);
void add_attend(CLI::App& app);
void add_bench(CLI::App& app);
void add_change(CLI::App& app);
void add_check(CLI::App& app);
void add_cost(CLI::App& app);
void add_embed(CLI::App& app);
void add_explain(CLI::App& app);
void add_fetch(CLI::App& app);
void add_fill(CLI::App& app);
void add_generate(CLI::App& app);
void add_help(CLI::App& app);
void add_info(CLI::App& app);
void add_lens(CLI::App& app);
void add_mask(CLI::App& app);
void add_match(CLI::App& app);
void add_probe(CLI::App& app);
void add_task(CLI::App& app);
void add_tokens(CLI::App& app);
void add_train(CLI::App& app);
void add_view(CLI::App& app);

}  // namespace qkv::cli
