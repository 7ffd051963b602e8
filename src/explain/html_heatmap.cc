#include "explain/html_heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "explain/numbers.h"
#include "explain/shared_scale.h"
#include "picture/xml_text.h"

namespace qkv::explain_detail {
namespace {

constexpr std::int64_t kCellsAsText = 1024;

double fraction_of(double value, const Ends& ends) {
  return ends.high > ends.low ? (value - ends.low) / (ends.high - ends.low) : 0.5;
}

std::string css(Rgb colour) { return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue); }

std::string label(const std::vector<std::string>& labels, std::int64_t index) {
  return labels.empty() ? fmt::format("{}", index) : labels[static_cast<std::size_t>(index)];
}

std::string cell(const Heatmap& heatmap, const Ends& ends, std::int64_t i, std::int64_t j) {
  const double value = heatmap.values.at({i, j});
  const std::string where = html_escaped(fmt::format("{} {} · {} {}", heatmap.row_axis, label(heatmap.row_labels, i),
                                                     heatmap.column_axis, label(heatmap.column_labels, j)));
  if (is_hidden(heatmap, i, j)) return fmt::format("<td class=\"hidden\" title=\"{}: hidden\">×</td>", where);
  if (std::isnan(value)) return fmt::format("<td class=\"hidden\" title=\"{0}: NaN\">NaN</td>", where);
  const Rgb back = colour_of(heatmap.colours, fraction_of(value, ends));
  return fmt::format("<td style=\"background:{};color:{}\" title=\"{}: {:.17g}\">{}</td>", css(back),
                     css(text_colour_on(back)), where, value, shown(value, heatmap.decimals));
}

std::string colour_bar(const Heatmap& heatmap, const Ends& ends) {
  std::string stops;
  for (int i = 0; i <= 8; ++i) stops += (i == 0 ? "" : ",") + css(colour_of(heatmap.colours, i / 8.0));
  return fmt::format(
      "<div class=\"bar\"><span>{}</span><i style=\"background:linear-gradient(90deg,{})\"></i><span>{}</span>"
      "<span>{}</span></div>",
      shown(ends.low, 2), stops, shown(ends.high, 2), html_escaped(heatmap.value_name));
}

std::string as_table(const Heatmap& heatmap, const Ends& ends) {
  const bool has_axes = !heatmap.row_axis.empty() && !heatmap.column_axis.empty();
  const std::string axes = has_axes ? heatmap.row_axis + " ╲ " + heatmap.column_axis : "";
  std::string html = fmt::format("<div class=\"scroll\"><table class=\"heat\"><thead><tr><th class=\"axes\">{}</th>",
                                 html_escaped(axes));
  for (std::int64_t j = 0; j < heatmap.values.dim(1); ++j) {
    html += fmt::format("<th scope=\"col\" title=\"{0}\">{0}</th>", html_escaped(label(heatmap.column_labels, j)));
  }
  html += "</tr></thead><tbody>";
  for (std::int64_t i = 0; i < heatmap.values.dim(0); ++i) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", html_escaped(label(heatmap.row_labels, i)));
    for (std::int64_t j = 0; j < heatmap.values.dim(1); ++j) html += cell(heatmap, ends, i, j);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>" + colour_bar(heatmap, ends);
}

// Columns that each cell of these matrices gets, so that heads line up: those of the longest number, and of labels as
// far as they are short.
int cell_width(const std::vector<NamedHeatmap>& heatmaps) {
  constexpr int kLongestLabel = 9;
  int width = 5;
  for (const NamedHeatmap& named : heatmaps) {
    const Heatmap& heatmap = named.heatmap;
    if (heatmap.values.size() > kCellsAsText) continue;
    for (const double value : heatmap.values.to_vector()) {
      width = std::max(width, display_width(shown(value, heatmap.decimals)));
    }
    for (const std::string& text : heatmap.column_labels) {
      width = std::max(width, std::min(display_width(text), kLongestLabel));
    }
  }
  return width;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::array<unsigned, 3> group{};
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < count; ++i) group.at(i) = static_cast<unsigned char>(bytes[at + i]);
    const unsigned word = (group[0] << 16U) | (group[1] << 8U) | group[2];
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= count ? kLetters[(word >> (18U - 6U * static_cast<unsigned>(i))) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace

std::string html_escaped(std::string_view text) { return picture::xml_escaped(one_line(text)); }

std::string html_image(std::string_view mime, std::string_view bytes, std::string_view alt) {
  return fmt::format("<img src=\"data:{};base64,{}\" alt=\"{}\">", mime, base64(bytes), html_escaped(alt));
}

std::string html_images(const std::vector<Image>& images) {
  std::string html = "<div class=\"figures\">";
  for (const Image& image : images) {
    Image untitled = image;
    untitled.title.clear();
    if (!image.title.empty()) html += fmt::format("<figure><figcaption>{}</figcaption>", html_escaped(image.title));
    html += html_image("image/png", to_png(Gallery{"", {untitled}}), "Image " + image.title);
    if (!image.title.empty()) html += "</figure>\n";
  }
  return html + "</div>\n";
}

std::string html_heatmaps(const std::vector<NamedHeatmap>& heatmaps) {
  std::string html = fmt::format("<div class=\"figures\" style=\"--cell:{}ch\">", cell_width(heatmaps));
  for (const NamedHeatmap& named : heatmaps) {
    const Heatmap& heatmap = named.heatmap;
    html += fmt::format("<figure><figcaption>{}</figcaption>", html_escaped(heatmap.title));
    html += heatmap.values.size() <= kCellsAsText
                ? as_table(heatmap, shared_ends(heatmap, heatmaps))
                : html_image(
                      "image/png", to_png(Panel{"", {heatmap}}),
                      fmt::format("Heatmap {}, {} by {}", heatmap.title, heatmap.values.dim(0), heatmap.values.dim(1)));
    html += "</figure>\n";
  }
  return html + "</div>\n";
}

}  // namespace qkv::explain_detail
