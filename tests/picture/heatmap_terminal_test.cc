#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

#include "picture/ansi.h"
#include "picture/sample.h"

namespace qkv::heatmap_terminal_test {
namespace {

using picture::sample;
using picture::Sight;
using testing::HasSubstr;
using testing::Not;

constexpr TerminalColour kColours[] = {TerminalColour::truecolour, TerminalColour::palette256, TerminalColour::ascii};

std::vector<std::string> lines_of(const std::string& text) {
  static const std::regex kEscape("\x1b\\[[0-9;]*m");
  std::istringstream in(std::regex_replace(text, kEscape, ""));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

int widest(const std::string& text) {
  int width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, display_width(line));
  return width;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++found;
  return found;
}

TEST(HeatmapTerminal, KeepsToTheWidthWithAnyLabels) {
  for (const std::int64_t tokens : {1, 4, 12, 64, 140}) {
    Heatmap heatmap = sample(tokens, tokens, Sight::causal);
    heatmap.title = std::string(300, 't');
    for (std::string& label : heatmap.row_labels) label = "とても長いラベル" + label + std::string(200, 'x');
    heatmap.column_labels.back() = "日本語";
    for (const TerminalColour colour : kColours) {
      for (const int width : {20, 80, 200}) {
        for (const std::size_t heads : {1U, 3U}) {
          const Panel panel{"Heads", std::vector<Heatmap>(heads, heatmap)};
          EXPECT_LE(widest(to_terminal(panel, {colour, width})), width) << tokens << " tokens, " << heads << " heads";
        }
      }
    }
  }
}

TEST(HeatmapTerminal, ExplainsCellsThatAreShownOrHiddenWithoutAColourBar) {
  Heatmap heatmap;
  heatmap.values = Tensor(std::vector<double>{1, 0}, {1, 2});
  heatmap.hidden = Tensor(DType::b8, {1, 2});
  heatmap.hidden.set({0, 1}, 1);
  heatmap.value_name = "visible";
  heatmap.yes_or_no = true;
  EXPECT_EQ(lines_of(to_terminal({"", {heatmap}}, {})).back(), "@ visible  . hidden");
  EXPECT_EQ(count(to_svg({"", {heatmap}}), "linearGradient"), 0U);
}

TEST(HeatmapTerminal, AsciiHasNoEscapesAndNoOtherCharacters) {
  for (const std::int64_t tokens : {1, 4, 12, 64, 300}) {
    Heatmap heatmap = sample(tokens, tokens, Sight::causal);
    heatmap.values.set({0, 0}, std::numeric_limits<double>::quiet_NaN());
    heatmap.high = 0.5;
    heatmap.row_labels.front() = std::string(100, 'w');
    const std::string text = to_terminal({"Weights", {heatmap, sample(2, 3)}}, {TerminalColour::ascii, 80});
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  }
}

TEST(HeatmapTerminal, WritesNumbersWhereTheyFit) {
  const std::string text = to_terminal({"", {sample(4, 4, Sight::causal)}}, {TerminalColour::ascii, 80});
  EXPECT_THAT(text, HasSubstr("0.00"));
  EXPECT_THAT(text, HasSubstr("0.70"));
  EXPECT_THAT(text, HasSubstr(". hidden"));
  EXPECT_THAT(text, HasSubstr("rows: query, columns: key"));
  EXPECT_THAT(to_terminal({"", {sample(4, 4)}}, {TerminalColour::ascii, 80}), Not(HasSubstr("hidden")));
}

TEST(HeatmapTerminal, ShowsAllOf64TokensAtOneColumnEach) {
  const std::string text = to_terminal({"", {sample(64, 64)}}, {TerminalColour::truecolour, 80});
  EXPECT_THAT(text, Not(HasSubstr("strongest")));
  EXPECT_EQ(count(text, "row"), 64U + 1);  // each label, and the axes' names
}

TEST(HeatmapTerminal, SaysWhenItThinsOut) {
  for (const TerminalColour colour : kColours) {
    const std::string text = to_terminal({"", {sample(300, 300)}}, {colour, 80});
    EXPECT_THAT(text, HasSubstr("each cell shows the strongest of 5 x 5 (rows x columns)"));
  }
}

TEST(HeatmapTerminal, ThinningKeepsTheStrongestValue) {
  Heatmap heatmap;
  heatmap.values = Tensor(DType::f64, {1, 400});
  heatmap.values.set({0, 399}, 1);
  const std::vector<std::string> lines = lines_of(to_terminal({"", {heatmap}}, {TerminalColour::ascii, 80}));
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.ends_with('@') && line.starts_with("0 "); }));
}

TEST(HeatmapTerminal, HiddenCellsLookLikeNoValue) {
  Heatmap heatmap;
  heatmap.values = Tensor(std::vector<double>{0, 1, -std::numeric_limits<double>::infinity()}, {1, 3});
  const std::string colours = to_terminal({"", {heatmap}}, {TerminalColour::truecolour, 80});
  EXPECT_THAT(colours, HasSubstr("·"));
  EXPECT_THAT(colours, HasSubstr("░░\x1b[0m hidden"));
  // Not a colour of the map, but the terminal's own ground.
  EXPECT_EQ(count(lines_of(colours)[1], "·"), 1U);
}

TEST(HeatmapTerminal, WritesColoursAsTheTerminalKnowsThem) {
  const Panel panel{"", {sample(4, 4)}};
  EXPECT_THAT(to_terminal(panel, {TerminalColour::truecolour, 80}), HasSubstr("48;2;"));
  const std::string palette = to_terminal(panel, {TerminalColour::palette256, 80});
  EXPECT_THAT(palette, HasSubstr("48;5;"));
  EXPECT_THAT(palette, Not(HasSubstr("48;2;")));
}

TEST(HeatmapTerminal, MakesTheLargestWeightTheBrightestOnADarkGround) {
  Heatmap heatmap;
  heatmap.values = Tensor(std::vector<double>{0, 1}, {1, 2});
  const Panel panel{"", {heatmap}};
  EXPECT_THAT(to_terminal(panel, {TerminalColour::truecolour, 80, Ground::dark}), HasSubstr("48;2;241;250;192m"));
  EXPECT_THAT(to_terminal(panel, {TerminalColour::truecolour, 80}), Not(HasSubstr("48;2;241;250;192m")));
}

TEST(HeatmapTerminal, GivesHeadsCellsOfOneWidth) {
  Heatmap narrow;
  narrow.values = Tensor(std::vector<double>{0.5, 0.25}, {1, 2});
  Heatmap wide = narrow;
  wide.values = Tensor(std::vector<double>{-100.5, 0.25}, {1, 2});
  const std::string text = to_terminal({"", {narrow, wide}}, {TerminalColour::truecolour, 40});
  EXPECT_THAT(text, HasSubstr("  0.50  "));  // as wide as -100.50 and a blank on either side
}

TEST(HeatmapTerminal, PutsHeadsBesideOneAnother) {
  Heatmap first = sample(6, 6);
  first.title = "Head 0";
  Heatmap second = sample(6, 6);
  second.title = "Head 1";
  const Panel panel{"", {first, second}};
  EXPECT_THAT(lines_of(to_terminal(panel, {TerminalColour::ascii, 120}))[0], testing::MatchesRegex("Head 0 +Head 1"));
  EXPECT_EQ(lines_of(to_terminal(panel, {TerminalColour::ascii, 30}))[0], "Head 0");
  EXPECT_EQ(count(to_terminal(panel, {TerminalColour::ascii, 120}), "1.00  weight"), 1U);  // one bar for both
}

TEST(HeatmapTerminal, LinesUpPastBlanksAtALinesEnd) {
  Heatmap blank = sample(3, 30);
  blank.values = Tensor(DType::f64, {3, 30});
  blank.high = 1;
  Heatmap full = blank;
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t column = 0; column < 30; ++column) full.values.set({row, column}, 1);
  }
  const std::vector<std::string> lines = lines_of(to_terminal({"", {blank, full}}, {TerminalColour::ascii, 200}));
  std::vector<std::size_t> begins;
  for (const std::string& line : lines) {
    if (line.find("@@@@") != std::string::npos && line.find('[') == std::string::npos) {
      begins.push_back(line.find("@@@@"));
    }
  }
  ASSERT_EQ(begins.size(), 3U);
  EXPECT_THAT(begins, testing::Each(begins.front()));
}

TEST(HeatmapTerminal, TakesEmptyAndTinyMatrices) {
  for (const TerminalColour colour : kColours) {
    Heatmap empty;
    empty.values = Tensor(DType::f32, {0, 5});
    EXPECT_THAT(to_terminal({"", {empty}}, {colour, 80}), HasSubstr("(no cells: 0 rows, 5 columns)"));
    EXPECT_THAT(to_terminal({"", {sample(1, 1)}}, {colour, 80}), HasSubstr("0.00"));
  }
}

TEST(HeatmapTerminal, LetsNoEscapeOfALabelThrough) {
  Heatmap heatmap = sample(1, 1);
  heatmap.row_labels = {"\x1b[31m\n"};
  const std::string text = to_terminal({"", {heatmap}}, {TerminalColour::ascii, 80});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("\\x1b[31m\\n"));
}

TEST(Palette256, FindsItsOwnColours) {
  EXPECT_EQ(picture::palette_index({255, 255, 255}), 231);
  EXPECT_EQ(picture::palette_index({0, 0, 0}), 16);
  EXPECT_EQ(picture::palette_index({95, 135, 175}), 16 + 36 * 1 + 6 * 2 + 3);
  EXPECT_EQ(picture::palette_index({118, 118, 118}), 243);
}

}  // namespace
}  // namespace qkv::heatmap_terminal_test
