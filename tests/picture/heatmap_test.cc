#include "qkv/picture/heatmap.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <regex>

#include "picture/heatmap_layout.h"
#include "picture/read_back.h"
#include "picture/sample.h"

namespace qkv::heatmap_test {
namespace {

using picture::DrawnPixels;
using picture::HeatmapBox;
using picture::is_xml;
using picture::PanelLayout;
using picture::sample;
using picture::Sight;
using testing::HasSubstr;
using testing::Not;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PanelLayout layout_of(const Panel& panel) { return lay_out(panel.title, picture::read_panel("test", panel)); }

/// The pixel at a place within a cell (0.5, 0.5: its middle) of a panel's first heatmap, at two pixels a point.
Rgb pixel_of(const DrawnPixels& pixels, const PanelLayout& layout, double row, double column) {
  const HeatmapBox& box = layout.boxes.front();
  return pixels.at(2 * (box.x + box.left + column * box.cell.width), 2 * (box.y + box.top + row * box.cell.height));
}

std::string message_of(const Panel& panel) {
  try {
    (void)to_svg(panel);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Heatmap, NamesWhatIsWrong) {
  Heatmap good = sample(2, 3);
  EXPECT_EQ(message_of({"", {}}), "to_svg: panel: expected at least one heatmap, got none");

  Heatmap bad = good;
  bad.values = Tensor(DType::f32, {2, 3, 4});
  EXPECT_EQ(message_of({"", {bad}}), "to_svg: values: expected a matrix [rows, columns], got [2, 3, 4]");
  bad = good;
  bad.hidden = Tensor(DType::b8, {3, 2});
  EXPECT_EQ(message_of({"", {bad}}), "to_svg: hidden: expected the shape of values, [2, 3], got [3, 2]");
  bad = good;
  bad.row_labels.pop_back();
  EXPECT_EQ(message_of({"", {bad}}), "to_svg: row_labels: expected no labels or 2, one for each, got 1 labels");
  bad = good;
  bad.column_labels.emplace_back("more");
  EXPECT_EQ(message_of({"", {good, bad}}),
            "to_svg: column_labels: expected no labels or 3, one for each, got 4 labels");
  bad = good;
  bad.low = 2;
  bad.high = 1;
  EXPECT_EQ(message_of({"", {bad}}), "to_svg: low: expected a number below high (1), got 2");
  bad = good;
  bad.high = kNan;
  EXPECT_EQ(message_of({"", {bad}}), "to_svg: high: expected a finite number, got nan");
  bad = good;
  bad.decimals = -1;
  EXPECT_EQ(message_of({"", {bad}}), "to_svg: decimals: expected 0 to 15, got -1");
}

TEST(Heatmap, RefusesScalesThatNoImageHas) {
  for (const double scale : {0.0, -1.0, kNan, kInf, 1e6}) {
    EXPECT_THROW((void)to_png({"", {sample(2, 2)}}, scale), InvalidArgument) << scale;
  }
}

TEST(HeatmapPng, HasTheLayoutsSize) {
  for (const std::int64_t tokens : {1, 4, 64}) {
    const Panel panel{"", {sample(tokens, tokens)}};
    const PanelLayout layout = layout_of(panel);
    for (const double scale : {1.0, 2.0, 3.0}) {
      const DrawnPixels pixels(to_png(panel, scale));
      ASSERT_TRUE(pixels.readable());
      EXPECT_EQ(pixels.width(), static_cast<int>(std::ceil(layout.width * scale)));
      EXPECT_EQ(pixels.height(), static_cast<int>(std::ceil(layout.height * scale)));
    }
  }
}

TEST(HeatmapPng, CellsHaveTheirColoursAndHiddenOnesHaveNone) {
  for (const std::int64_t tokens : {4, 12, 64, 128}) {
    Heatmap heatmap = sample(tokens, tokens, Sight::causal);
    heatmap.values.set({1, 0}, 1);
    heatmap.values.set({1, 1}, 0);
    const Panel panel{"", {heatmap}};
    const PanelLayout layout = layout_of(panel);
    const DrawnPixels pixels(to_png(panel));
    EXPECT_EQ(pixel_of(pixels, layout, 1.15, 0.15), colour_at(ColourMap::sequential, 255));
    EXPECT_EQ(pixel_of(pixels, layout, 1.15, 1.15), colour_at(ColourMap::sequential, 0));
    const auto is_grey = [](Rgb c) { return std::abs(c.red - c.green) <= 8 && std::abs(c.green - c.blue) <= 8; };
    bool has_line = false;
    bool has_paper = false;
    const int steps = static_cast<int>(20 * (static_cast<double>(tokens) - 1.6));
    for (int step = 0; step < steps; ++step) {
      const double at = 1.5 + 0.05 * step;
      const Rgb hidden = pixel_of(pixels, layout, 0.5, at);
      EXPECT_TRUE(is_grey(hidden));
      has_line |= hidden.red < 0xe0;
      has_paper |= hidden.red > 0xe8;
    }
    EXPECT_TRUE(has_line && has_paper) << "a hatch has lines and gaps, at " << tokens << " tokens";
  }
}

TEST(HeatmapPng, MinusInfinityIsHiddenAndNanIsCrossedOut) {
  Heatmap heatmap;
  heatmap.values = Tensor(std::vector<double>{0, 1, -kInf, kNan, kInf}, {1, 5});
  const std::vector<picture::Grid> grids = picture::read_panel("test", {"", {heatmap}});
  using picture::Cell;
  EXPECT_THAT(grids[0].cells,
              testing::ElementsAre(Cell::number, Cell::number, Cell::hidden, Cell::not_a_number, Cell::number));
  EXPECT_EQ(grids[0].scale.high, 1);  // infinity stretches no scale
  EXPECT_TRUE(grids[0].scale.beyond_high);
  const Panel panel{"", {heatmap}};
  const DrawnPixels pixels(to_png(panel));
  const Rgb cross = pixel_of(pixels, layout_of(panel), 0.5, 3.5);
  EXPECT_GT(cross.red, cross.green + 80);
  EXPECT_EQ(pixel_of(pixels, layout_of(panel), 0.1, 4.1), colour_at(ColourMap::sequential, 255));
}

TEST(HeatmapScale, IsSymmetricWhereDiverging) {
  Heatmap heatmap;
  heatmap.values = Tensor(std::vector<double>{-1, 0, 3}, {1, 3});
  heatmap.colours = ColourMap::diverging;
  const auto scale = [&] { return picture::read_panel("test", {"", {heatmap}})[0].scale; };
  EXPECT_EQ(scale().low, -3);
  EXPECT_EQ(scale().high, 3);
  EXPECT_EQ(scale().fraction(0), 0.5);
  heatmap.high = 2;
  EXPECT_EQ(scale().low, -2);
  EXPECT_TRUE(scale().beyond_high);
}

TEST(HeatmapScale, HasTwoEndsForAnyValues) {
  for (const ColourMap map : {ColourMap::sequential, ColourMap::diverging}) {
    for (const double value : {0.0, 5.0, -5.0, 1e-310, 1.7e308, -1.7e308, kInf, -kInf, kNan}) {
      Heatmap heatmap;
      heatmap.colours = map;
      heatmap.values = Tensor(std::vector<double>{value, value}, {1, 2});
      const Panel panel{"", {heatmap}};
      const picture::Scale scale = picture::read_panel("test", panel)[0].scale;
      EXPECT_LT(scale.low, scale.high) << value;
      for (const double at : {scale.low, scale.high, 0.0}) {
        EXPECT_TRUE(scale.fraction(at) >= 0 && scale.fraction(at) <= 1);
      }
      EXPECT_TRUE(DrawnPixels(to_png(panel)).readable()) << value;
    }
  }
}

TEST(HeatmapScale, IsSharedByHeadsThatAreCompared) {
  Heatmap a = sample(2, 2);
  Heatmap b = sample(2, 2);
  b.values.set({0, 0}, 4);
  EXPECT_EQ(picture::read_panel("test", {"", {a, b}})[0].scale.high, 4);
  EXPECT_EQ(layout_of({"", {a, b}}).bars.size(), 1U);
  b.value_name = "score";
  EXPECT_LT(picture::read_panel("test", {"", {a, b}})[0].scale.high, 4);
  EXPECT_EQ(layout_of({"", {a, b}}).bars.size(), 2U);
}

// What would be cut off or overlap would show at the page's edge or between the boxes.
TEST(HeatmapLayout, NothingRunsOffThePageOrIntoItsNeighbour) {
  for (const std::int64_t rows : {1, 4, 12, 64, 300}) {
    for (const std::int64_t columns : {1, 4, 12, 64, 300}) {
      for (const std::size_t heads : {1U, 2U, 5U}) {
        Heatmap heatmap = sample(rows, columns, Sight::causal);
        heatmap.title = "A title of some length that has to be broken";
        heatmap.column_labels.back() = std::string(200, 'w');
        heatmap.row_labels.front() = std::string(200, 'w');
        heatmap.value_name = "a long name of the value";
        const Panel panel{"Heads", std::vector<Heatmap>(heads, heatmap)};
        const PanelLayout layout = layout_of(panel);
        for (std::size_t i = 0; i < heads; ++i) {
          const HeatmapBox& a = layout.boxes[i];
          EXPECT_LE(a.x + a.width, layout.width);
          EXPECT_LE(a.y + a.height, layout.height);
          EXPECT_GE(layout.bar_x, heads == 1 ? a.x + a.left + a.matrix_width : 0);
          for (std::size_t j = 0; j < i; ++j) {
            const HeatmapBox& b = layout.boxes[j];
            EXPECT_TRUE(b.x + b.width <= a.x || b.y + b.height <= a.y);
          }
        }
        if (heads < 3) {
          EXPECT_TRUE(DrawnPixels(to_png(panel, 1)).has_clear_edge(10)) << rows << " x " << columns;
        }
      }
    }
  }
}

TEST(HeatmapLayout, LabelsEvery4thAnd64thTokenAndThins1024) {
  const auto labels = [](std::int64_t tokens) {
    const PanelLayout layout = layout_of({"", {sample(tokens, tokens)}});
    const auto shown = [](const std::string& text) { return !text.empty(); };
    const auto& rows = layout.boxes[0].row_labels.texts;
    return std::count_if(rows.begin(), rows.end(), shown);
  };
  EXPECT_EQ(labels(4), 4);
  EXPECT_EQ(labels(64), 64);
  EXPECT_LT(labels(1024), 80);
  EXPECT_GT(labels(1024), 10);
  EXPECT_GT(layout_of({"", {sample(4, 4)}}).boxes[0].number_size, 6);
  EXPECT_EQ(layout_of({"", {sample(64, 64)}}).boxes[0].number_size, 0);
}

TEST(HeatmapLayout, SaysWhenCellsAreLeftOut) {
  Heatmap heatmap;
  heatmap.values = Tensor(DType::f32, {1500, 1500});
  EXPECT_EQ(layout_of({"", {heatmap}}).boxes[0].note, "each cell shows the strongest of 2 x 2 (rows x columns)");
  heatmap.values = Tensor(DType::f32, {1024, 1024});
  EXPECT_EQ(layout_of({"", {heatmap}}).boxes[0].note, "");
}

TEST(HeatmapSvg, IsXmlWithWordsForThoseWhoDoNotSeeIt) {
  Heatmap heatmap = sample(3, 3, Sight::causal);
  heatmap.title = "<Weights> & \"more\"";
  heatmap.row_labels = {"a<b", "日本語", "\x01"};
  const std::string svg = to_svg({"", {heatmap}});
  EXPECT_TRUE(is_xml(svg));
  EXPECT_THAT(svg, HasSubstr("<svg role=\"img\""));
  EXPECT_THAT(svg, HasSubstr("<title>&lt;Weights&gt; &amp; &quot;more&quot;</title>"));
  EXPECT_THAT(svg, HasSubstr("3 rows (query) by 3 columns (key), weight from 0.00 to "));
  EXPECT_THAT(svg, HasSubstr("3 cells hidden.</desc>"));
  EXPECT_THAT(to_svg({"", {sample(3, 3)}}), Not(HasSubstr("hidden")));
}

TEST(HeatmapSvg, DrawsLargeMatricesAsOneImage) {
  const std::string svg = to_svg({"", {sample(200, 200)}});
  EXPECT_TRUE(is_xml(svg));
  EXPECT_THAT(svg, HasSubstr("image-rendering:pixelated"));
  EXPECT_LT(svg.size(), 1'000'000U);
}

TEST(HeatmapSvg, IdsOfTwoPicturesDoNotClash) {
  const auto first_id = [](const std::string& svg) {
    std::smatch match;
    std::regex_search(svg, match, std::regex(" id=\"([^\"]+)\""));
    return match[1].str();
  };
  const std::string a = first_id(to_svg({"", {sample(3, 3)}}));
  EXPECT_FALSE(a.empty());
  EXPECT_NE(a, first_id(to_svg({"", {sample(4, 4)}})));
}

TEST(HeatmapPdf, IsOnePage) {
  const std::string pdf = to_pdf({"", {sample(4, 4)}});
  EXPECT_TRUE(pdf.starts_with("%PDF-1."));
  EXPECT_THAT(pdf, HasSubstr("/Count 1"));
}

TEST(Heatmap, SamePanelSameBytes) {
  const Panel panel{"Twice", {sample(12, 12, Sight::causal), sample(100, 100)}};
  EXPECT_EQ(to_svg(panel), to_svg(panel));
  EXPECT_EQ(to_png(panel), to_png(panel));
  EXPECT_EQ(to_pdf(panel), to_pdf(panel));
}

TEST(Heatmap, DrawsMatricesWithoutCells) {
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
    Heatmap heatmap;
    heatmap.values = Tensor(DType::f32, shape);
    EXPECT_TRUE(is_xml(to_svg({"", {heatmap}})));
    EXPECT_TRUE(DrawnPixels(to_png({"", {heatmap}})).has_clear_edge(20));
  }
}

TEST(Heatmap, TakesAnyDtype) {
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8, DType::u8, DType::b8}) {
    Heatmap heatmap = sample(2, 2);
    heatmap.values = heatmap.values.to(dtype);
    EXPECT_TRUE(DrawnPixels(to_png({"", {heatmap}})).readable());
  }
}

}  // namespace
}  // namespace qkv::heatmap_test
