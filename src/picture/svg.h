// What cairo's SVG lacks: words for readers who cannot see it, and ids that do not clash with another picture's.
#pragma once

#include <string>
#include <string_view>

namespace qkv::picture {

/// `svg` as cairo wrote it, with role="img", <title> and <desc>, and with ids that depend on nothing but the content.
[[nodiscard]] std::string finished_svg(std::string_view svg, std::string_view title, std::string_view description);

}  // namespace qkv::picture
