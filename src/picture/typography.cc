#include "picture/typography.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "picture/text.h"

namespace qkv::picture {
namespace {

constexpr std::size_t kMostLines = 3;
// The layout is made for the first; the others serve scripts that it lacks.
constexpr std::array<const char*, 6> kFamilies{"DejaVu Sans",      "sans-serif", "Noto Sans CJK SC",
                                               "Noto Sans CJK JP", "Noto Sans",  "Unifont"};

void select(cairo_t* cr, const char* family, const Font& font) {
  cairo_select_font_face(cr, family, CAIRO_FONT_SLANT_NORMAL,
                         font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr, font.size);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool draws_all(cairo_t* cr, const std::string& text) {
  cairo_glyph_t* glyphs = nullptr;
  int count = 0;
  const cairo_status_t status =
      cairo_scaled_font_text_to_glyphs(cairo_get_scaled_font(cr), 0, 0, text.c_str(), static_cast<int>(text.size()),
                                       &glyphs, &count, nullptr, nullptr, nullptr);
  const std::unique_ptr<cairo_glyph_t, decltype(&cairo_glyph_free)> owner(glyphs, cairo_glyph_free);
  return status == CAIRO_STATUS_SUCCESS &&
         std::none_of(glyphs, glyphs + count, [](const cairo_glyph_t& glyph) { return glyph.index == 0; });
}

void choose_font(cairo_t* cr, const std::string& text, const Font& font) {
  const std::unique_ptr<cairo_font_options_t, decltype(&cairo_font_options_destroy)> options(
      cairo_font_options_create(), cairo_font_options_destroy);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(cr, options.get());
  select(cr, kFamilies.front(), font);
  if (is_ascii(text) || draws_all(cr, text)) return;
  for (const char* family : kFamilies) {
    select(cr, family, font);
    if (draws_all(cr, text)) return;
  }
  select(cr, kFamilies.front(), font);
}

double advance(cairo_t* cr, const std::string& text) {
  cairo_text_extents_t extents{};
  cairo_text_extents(cr, text.c_str(), &extents);
  return extents.x_advance;
}

}  // namespace

Ruler::Ruler() {
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  context_.reset(cairo_create(surface));
  cairo_surface_destroy(surface);
}

double Ruler::width(const std::string& text, const Font& font) const {
  choose_font(context_.get(), text, font);
  return advance(context_.get(), text);
}

std::string Ruler::fitted(const std::string& text, const Font& font, double room) const {
  if (width(text, font) <= room) return text;
  const std::u32string points = decode(text);
  const auto cut = [&](std::size_t count) { return encode(std::u32string_view(points).substr(0, count)) + "…"; };
  std::size_t fits = 0;
  for (std::size_t too_many = points.size(); too_many - fits > 1;) {
    const std::size_t middle = fits + (too_many - fits) / 2;
    (width(cut(middle), font) <= room ? fits : too_many) = middle;
  }
  return cut(fits);
}

std::vector<std::string> Ruler::wrapped(const std::string& text, const Font& font, double room) const {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::size_t end = rest.size();
    while (lines.size() + 1 < kMostLines && width(std::string(rest.substr(0, end)), font) > room) {
      const std::size_t space = rest.substr(0, end).find_last_of(' ');
      if (space == std::string_view::npos || space == 0) break;
      end = space;
    }
    lines.push_back(fitted(std::string(rest.substr(0, end)), font, room));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return lines;
}

void set_colour(cairo_t* cr, Rgb colour) {
  cairo_set_source_rgb(cr, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
}

void rule(cairo_t* cr, double x0, double y0, double x1, double y1) {
  cairo_move_to(cr, x0, y0);
  cairo_line_to(cr, x1, y1);
}

void draw_text(cairo_t* cr, const std::string& text, double x, double y, const Font& font, Rgb colour, Anchor anchor,
               double angle) {
  if (text.empty()) return;
  cairo_save(cr);
  choose_font(cr, text, font);
  set_colour(cr, colour);
  cairo_translate(cr, x, y);
  if (angle != 0) cairo_rotate(cr, angle);
  const double width = anchor == Anchor::start ? 0 : advance(cr, text);
  cairo_move_to(cr, anchor == Anchor::middle ? -width / 2 : -width, 0);
  cairo_show_text(cr, text.c_str());
  cairo_restore(cr);
}

}  // namespace qkv::picture
