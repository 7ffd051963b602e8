// Completes cairo's SVG: text for readers who cannot see it, and ids that do not clash with those of another picture.
#pragma once

#include <string>
#include <string_view>

namespace qkv::picture {

/// `svg` as cairo wrote it, with role="img", <title> and <desc>, and with ids that depend on nothing but the content.
[[nodiscard]] std::string finished_svg(std::string_view svg, std::string_view title, std::string_view description);

}  // namespace qkv::picture
