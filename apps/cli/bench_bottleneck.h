// qkv bench bottleneck.
#pragma once

#include "cli11_names.h"

namespace qkv::cli {

void add_bench_bottleneck(CLI::App& family);

}  // namespace qkv::cli
