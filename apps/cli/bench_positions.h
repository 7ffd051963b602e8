// qkv bench positions.
#pragma once

#include <CLI/CLI.hpp>

namespace qkv::cli {

void add_bench_positions(CLI::App& family);

}  // namespace qkv::cli
