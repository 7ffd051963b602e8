// qkv fetch: a model from a hub.
#include "qkv/api/fetch.h"

#include "commands.h"
#include "interrupts.h"
#include "progress.h"

namespace qkv::cli {
namespace {

void run_fetch(const Asked<FetchRequest>& asked, const Given& /*all*/) {
  const InterruptWatch interrupts;
  WalkProgress progress(asked.how.speech(), WalkUnit::bytes);
  const FetchWatch watch = [&](const FetchProgress& at) {
    if (at.waiting.empty()) {
      progress.show(asked.name, at.done, at.total);
    } else {
      progress.say(asked.name, at.waiting);
    }
    return !InterruptWatch::interrupted();
  };
  try {
    const FetchFigures figures = answer(asked, watch);
    asked.how.tell(figures, [&] { return as_text(figures); });
  } catch (const FetchStopped& stopped) {
    throw Exit{kInterrupted, stopped.what()};
  }
}

}  // namespace

void add_fetch(Commands& commands) {
  commands.add(
      {.name = "fetch",
       .group = "Models",
       .footer = "Files that are there are left alone; a download that was cut off is resumed.\n"
                 "Of GGUF files, of which a name often has many, one is chosen by its type or its\n"
                 "name behind a colon.\n"
                 "HF_ENDPOINT names another hub, HF_TOKEN is a token for it.\n"
                 "Examples:\n  qkv fetch sentence-transformers/all-MiniLM-L6-v2\n"
                 "  qkv fetch openai-community/gpt2 --out models/gpt2\n"
                 "  qkv fetch Qwen/Qwen3-0.6B --list\n"
                 "  qkv fetch Qwen/Qwen3-0.6B-GGUF:Q8_0",
       .places = {"name"}},
      asked(fetch_fields(), {"json", "no_progress"}), run_fetch);
}

}  // namespace qkv::cli
