// Pictures that a command draws into files.
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

/// Where those of each kind go, a file or a folder of several; empty: nowhere.
struct Pictures {
  std::string png, svg, pdf;

  [[nodiscard]] bool empty() const { return png.empty() && svg.empty() && pdf.empty(); }
};

/// Of files. A path that ends as files of another format do is refused.
[[nodiscard]] Fields<Pictures> picture_fields(const std::string& group);
[[nodiscard]] Fields<Pictures> folder_fields(const std::string& group);

/// Makes the folders. Throws Error, also if a drawing of one of these names could not be written into them.
void make_folders(const Pictures& folders, std::initializer_list<std::string_view> names = {});

[[nodiscard]] FileContent file_of(const std::string& path, const std::string& text);

/// Each drawing in each folder, by its name; one without a name in each file.
[[nodiscard]] std::vector<FileContent> drawn(const Pictures& to, std::span<const Drawing> drawings);

/// Writes what was asked for of a panel or a chart, all or none.
template <class Drawn>
void write_pictures(const Pictures& to, const Drawn& picture) {
  const Drawing one = drawing("", [&]() -> const Drawn& { return picture; });
  write_files(drawn(to, {&one, 1}));
}

/// A line for each file.
[[nodiscard]] std::string pictures_report(const Pictures& files);

}  // namespace qkv::cli
