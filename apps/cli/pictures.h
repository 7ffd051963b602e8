// --png, --svg and --pdf of commands that draw.
#pragma once

#include <span>
#include <string>

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

/// Throws Error where one of them could not be written: for telling so before a long computation.
void require_writable(const PicturePaths& paths);

/// A line for each picture written.
[[nodiscard]] std::string pictures_report(const PicturePaths& paths);

/// Writes what was asked for of a panel or a chart, all or none.
void write_pictures(const PicturePaths& paths, const Panel& panel);
void write_pictures(const PicturePaths& paths, const Chart& chart);

}  // namespace qkv::cli
