// qkv fetch: a model's folder from a hub.
#include "qkv/api/fetch.h"

#include <optional>

#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

struct FetchFlags : FetchRequest {
  bool json = false;
  bool quiet = false;
};

void run_fetch(FetchFlags& flags, const Given& /*all*/) {
  std::optional<InterruptWatch> interrupts;  // only fetching asks it
  if (!flags.list) interrupts.emplace();
  WalkProgress progress(flags.name, flags.quiet ? Speech::off : Speech::on, WalkUnit::bytes);
  const FetchWatch watch = [&](const FetchProgress& at) {
    progress.show(at.done, at.total);
    return !InterruptWatch::interrupted();
  };
  try {
    const FetchFigures figures = answer(flags, watch);
    print(flags.json ? reply_as_json(figures) : as_text(figures));
  } catch (const FetchStopped& stopped) {
    complain("qkv fetch", stopped.what());
    throw Exit{kInterrupted};
  }
}

Fields<FetchFlags> fields_of_fetch() {
  Fields<FetchFlags> fields;
  fields.add(fetch_fields());
  fields.add(&FetchFlags::json, json_field());
  fields.add(&FetchFlags::quiet, no_progress_field());
  fields.exclude({"quiet"}, {"list"}, "nothing is fetched");
  return fields;
}

}  // namespace

void add_fetch(Commands& commands) {
  commands.add({.name = "fetch",
                .group = "Models",
                .footer = "Files that are there are left alone; a download that was cut off is resumed.\n"
                          "HF_ENDPOINT names another hub, HF_TOKEN is a token for it.\n"
                          "Examples:\n  qkv fetch sentence-transformers/all-MiniLM-L6-v2\n"
                          "  qkv fetch openai-community/gpt2 --out models/gpt2\n"
                          "  qkv fetch Qwen/Qwen3-0.6B --list",
                .places = {"name"}},
               fields_of_fetch(), run_fetch);
}

}  // namespace qkv::cli
