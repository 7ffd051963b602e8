// --png, --svg and --pdf of commands that draw.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/drawing.h"
#include "qkv/api/field.h"
#include "qkv/files.h"
#include "qkv/picture/chart.h"
#include "qkv/picture/heatmap.h"

namespace qkv::cli {

struct PicturePaths {
  std::string png, svg, pdf;  // empty: not written

  [[nodiscard]] bool empty() const { return png.empty() && svg.empty() && pdf.empty(); }
};

/// Their fields, in a group. A path that ends as files of another format do is refused.
[[nodiscard]] Fields<PicturePaths> picture_fields(const std::string& group = "");

/// A line for each picture written.
[[nodiscard]] std::string pictures_report(const PicturePaths& paths);

/// Folders for several pictures; empty: none.
struct PictureFolders {
  std::string svg, png, pdf;
};

/// `svg` and `png`, with what they say.
[[nodiscard]] Fields<PictureFolders> picture_folder_fields(const char* svg, const char* png);

/// Makes the folders. Throws Error, also if a drawing of one of these names could not be written into them.
void prepare(const PictureFolders& folders, std::initializer_list<std::string_view> names = {});

[[nodiscard]] FileContent file_of(const std::string& path, const std::string& text);

/// Each drawing in each folder, by its name.
[[nodiscard]] std::vector<FileContent> drawn(const PictureFolders& folders, std::span<const Drawing> drawings);

/// Writes what was asked for of a panel or a chart, all or none.
void write_pictures(const PicturePaths& paths, const Panel& panel);
void write_pictures(const PicturePaths& paths, const Chart& chart);

}  // namespace qkv::cli
