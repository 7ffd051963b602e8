#include "qkv/picture/chart.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

#include "picture/plot.h"
#include "picture/read_back.h"
#include "qkv/error.h"

namespace qkv::chart_test {
namespace {

using picture::DrawnPixels;
using picture::is_xml;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Chart growth() {
  Chart chart;
  chart.title = "Bytes over the sequence length";
  chart.x = {"tokens", AxisScale::logarithmic, Unit::tokens, {}, {}};
  chart.y = {"bytes", AxisScale::logarithmic, Unit::bytes, {}, {}};
  Series scores{"scores", {}, {}};
  Series cache{"KV cache", {}, {}};
  for (int doublings = 0; doublings <= 10; ++doublings) {
    const double tokens = std::ldexp(128, doublings);
    scores.x.push_back(tokens);
    scores.y.push_back(4 * tokens * tokens);
    cache.x.push_back(tokens);
    cache.y.push_back(1024 * tokens);
  }
  chart.series = {scores, cache};
  chart.references = {{"context", Reference::Across::x, 2048}, {"memory", Reference::Across::y, 0x1p30}};
  return chart;
}

std::string message_of(const Chart& chart) {
  try {
    (void)to_svg(chart);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(InUnit, WritesNumbersForPeople) {
  EXPECT_EQ(in_unit(0, Unit::bytes), "0 B");
  EXPECT_EQ(in_unit(512, Unit::bytes), "512 B");
  EXPECT_EQ(in_unit(1024, Unit::bytes), "1 KiB");
  EXPECT_EQ(in_unit(1.5 * 1024 * 1024, Unit::bytes), "1.5 MiB");
  EXPECT_EQ(in_unit(80 * 0x1p30, Unit::bytes), "80 GiB");
  EXPECT_EQ(in_unit(1023.9, Unit::bytes), "1 KiB");
  EXPECT_EQ(in_unit(999.6, Unit::count), "1 k");
  EXPECT_EQ(in_unit(2.4e9, Unit::count), "2.4 G");
  EXPECT_EQ(in_unit(-3.14e23, Unit::count), "-3.1e5 E");
  EXPECT_EQ(in_unit(0.0001, Unit::count), "0.0001");
  EXPECT_EQ(in_unit(2048, Unit::tokens), "2,048");
  EXPECT_EQ(in_unit(1234567, Unit::tokens), "1,234,567");
  EXPECT_EQ(in_unit(-1000, Unit::tokens), "-1,000");
  EXPECT_EQ(in_unit(0.25, Unit::plain), "0.25");
  EXPECT_EQ(in_unit(1e-5, Unit::plain), "1e-5");
  EXPECT_EQ(in_unit(0, Unit::seconds), "0 s");
  EXPECT_EQ(in_unit(2e-8, Unit::seconds), "20 ns");
  EXPECT_EQ(in_unit(1.25e-6, Unit::seconds), "1.25 µs");
  EXPECT_EQ(in_unit(0.0312, Unit::seconds), "31.2 ms");
  EXPECT_EQ(in_unit(0.9999, Unit::seconds), "1 s");
  EXPECT_EQ(in_unit(120, Unit::seconds), "120 s");
  EXPECT_EQ(in_unit(-0.0, Unit::plain), "0");
}

TEST(Chart, NamesWhatIsWrong) {
  Chart chart = growth();
  chart.series[0].y.pop_back();
  EXPECT_EQ(message_of(chart), "to_svg: series 'scores': expected as many y as x, got 11 x and 10 y");
  chart = growth();
  chart.series.clear();
  EXPECT_EQ(message_of(chart), "to_svg: series: expected at least one finite point, got none");
  chart = growth();
  chart.series[0].y[0] = 0;
  EXPECT_EQ(message_of(chart), "to_svg: y: expected positive numbers on a logarithmic axis, got 0");
  chart = growth();
  chart.x.low = 5;
  chart.x.high = 5;
  EXPECT_EQ(message_of(chart), "to_svg: x: expected a low end below 5, got 5");
  chart = growth();
  chart.y.high = kNan;
  EXPECT_EQ(message_of(chart), "to_svg: y: expected finite ends, got an infinity or NaN");
  chart = growth();
  chart.references[0].at = kNan;
  EXPECT_EQ(message_of(chart), "to_svg: reference 'context': expected a finite place, got nan");
}

TEST(Chart, TicksAreRoundInTheUnit) {
  const picture::Plot plot = picture::read_chart("test", growth(), {});
  EXPECT_THAT(plot.x.labels, ElementsAre("256", "1,024", "4,096", "16,384", "65,536"));
  for (const std::string& label : plot.y.labels) EXPECT_THAT(label, testing::MatchesRegex("[0-9]+ [KMG]iB"));
  for (const double tick : plot.y.ticks) EXPECT_EQ(std::log2(tick), std::round(std::log2(tick)));

  Chart flops = growth();
  flops.y.unit = Unit::count;
  for (const double tick : picture::read_chart("test", flops, {}).y.ticks) {
    const double power = std::log10(tick);
    EXPECT_NEAR(power, std::round(power), 1e-9);
  }
}

TEST(Chart, LinearAxesBeginAtZeroUnlessTold) {
  Chart chart;
  chart.series = {{"s", {2, 4}, {10, 20}}};
  EXPECT_EQ(picture::read_chart("test", chart, {}).y.low, 0);
  chart.y.low = 5;
  EXPECT_EQ(picture::read_chart("test", chart, {}).y.low, 5);
}

TEST(Chart, GapsBreakTheLine) {
  Chart chart;
  chart.series = {{"s", {0, 1, 2}, {0, kNan, 2}}};
  const picture::Plot plot = picture::read_chart("test", chart, {});
  EXPECT_TRUE(std::isnan(plot.series[0].y[1]));
  EXPECT_EQ(plot.series[0].y[2], 1);
}

TEST(Chart, DrawsAllKindsOfFile) {
  const std::string svg = to_svg(growth());
  EXPECT_TRUE(is_xml(svg));
  EXPECT_THAT(svg, HasSubstr("<title>Bytes over the sequence length</title>"));
  EXPECT_THAT(svg, HasSubstr("scores: 64 KiB to 64 GiB."));
  EXPECT_TRUE(DrawnPixels(to_png(growth())).has_clear_edge(20));
  EXPECT_TRUE(to_pdf(growth()).starts_with("%PDF-1."));
  EXPECT_EQ(to_svg(growth()), svg);
  EXPECT_EQ(to_png(growth()), to_png(growth()));
  EXPECT_EQ(to_pdf(growth()), to_pdf(growth()));
}

TEST(Chart, NothingRunsOffThePageWithManyLongNames) {
  Chart chart = growth();
  for (int i = 0; i < 30; ++i) {
    chart.series.push_back({std::string(100, 'w') + std::to_string(i), {200, 400}, {1e6, 1e6}});
  }
  chart.references.push_back({std::string(100, 'm'), Reference::Across::x, 131072});
  chart.title = std::string(300, 't');
  chart.x.name = std::string(300, 'x');
  chart.y.name = std::string(300, 'y');
  EXPECT_TRUE(DrawnPixels(to_png(chart)).has_clear_edge(20));
}

TEST(Chart, DrawsOnePoint) {
  for (const AxisScale scale : {AxisScale::linear, AxisScale::logarithmic}) {
    Chart chart;
    chart.x.scale = chart.y.scale = scale;
    chart.series = {{"", {3}, {5}}};
    EXPECT_TRUE(DrawnPixels(to_png(chart)).readable());
    EXPECT_THAT(to_terminal(chart, {}), HasSubstr("*"));
  }
}

int count(const DrawnPixels& pixels, Rgb colour) {
  int found = 0;
  for (int y = 0; y < pixels.height(); ++y) {
    for (int x = 0; x < pixels.width(); ++x) found += pixels.at(x, y) == colour ? 1 : 0;
  }
  return found;
}

// The lines alone: their names would show the colours anyway.
TEST(Chart, ShowsBothOfTwoLinesOnOneAnother) {
  Chart chart = growth();
  const Series line = {"", chart.series[0].x, chart.series[0].y};
  chart.references.clear();
  for (std::size_t first = 0; first < 7; ++first) {
    for (std::size_t second = first + 1; second < 7; ++second) {
      chart.series.assign(second + 1, {});
      chart.series[first] = chart.series[second] = line;
      const auto drawn = picture::read_chart("test", chart, {}).series;
      const DrawnPixels pixels(to_png(chart));
      EXPECT_GT(count(pixels, drawn[first].colour), 100) << first << " below " << second;
      EXPECT_GT(count(pixels, drawn[second].colour), 100) << first << " below " << second;
    }
  }
}

TEST(ChartTerminal, ShowsBothOfTwoLinesOnOneAnother) {
  Chart chart = growth();
  chart.series[1].y = chart.series[0].y;
  const std::string text = to_terminal(chart, {TerminalColour::ascii, 80});
  EXPECT_GT(std::count(text.begin(), text.end(), '*'), 20);
  EXPECT_GT(std::count(text.begin(), text.end(), 'o'), 20);
}

TEST(ChartTerminal, WritesMicrosecondsInAscii) {
  Chart chart = growth();
  chart.y.unit = Unit::seconds;
  chart.series = {{"time", {256, 1024, 4096}, {1e-6, 1e-5, 1e-4}}};
  chart.references.clear();
  EXPECT_THAT(to_terminal(chart, {TerminalColour::ascii, 80}), HasSubstr("10 us"));
  EXPECT_THAT(to_terminal(chart, {TerminalColour::truecolour, 80}), HasSubstr("10 µs"));
}

TEST(ChartTerminal, KeepsToTheWidth) {
  static const std::regex kEscape("\x1b\\[[0-9;]*m");
  Chart chart = growth();
  chart.series[0].name = std::string(300, 'n');
  chart.title = "日本語" + std::string(300, 't');
  for (const TerminalColour colour : {TerminalColour::truecolour, TerminalColour::palette256, TerminalColour::ascii}) {
    for (const int width : {40, 80, 200}) {
      std::istringstream lines(std::regex_replace(to_terminal(chart, {colour, width}), kEscape, ""));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(ChartTerminal, AsciiIsAsciiAndTellsLinesApart) {
  const std::string text = to_terminal(growth(), {TerminalColour::ascii, 80});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  EXPECT_THAT(text, HasSubstr("* scores   o KV cache   | context   - memory"));
  EXPECT_GT(std::count(text.begin(), text.end(), 'o'), 20);
}

TEST(ChartTerminal, DrawsBrailleInColour) {
  const std::string text = to_terminal(growth(), {TerminalColour::truecolour, 80});
  EXPECT_THAT(text, HasSubstr("\x1b[38;2;0;114;178m"));
  EXPECT_THAT(text, testing::ContainsRegex("\xe2\xa0|\xe2\xa1|\xe2\xa2|\xe2\xa3"));
}

}  // namespace
}  // namespace qkv::chart_test
