// A surface of cairo as a PNG file. cairo's own writer tries five filters a row, which takes ten times as long and
// makes drawings, whose rows repeat, no smaller.
#pragma once

#include <cairo.h>

#include <string>

namespace qkv::picture {

/// Of an image surface of CAIRO_FORMAT_RGB24. Throws Error with libpng's reason.
[[nodiscard]] std::string png_file(cairo_surface_t* surface);

}  // namespace qkv::picture
