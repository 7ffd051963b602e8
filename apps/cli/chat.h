// qkv generate --chat: a conversation with a model.
#pragma once

#include <string>

#include "qkv/api/texts.h"

namespace qkv::cli {

struct ChatCall {
  const GenerateRequest& request;
  const Given& given;
  const TextModel& model;
  const std::string& path;
  bool json = false;
};

/// Answers the message of the request and ends, or answers each line of standard input until it ends. An answer is
/// shown as it grows; Ctrl-C ends it, and where one alone was asked for, the command.
void run_chat(const ChatCall& call);

/// The options that say what `draw` says: " --temperature 0.7 --top-k 50".
[[nodiscard]] std::string options_for(const GenerateOptions& draw);

}  // namespace qkv::cli
