// A heatmap as an HTML table: every number is text, coloured as the picture would be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/explain.h"

namespace qkv::explain_detail {

/// &, <, > and quotes as entities; control characters made visible.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// <figure> elements, one a heatmap. Those of the same colours and value name share one scale. Matrices of up to 1,024
/// cells are tables, larger ones an embedded PNG.
[[nodiscard]] std::string html_heatmaps(const std::vector<NamedHeatmap>& heatmaps);

/// The same, each closed until its title is chosen; <details> bear the heatmaps' ids.
[[nodiscard]] std::string html_folded(const std::vector<NamedHeatmap>& heatmaps);

/// A grid of small pictures, each a link to its target.
[[nodiscard]] std::string html_thumbnails(const std::vector<Thumbnail>& thumbnails);

/// <img> with the bytes inside it.
[[nodiscard]] std::string html_image(std::string_view mime, std::string_view bytes, std::string_view alt);

/// Images as PNG, side by side.
[[nodiscard]] std::string html_images(const std::vector<Image>& images);

}  // namespace qkv::explain_detail
