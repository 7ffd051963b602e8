// qkv probe's options, and what they ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attend_problem.h"
#include "qkv/picture/colour.h"
#include "qkv/probe.h"
#include "qkv/stage.h"

namespace qkv::cli {

/// The command line as it was read; an empty text is an option that was not given.
struct ProbeFlags {
  AttendFlags problem;
  std::string random;
  std::string lse;
  std::int64_t batch = 0;
  std::string head = "0";
  bool average = false;
  std::string map;
  std::string reduce = "mean";
  std::optional<std::int64_t> row;
  std::string tile;
  std::optional<std::int64_t> top_k;
  bool key_totals = false;
  bool stats = false;
  std::string stage = "weights";
  std::string png, svg, pdf;
  bool terminal = false;
  std::string color = "auto";
  std::string color_scale = "log";
  std::optional<int> width;
  std::string npy, npz;
  bool json = false;
  bool quiet = false;

  [[nodiscard]] bool wants_pictures() const { return terminal || !png.empty() || !svg.empty() || !pdf.empty(); }
};

/// One of the T x T matrices.
struct ProbeStage {
  Stage stage = Stage::weights;
  bool gradient = false;  // the loss's gradient by it: dP is that by weights, dS that by biased

  /// "weights", "dS", …
  [[nodiscard]] std::string name() const;
  /// "weight", "|dS|": what a map is made of.
  [[nodiscard]] std::string map_value() const;
  /// Numbers from 0 on, of which hidden pairs have none.
  [[nodiscard]] bool is_weights() const { return !gradient && stage >= Stage::weights; }
};

/// What is to be computed of each head, checked as far as it can be before the files are read.
struct ProbeRequest {
  std::optional<MapSize> map;  // no more than the matrix's own extents once fit() was called
  Reduce reduce = Reduce::mean;
  bool average = false;
  std::optional<std::int64_t> row;
  std::optional<Tile> tile;
  std::optional<std::int64_t> top_k;
  bool key_totals = false;
  bool stats = false;
  ProbeStage stage;

  [[nodiscard]] bool wants_nothing() const;
  /// How many arrays it makes, a map's share of visible pairs left out.
  [[nodiscard]] int arrays() const;
};

[[nodiscard]] ProbeRequest request_of(const ProbeFlags& flags);

/// Shrinks the map to the matrix and checks row, tile and top_k against it. Throws CLI::ParseError naming the option,
/// also where nothing is asked for.
void fit(ProbeRequest& request, const MaskShape& shape);

/// "3", "0,2,5" or "all", of `count` heads.
[[nodiscard]] std::vector<std::int64_t> heads_of(const std::string& text, std::int64_t count);

/// What stands for a d_out that is to be drawn.
inline constexpr const char* kDrawn = "random";

/// The flags that name files; a d_out that is drawn is none.
[[nodiscard]] AttendFlags files_of(const ProbeFlags& flags);

/// What a probe looks at.
struct ProbeInputs {
  AttendProblem problem;
  Upstream upstream;  // d_out is empty() unless gradients are asked for
};

/// From files, or with --random drawn: normal numbers for q, k and, for gradients, v as wide as q and d_out.
[[nodiscard]] ProbeInputs load_probe_inputs(const ProbeFlags& flags, const ProbeRequest& request);

}  // namespace qkv::cli
