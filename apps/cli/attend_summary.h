// What qkv attend tells about its work.
#pragma once

#include <string>
#include <vector>

#include "attend_problem.h"
#include "qkv/tile_plan.h"

namespace qkv::cli {

struct FileNote {
  std::string name;  // "q", "out", …
  std::string path;
  Shape shape;  // as it lies in the file
  DType dtype = DType::f32;
};

struct AttendSummary {
  std::vector<FileNote> inputs;
  std::vector<FileNote> outputs;
  MaskShape shape;
  double scale = 0;
  bool scale_is_default = true;
  AttentionOptions options;
  TileSize tile;
  TileCounts tiles;
  std::int64_t blind_rows = 0;  // rows that see nothing
  std::string target;
};

[[nodiscard]] std::string as_text(const AttendSummary& summary);
[[nodiscard]] std::string as_json(const AttendSummary& summary);

}  // namespace qkv::cli
