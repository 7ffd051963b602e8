#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "picture/ansi.h"
#include "picture/plot.h"
#include "picture/text.h"
#include "qkv/picture/chart.h"

namespace qkv {
namespace {

using namespace picture;

constexpr int kLeastWidth = 40;
constexpr int kMostColumns = 100;
constexpr int kRows = 16;
constexpr std::string_view kAsciiMarks = "*o+x#@%";
constexpr char32_t kBraille = 0x2800;

/// One character's worth of the plot. The series that pass through it take turns from column to column, so that lines
/// on one another can both be seen.
struct DotCell {
  unsigned dots = 0;                // of a braille character, whose bits number the dots
  std::vector<std::size_t> series;  // each once, in their order
  bool reference_upright = false;
  bool reference_level = false;
};

/// A plot of characters, each of 2 x 4 dots.
class Dots {
 public:
  Dots(int columns, int rows)
      : columns_(columns), rows_(rows), spots_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  [[nodiscard]] DotCell& spot(int column, int row) {
    return spots_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                  static_cast<std::size_t>(column)];
  }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int column_of(double x) const { return static_cast<int>(std::lround(x * (2 * columns_ - 1))) / 2; }
  [[nodiscard]] int row_of(double y) const { return static_cast<int>(std::lround((1 - y) * (4 * rows_ - 1))) / 4; }

  void mark(double x, double y, std::size_t series) {
    const auto dot_x = static_cast<int>(std::lround(x * (2 * columns_ - 1)));
    const auto dot_y = static_cast<int>(std::lround((1 - y) * (4 * rows_ - 1)));
    constexpr std::array<std::array<unsigned, 2>, 4> kBits{{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    DotCell& at = spot(dot_x / 2, dot_y / 4);
    at.dots |= kBits[static_cast<std::size_t>(dot_y % 4)][static_cast<std::size_t>(dot_x % 2)];
    if (at.series.empty() || at.series.back() != series) at.series.push_back(series);
  }

  void join(double x0, double y0, double x1, double y1, std::size_t series) {
    const auto steps =
        static_cast<int>(std::ceil(std::max(std::fabs(x1 - x0) * 2 * columns_, std::fabs(y1 - y0) * 4 * rows_))) + 1;
    for (int step = 0; step <= steps; ++step) {
      const double t = static_cast<double>(step) / steps;
      mark(x0 + t * (x1 - x0), y0 + t * (y1 - y0), series);
    }
  }

 private:
  int columns_, rows_;
  std::vector<DotCell> spots_;
};

// Microseconds are the one unit whose letter is not ASCII.
std::string in_ascii(std::string label) {
  constexpr std::string_view kMicro = "µ";
  const std::size_t at = label.find(kMicro);
  return at == std::string::npos ? label : label.replace(at, kMicro.size(), "u");
}

void draw(Dots& dots, const Plot& plot) {
  for (const PlotReference& reference : plot.references) {
    if (reference.across == Reference::Across::x) {
      for (int row = 0; row < dots.rows(); ++row) dots.spot(dots.column_of(reference.at), row).reference_upright = true;
    } else {
      for (int column = 0; column < dots.columns(); ++column) {
        dots.spot(column, dots.row_of(reference.at)).reference_level = true;
      }
    }
  }
  for (std::size_t index = 0; index < plot.series.size(); ++index) {
    const PlotSeries& series = plot.series[index];
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (std::isnan(series.x[i])) continue;
      const bool joined = i > 0 && !std::isnan(series.x[i - 1]);
      dots.join(series.x[joined ? i - 1 : i], series.y[joined ? i - 1 : i], series.x[i], series.y[i], index);
    }
  }
}

void add_spot(Line& line, const DotCell& spot, int column, const Plot& plot, bool ascii) {
  if (!spot.series.empty()) {
    const std::size_t series = spot.series[static_cast<std::size_t>(column) % spot.series.size()];
    if (ascii) {
      line.add(kAsciiMarks.substr(series % kAsciiMarks.size(), 1));
    } else {
      const char32_t dots = kBraille + spot.dots;
      line.add(encode({&dots, 1}), {.fore = plot.series[series].colour, .back = {}});
    }
  } else if (spot.reference_upright) {
    line.add(ascii ? "|" : "┊", {.fore = kQuiet, .back = {}});
  } else if (spot.reference_level) {
    line.add(ascii ? "-" : "┄", {.fore = kQuiet, .back = {}});
  } else {
    line.add(" ");
  }
}

void add_plot(Block& page, Dots& dots, const Plot& plot, int label_width, TerminalColour colour) {
  const bool ascii = colour == TerminalColour::ascii;
  std::vector<std::string> labels(static_cast<std::size_t>(dots.rows()));
  for (std::size_t i = 0; i < plot.y.ticks.size(); ++i) {
    labels[static_cast<std::size_t>(dots.row_of(plot.y.fraction(plot.y.ticks[i])))] = plot.y.labels[i];
  }
  for (int row = 0; row < dots.rows(); ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    Line line(colour);
    line.add(padded(label, label_width, Side::right), {.fore = kQuiet, .back = {}}).add(" ");
    line.add(label.empty() ? ascii ? "|" : "│" : ascii ? "+" : "┤", {.fore = kQuiet, .back = {}});
    for (int column = 0; column < dots.columns(); ++column) add_spot(line, dots.spot(column, row), column, plot, ascii);
    page.push_back(std::move(line));
  }
}

void add_x_axis(Block& page, const Dots& dots, const Plot& plot, int label_width, TerminalColour colour) {
  const bool ascii = colour == TerminalColour::ascii;
  std::vector<std::string_view> rule(static_cast<std::size_t>(dots.columns()), ascii ? "-" : "─");
  Line labels(colour);
  for (std::size_t i = 0; i < plot.x.ticks.size(); ++i) {
    const int column = dots.column_of(plot.x.fraction(plot.x.ticks[i]));
    rule[static_cast<std::size_t>(column)] = ascii ? "+" : "┬";
    const int width = display_width(plot.x.labels[i]);
    const int begin = std::min(label_width + 2 + column - width / 2, label_width + 2 + dots.columns() - width);
    if (begin < labels.width() + (labels.width() > 0 ? 2 : 0)) continue;
    labels.pad_to(begin).add(plot.x.labels[i], {.fore = kQuiet, .back = {}});
  }
  Line line(colour);
  line.pad_to(label_width + 1).add(ascii ? "+" : "└", {.fore = kQuiet, .back = {}});
  for (const std::string_view piece : rule) line.add(piece, {.fore = kQuiet, .back = {}});
  page.push_back(std::move(line));
  page.push_back(std::move(labels));
}

void add_names(Block& page, const Plot& plot, int width, TerminalColour colour) {
  const bool ascii = colour == TerminalColour::ascii;
  const std::string_view ellipsis = ascii ? ".." : "…";
  Line line(colour);
  const auto add = [&](std::string_view mark, const std::string& name, const Paint& paint) {
    if (name.empty()) return;
    const std::string text = fit_to_width(name, width - display_width(mark) - 3, ellipsis);
    if (line.width() > 0 && line.width() + 3 + display_width(mark) + 1 + display_width(text) > width) {
      page.push_back(std::move(line));
      line = Line(colour);
    }
    line.add(line.width() > 0 ? "   " : "").add(mark, paint).add(" " + text);
  };
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    add(ascii ? kAsciiMarks.substr(i % kAsciiMarks.size(), 1) : "━━", plot.series[i].name,
        {.fore = plot.series[i].colour, .back = {}});
  }
  for (const PlotReference& reference : plot.references) {
    const bool upright = reference.across == Reference::Across::x;
    add(upright ? ascii ? "|" : "┊" : ascii ? "-" : "┄", reference.name, {.fore = kQuiet, .back = {}});
  }
  if (line.width() > 0) page.push_back(std::move(line));
}

}  // namespace

std::string to_terminal(const Chart& chart, const TerminalOptions& options) {
  const int width = std::max(options.width, kLeastWidth);
  Plot plot = read_chart("to_terminal", chart, {.x = std::max(3, width / 12), .y = 5});
  if (options.colour == TerminalColour::ascii) {
    for (PlotAxis* axis : {&plot.x, &plot.y}) {
      for (std::string& label : axis->labels) label = in_ascii(std::move(label));
    }
  }
  const std::string_view ellipsis = options.colour == TerminalColour::ascii ? ".." : "…";
  int label_width = 0;
  for (const std::string& label : plot.y.labels) label_width = std::max(label_width, display_width(label));

  Block page;
  const auto add_text = [&](const std::string& text, const Paint& paint) {
    if (!text.empty()) page.emplace_back(options.colour).add(fit_to_width(text, width, ellipsis), paint);
  };
  add_text(plot.title, {});
  add_text(plot.y.name, {.fore = kQuiet, .back = {}});
  Dots dots(std::min(kMostColumns, width - label_width - 2), kRows);
  draw(dots, plot);
  add_plot(page, dots, plot, label_width, options.colour);
  add_x_axis(page, dots, plot, label_width, options.colour);
  if (!plot.x.name.empty()) {
    const std::string name = fit_to_width(plot.x.name, dots.columns(), ellipsis);
    page.emplace_back(options.colour)
        .pad_to(label_width + 2)
        .add(padded(name, dots.columns(), Side::centre), {.fore = kQuiet, .back = {}});
  }
  add_names(page, plot, width, options.colour);

  std::string text;
  for (const Line& line : page) text += line.trimmed() + "\n";
  return text;
}

}  // namespace qkv
