// qkv bench positions.
#pragma once

#include "cli11_names.h"

namespace qkv::cli {

void add_bench_positions(CLI::App& family);

}  // namespace qkv::cli
