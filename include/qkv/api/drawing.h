// A picture that a question has, drawn when somebody wants it.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace qkv {

/// By its name, "tokens-grid": the contents of files.
struct Drawing {
  std::string name;
  std::function<std::string()> svg, png, pdf;
};

/// Of what `draw` returns each time: a heatmap, a panel or a chart.
template <class Draw>
[[nodiscard]] Drawing drawing(std::string name, Draw draw) {
  return {.name = std::move(name),
          .svg = [=] { return to_svg(draw()); },
          .png = [=] { return to_png(draw()); },
          .pdf = [=] { return to_pdf(draw()); }};
}

}  // namespace qkv
