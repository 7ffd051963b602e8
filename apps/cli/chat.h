// qkv generate --chat: a conversation with a model.
#pragma once

#include <string_view>

#include "asked.h"
#include "qkv/api/texts.h"

namespace qkv::cli {

/// A part of a text as it grows.
void print_now(std::string_view part);

/// Says what a reader of the texts has to know.
void say_before(const Manner& how, const Writing& writing);

/// Answers the messages of the request, or each line of standard input if the request has none. An answer is shown as
/// it grows; Ctrl-C ends it, and the command, too, if it is the only one.
void run_chat(const GenerateRequest& request, const Manner& how, const Writing& writing);

}  // namespace qkv::cli
