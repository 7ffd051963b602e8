#include "file/view_page.h"

#include <optional>
#include <utility>

#include "file/studio_page.h"
#include "qkv/api/about.h"
#include "qkv/error.h"
#include "qkv/explain.h"

namespace qkv::studio {
namespace {

// The mask as the page Patterns asks for it.
void add_mask_page(Frozen& frozen, StudioPage& page, const std::string& mask) {
  constexpr int kPlainLength = 512;
  constexpr int kMostCells = 128;
  frozen.add("mask",
             {{"mask", mask}, {"tq", kPlainLength}, {"tk", kPlainLength}, {"map", true}, {"cells", kMostCells}});
  page.starts.push_back(start_of("patterns/mask", {{"mask", mask}}));
}

// What the model reads: the text, or its first example.
Request reading_of(const StudioOptions& options, const AboutReply& about) {
  if (!options.text.empty()) return {{"model", options.model}, {"text", options.text}};
  for (const AboutModel& model : about.models) {
    if (model.name != options.model || model.examples.empty()) continue;
    const AboutExample& example = model.examples.front();
    if (!example.text.empty()) return {{"model", options.model}, {"text", example.text}};
    return {{"model", options.model}, {"example", example.example.value()}};
  }
  throw InvalidArgument("request", "text", "what the model reads", "none");
}

void fill_view(Frozen& frozen, StudioPage& page) {
  const StudioOptions& options = page.studio;
  if (!options.mask.empty()) add_mask_page(frozen, page, options.mask);
  if (!options.model.empty()) {
    const Request reading = reading_of(options, frozen.added<AboutReply>("about", {}));
    add_model_pages(frozen, page, reading, std::nullopt, std::nullopt);
    return;
  }
  Request bench;
  if (!options.text.empty()) bench = {{"tokens", options.text}, {"seed", ExplainOptions{}.seed}};
  add_bench_page(frozen, page, bench);
}

}  // namespace

std::string view_page(const StudioOptions& options, OpenedModel model) {
  const std::string& shown = options.model.empty() ? options.text : options.model;
  OpenedText opened{.model = std::move(model)};
  opened.shown.model = options.model;
  return studio_page({.studio = options, .title = shown.empty() ? "Attention" : shown, .opened = std::move(opened)},
                     fill_view);
}

std::string frame_page() {
  Studio asked_nothing;
  return page_file(built_pages(), {.title = "qkv", .starts = {}, .host = "qkv behind this frame"},
                   Frozen(asked_nothing));
}

}  // namespace qkv::studio
