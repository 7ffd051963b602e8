// Lines over an axis, such as bytes over the sequence length, for the terminal, SVG, PNG and PDF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "qkv/picture/terminal.h"

namespace qkv {

enum class AxisScale : std::uint8_t { linear, logarithmic };

/// How the numbers of an axis are written, and which numbers are round.
enum class Unit : std::uint8_t {
  plain,    // 0.25; powers of ten on a logarithmic axis
  count,    // 1.5 M, 20 G; k, M, G, T, P, E are powers of a thousand
  bytes,    // 512 KiB, 2 GiB; powers of two
  tokens,   // 2,048; powers of two
  seconds,  // 1.5 ms, 20 µs; ns, µs, ms, s
};

struct Axis {
  std::string name;
  AxisScale scale = AxisScale::linear;
  Unit unit = Unit::plain;
  std::optional<double> low;  // the ends of the axis; default: from the points
  std::optional<double> high;
};

[[nodiscard]] inline Axis logarithmic_axis(std::string name, Unit unit = Unit::plain) {
  return {.name = std::move(name), .scale = AxisScale::logarithmic, .unit = unit, .low = {}, .high = {}};
}

/// Points joined by a line in their order. A point that is not finite leaves a gap.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;  // as many as x
};

/// A line across the chart: a limit, or a point of interest.
struct Reference {
  enum class Across : std::uint8_t { x, y };  // the axis on which `at` lies

  std::string name;
  Across across = Across::y;
  double at = 0;
};

struct Chart {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<Reference> references;
};

// All throw InvalidArgument for a chart without a finite point, a series with more x than y or the other way round,
// ends that are not finite or not in order, and zero or less on a logarithmic axis. The same chart always gives the
// same bytes.

/// A chart of braille dots, or of one character a series in ASCII; lines take at most options.width columns (at least
/// 40).
[[nodiscard]] std::string to_terminal(const Chart& chart, const TerminalOptions& options);

/// As the functions of the same names for heatmaps.
[[nodiscard]] std::string to_svg(const Chart& chart);
[[nodiscard]] std::string to_png(const Chart& chart, double pixels_per_point = 2.0);
[[nodiscard]] std::string to_pdf(const Chart& chart);

/// "1.5 MiB", "512 B", "2.4 G", "2,048", "1.5 ms", "0.25": `value` in a unit, with at most three significant digits
/// (tokens: all).
[[nodiscard]] std::string in_unit(double value, Unit unit);

}  // namespace qkv
