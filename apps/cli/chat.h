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

/// Answers the messages of the request, or each line of standard input if the request has none. An answer is shown as
/// it grows; Ctrl-C ends it, and the command, too, if it is the only one.
void run_chat(const ChatCall& call);

/// `draw` as options, each after a blank: " --temperature 0.7 --top-k 50". Leaves defaults out.
[[nodiscard]] std::string options_for(const GenerateOptions& draw);

}  // namespace qkv::cli
