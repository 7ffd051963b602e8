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
  TileSize tile;
  TileCounts tiles;
  std::int64_t blind_rows = 0;  // rows that see nothing
};

[[nodiscard]] std::string as_text(const AttendSummary& summary, const AttendProblem& problem);
[[nodiscard]] std::string as_json(const AttendSummary& summary, const AttendProblem& problem);

}  // namespace qkv::cli
