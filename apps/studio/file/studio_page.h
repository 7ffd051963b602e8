// The studio's page in one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file/page_file.h"
#include "file/page_requests.h"
#include "qkv/api/heads.h"
#include "qkv/explain/model.h"

namespace qkv::studio {

/// A model that is open already, by the name that requests call it, and its pass over what it was shown.
struct OpenedText {
  std::shared_ptr<const TextModel> model = nullptr;  // null: none
  HeadsRequest shown = {};
  std::shared_ptr<const ModelPass> pass = nullptr;  // null: none
};

/// What a file holds: the studio that answers, where its pages begin, and what puts replies into it.
struct StudioPage {
  StudioOptions studio = {};
  std::string title = {};
  std::vector<std::string> starts = {};
  OpenedText opened = {};
  std::size_t most_bytes = 8'000'000;  // up to which a file that carries its engine has other models beside
};

/// "#/step?text=the+cat": a page with the fields of its address. Flags are "true".
[[nodiscard]] std::string start_of(const std::string& page, const Request& fields);

/// Puts replies into the file, and the starts of its pages into the page.
using FillPage = std::function<void(Frozen&, StudioPage&)>;

/// The whole file. Throws Error if this build has no pages, and as the studio does.
[[nodiscard]] std::string studio_page(StudioPage page, const FillPage& fill);

/// The page Step of what the request of the question `bench` lays out.
void add_bench_page(Frozen& frozen, StudioPage& page, const Request& bench);

struct ShownHead {
  std::string site;
  std::int64_t layer = 0, head = 0;
};

/// The page Heads of a model's reading, and the page Step of one of its heads, or of one that shows a pattern; the
/// bench is asked of `query`, or of the last. A model without attention is left out. `most`: bytes of the replies of
/// each of the two pages, as they lie in the file; without it, what the studio's own files have. Throws as `heads`
/// does.
void add_model_pages(Frozen& frozen, StudioPage& page, const Request& reading, const std::optional<ShownHead>& head,
                     std::optional<std::int64_t> query, std::optional<std::size_t> most = std::nullopt);

}  // namespace qkv::studio
