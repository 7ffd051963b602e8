// qkv fetch: a model's folder from a hub.
#include "qkv/api/fetch.h"

#include <optional>

#include "commands.h"
#include "interrupts.h"
#include "progress.h"

namespace qkv::cli {
namespace {

void run_fetch(const Asked<FetchRequest>& asked, const Given& /*all*/) {
  std::optional<InterruptWatch> interrupts;  // only fetching asks it
  if (!asked.list) interrupts.emplace();
  WalkProgress progress(asked.how.speech(), WalkUnit::bytes);
  const FetchWatch watch = [&](const FetchProgress& at) {
    progress.show(asked.name, at.done, at.total);
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
  auto fields = asked(fetch_fields(), {"json", "no_progress"});
  fields.exclude({"quiet"}, {"list"}, "nothing is fetched");
  commands.add({.name = "fetch",
                .group = "Models",
                .footer = "Files that are there are left alone; a download that was cut off is resumed.\n"
                          "HF_ENDPOINT names another hub, HF_TOKEN is a token for it.\n"
                          "Examples:\n  qkv fetch sentence-transformers/all-MiniLM-L6-v2\n"
                          "  qkv fetch openai-community/gpt2 --out models/gpt2\n"
                          "  qkv fetch Qwen/Qwen3-0.6B --list",
                .places = {"name"}},
               std::move(fields), run_fetch);
}

}  // namespace qkv::cli
