// Drawings of arrows, shapes, boxes and words.
#include "qkv/picture/diagram.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/error_message.h"
#include "picture/read_back.h"

namespace qkv::diagram_test {
namespace {

using testing::HasSubstr;

Diagram sample() {
  Diagram diagram;
  diagram.title = "Title";
  diagram.text = "What <there> is to see";
  diagram.width = 100;
  diagram.height = 60;
  diagram.strokes = {{{{0, 10}, {80, 10}}, Ink::query, Stroke::Kind::arrow},
                     {{{0, 20}, {40, 50}, {0, 50}}, Ink::value, Stroke::Kind::area}};
  diagram.boxes = {{{60, 30}, 30, 20, "7", Ink::accent, Box::Fill::strong}};
  diagram.captions = {{{0, 58}, "caption", Ink::soft}};
  return diagram;
}

TEST(Diagram, IsWellFormedAndAlwaysTheSame) {
  const std::string svg = to_svg(sample());
  EXPECT_TRUE(picture::is_xml(svg));
  EXPECT_THAT(svg, HasSubstr("<title>Title</title>"));
  EXPECT_THAT(svg, HasSubstr("<desc>What &lt;there&gt; is to see</desc>"));
  EXPECT_EQ(svg, to_svg(sample()));
  EXPECT_EQ(to_png(sample()), to_png(sample()));
}

TEST(Diagram, DrawsItsMarksInTheirInks) {
  const std::string png = to_png(sample(), 1);
  const picture::DrawnPixels pixels(png);
  ASSERT_TRUE(pixels.readable());
  EXPECT_EQ(pixels.width(), 124);   // an edge of 12 points all around
  EXPECT_EQ(pixels.height(), 106);  // and 22 for the title
  EXPECT_EQ(pixels.at(122, 104), (Rgb{255, 255, 255}));
  const Rgb inside = pixels.at(12 + 65, 12 + 22 + 33);  // of the box: 0.35 of the accent on white
  EXPECT_LT(inside.red, inside.blue);
  const Rgb area = pixels.at(12 + 8, 12 + 22 + 40);
  EXPECT_LT(area.red, area.green);
}

TEST(Diagram, GrowsWithItsTitle) {
  Diagram diagram = sample();
  diagram.title = std::string(60, 'm');
  const std::string png = to_png(diagram, 1);
  EXPECT_GT(picture::DrawnPixels(png).width(), 60 * 8);
}

TEST(Diagram, RefusesWhatCannotBeDrawn) {
  const auto refusal = [](const auto& change) {
    Diagram diagram = sample();
    change(diagram);
    return error_message([&] { (void)to_svg(diagram); });
  };
  EXPECT_EQ(refusal([](Diagram& d) { d.width = 0; }), "to_svg: width: expected a positive number of points, got 0");
  EXPECT_THAT(refusal([](Diagram& d) { d.height = std::numeric_limits<double>::infinity(); }), HasSubstr("height"));
  EXPECT_EQ(refusal([](Diagram& d) { d.strokes[0].through.resize(1); }),
            "to_svg: through: expected at least two spots, got 1");
  EXPECT_THAT(refusal([](Diagram& d) { d.captions[0].at.x = std::numeric_limits<double>::quiet_NaN(); }),
              HasSubstr("expected finite places, got (nan, 58)"));
}

}  // namespace
}  // namespace qkv::diagram_test
