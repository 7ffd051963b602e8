// All commands: each file adds its own.
#pragma once

#include "command.h"

namespace qkv::cli {

/// What footers say of MODEL.
inline constexpr std::string_view kModelIs =
    "MODEL is one of the box, a file of qkv's or GGUF, or a folder as models are\npublished. ";

void add_analyze(Commands& commands);
void add_attend(Commands& commands);
void add_bench(Commands& commands);
void add_change(Commands& commands);
void add_check(Commands& commands);
void add_convert(Commands& commands);
void add_cost(Commands& commands);
void add_embed(Commands& commands);
void add_explain(Commands& commands);
void add_fetch(Commands& commands);
void add_fill(Commands& commands);
void add_generate(Commands& commands);
void add_help(Commands& commands);
void add_info(Commands& commands);
void add_lens(Commands& commands);
void add_mask(Commands& commands);
void add_match(Commands& commands);
void add_probe(Commands& commands);
void add_task(Commands& commands);
void add_tokens(Commands& commands);
void add_train(Commands& commands);
void add_view(Commands& commands);

}  // namespace qkv::cli
