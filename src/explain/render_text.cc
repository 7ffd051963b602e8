// An explanation for the terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/numbers.h"
#include "explain/shared_scale.h"
#include "explain/text_layout.h"
#include "qkv/explain.h"
#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

using namespace explain_detail;

constexpr int kProseWidth = 92;  // longer lines are hard to read
constexpr int kIndent = 3;
constexpr int kNarrowestTerminal = 20;

constexpr int kFewDecimals = 2;
constexpr std::int64_t kCellsAsNumbers = 512;  // larger or wider matrices are pictures only
constexpr std::int64_t kColumnsAsNumbers = 32;

bool fits_as_numbers(const std::vector<Heatmap>& heatmaps) {
  return std::all_of(heatmaps.begin(), heatmaps.end(), [](const Heatmap& heatmap) {
    return heatmap.values.size() <= kCellsAsNumbers && heatmap.values.dim(1) <= kColumnsAsNumbers;
  });
}

Table numbers_table(const Heatmap& heatmap) {
  Table table;
  table.columns = {""};
  for (std::int64_t j = 0; j < heatmap.values.dim(1); ++j) {
    table.columns.push_back(heatmap.column_labels.empty() ? fmt::format("{}", j)
                                                          : heatmap.column_labels[static_cast<std::size_t>(j)]);
  }
  for (std::int64_t i = 0; i < heatmap.values.dim(0); ++i) {
    std::vector<Cell> row = {
        word(heatmap.row_labels.empty() ? fmt::format("{}", i) : heatmap.row_labels[static_cast<std::size_t>(i)])};
    for (std::int64_t j = 0; j < heatmap.values.dim(1); ++j) {
      row.push_back(is_hidden(heatmap, i, j) ? word("hidden") : rounded(heatmap.values.at({i, j}), heatmap.decimals));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

class TextPage {
 public:
  explicit TextPage(const TerminalOptions& options) : options_(options) {
    options_.width = std::max(options_.width, kNarrowestTerminal);
  }

  void add_heading(const Explanation& explanation) {
    for (const std::string& line : wrapped(one_line(explanation.title), prose())) put(bold(line));
    add_settings(explanation.settings);
    add_notes(explanation.notes);
  }

  void add_section(const Section& section, std::string_view mark) {
    add_title(std::string(mark), section.title);
    for (const std::string& line : wrapped(one_line(section.text), prose())) {
      if (!line.empty()) put(line);
    }
    add_formulas(section);
    add_pictures(section);
    if (!section.images.empty()) text_ += "\n" + to_terminal(Gallery{"", section.images}, options_);
    for (const Table& table : section.tables) add_table(table);
    for (const NamedChart& chart : section.charts) {
      put("");
      text_ += to_terminal(chart.chart, options_);
    }
    for (const NamedDiagram& named : section.diagrams) add_diagram(named.diagram);
    add_notes(section.notes);
  }

  void add_findings(const std::vector<Section>& whys) {
    add_title("?", "Why? Each from numbers computed just now");
    for (const Section& why : whys) {
      const std::string id = why.id + " ";
      const int room = std::max(prose() - kIndent - kIdWidth, 16);
      std::vector<std::string> lines = wrapped(one_line(why.finding), room);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string head =
            i == 0 ? id + std::string(static_cast<std::size_t>(std::max(0, kIdWidth - display_width(id))), ' ')
                   : std::string(kIdWidth, ' ');
        put((i == 0 ? bold(head) : head) + lines[i]);
      }
    }
    put("");
    for (const std::string& line :
         wrapped("--why shows each with its tables and charts, --why=variance,order some.", prose())) {
      put(dim(line));
    }
  }

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  static constexpr int kIdWidth = 20;

  [[nodiscard]] int prose() const { return std::min(options_.width, kProseWidth); }
  [[nodiscard]] bool is_coloured() const { return options_.colour != TerminalColour::ascii; }
  [[nodiscard]] std::string bold(const std::string& text) const {
    return is_coloured() ? "\x1b[1m" + text + "\x1b[0m" : text;
  }
  [[nodiscard]] std::string dim(const std::string& text) const {
    return is_coloured() ? "\x1b[2m" + text + "\x1b[0m" : text;
  }

  void put(std::string_view line) { text_.append(line).append("\n"); }

  void add_title(const std::string& mark, const std::string& title) {
    put("");
    const std::string plain = fit_to_width(fmt::format("── {} {} ", mark, one_line(title)), options_.width);
    std::string rest;
    for (int i = display_width(plain); i < prose(); ++i) rest += "─";
    put(bold(plain) + dim(rest));
  }

  void add_formulas(const Section& section) {
    if (section.formulas.empty() && section.shape.empty()) return;
    put("");
    for (const Formula& formula : section.formulas) {
      for (const std::string& line : wrapped(one_line(formula.text), prose() - kIndent)) put("   " + bold(line));
    }
    if (section.shape.empty()) return;
    for (const std::string& line : wrapped(section.shape, prose() - kIndent)) put("   " + dim(line));
  }

  // Broken between settings, with no separator left at a line's end; a setting wider than a line is wrapped alone.
  void add_settings(const std::vector<Setting>& settings) {
    std::string line;
    const auto flush = [&] {
      for (const std::string& part : wrapped(line, prose())) put(dim(part));
      line.clear();
    };
    for (const Setting& setting : settings) {
      const std::string part = setting.name + " " + one_line(setting.value);
      if (!line.empty() && display_width(line) + display_width(part) + 3 > prose()) flush();
      line += (line.empty() ? "" : " · ") + part;
    }
    if (!line.empty()) flush();
  }

  // Side by side where that leaves room for the numbers, otherwise one below the other.
  void add_pictures(const Section& section) {
    if (section.heatmaps.empty()) return;
    Panel panel;
    for (const NamedHeatmap& named : section.heatmaps) panel.heatmaps.push_back(named.heatmap);
    put("");
    if (!fits_as_numbers(panel.heatmaps) || shows_numbers(panel, options_)) {
      text_ += to_terminal(panel, options_);
      if (!fits_as_numbers(panel.heatmaps)) say_where_numbers_are();
      return;
    }
    for (std::size_t i = 0; i < panel.heatmaps.size(); ++i) {
      if (i > 0) put("");
      const Ends ends = shared_ends(panel.heatmaps[i], section.heatmaps);
      if (ends.low < ends.high) {
        panel.heatmaps[i].low = ends.low;
        panel.heatmaps[i].high = ends.high;
      }
      add_picture(panel.heatmaps[i]);
    }
  }

  void say_where_numbers_are() {
    if (has_said_where_) return;
    has_said_where_ = true;
    constexpr std::string_view kWhere =
        "Too many numbers for a terminal: --json holds every one of them. A cell that is the mean of a block says so; "
        "--query WORD writes out one token's own numbers.";
    for (const std::string& line : wrapped(kWhere, prose())) put(dim(line));
  }

  // With as many decimals as leave room for the numbers, or with the numbers in a table below.
  void add_picture(Heatmap heatmap) {
    if (!fits_as_numbers({heatmap})) {
      text_ += to_terminal(Panel{"", {heatmap}}, options_);
      return;
    }
    for (const int decimals : {heatmap.decimals, std::min(heatmap.decimals, kFewDecimals)}) {
      Panel panel{"", {heatmap}};
      panel.heatmaps.front().decimals = decimals;
      if (!shows_numbers(panel, options_)) continue;
      text_ += to_terminal(panel, options_);
      return;
    }
    text_ += to_terminal(Panel{"", {heatmap}}, options_);
    for (const std::string& line : table_lines(numbers_table(heatmap), options_.width)) put(line);
  }

  void add_table(const Table& table) {
    put("");
    for (const std::string& line : wrapped(one_line(table.title), prose())) {
      if (!line.empty()) put(bold(line));
    }
    for (const std::string& line : table_lines(table, options_.width)) put(line);
  }

  // A terminal has no place for it: what there is to see, in words.
  void add_diagram(const Diagram& diagram) {
    put("");
    put(bold("Picture: " + diagram.title));
    for (const std::string& line : wrapped(one_line(diagram.text), prose())) put(line);
  }

  void add_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
      bool is_first = true;
      for (const std::string& line : wrapped(one_line(note), prose() - kIndent)) {
        put(is_first ? " • " + line : "   " + line);
        is_first = false;
      }
    }
  }

  TerminalOptions options_;
  bool has_said_where_ = false;
  std::string text_;
};

}  // namespace

std::string to_text(const Explanation& explanation, const ExplainTextOptions& options) {
  TextPage page(options.terminal);
  page.add_heading(explanation);
  for (const Section& step : explanation.steps) page.add_section(step, fmt::format("{}", step.number));
  if (explanation.query) page.add_section(*explanation.query, "*");
  if (explanation.whys.empty()) return std::move(page).text();
  if (options.whys_in_full) {
    for (const Section& why : explanation.whys) page.add_section(why, "?");
  } else {
    page.add_findings(explanation.whys);
  }
  return std::move(page).text();
}

}  // namespace qkv
