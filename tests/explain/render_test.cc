// The ways in which an explanation is written, and its pictures.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "qkv/explain.h"

namespace qkv::render_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const Explanation& sample() {
  static const Explanation kExplanation = [] {
    ExplainOptions options;
    options.text = "The <cat> & \"dog\" sat";
    options.mask = causal();
    options.query = "sat";
    options.surroundings = Surroundings::pre_norm_block;
    return explain(options);
  }();
  return kExplanation;
}

class Width : public testing::TestWithParam<int> {};

TEST_P(Width, TextStaysWithinTheTerminal) {
  ExplainTextOptions options;
  options.terminal.width = GetParam();
  options.whys_in_full = true;
  std::istringstream text(to_text(sample(), options));
  for (std::string line; std::getline(text, line);) EXPECT_LE(display_width(line), GetParam()) << line;
}
INSTANTIATE_TEST_SUITE_P(Terminals, Width, testing::Values(40, 80, 120));

TEST(ExplainText, HasNoEscapesWithoutColour) {
  ExplainTextOptions options;
  EXPECT_THAT(to_text(sample(), options), Not(HasSubstr("\x1b")));
  options.terminal.colour = TerminalColour::truecolour;
  EXPECT_THAT(to_text(sample(), options), HasSubstr("\x1b[38;2;"));
}

TEST(ExplainText, NamesEveryStepWithItsFormula) {
  const std::string text = to_text(sample(), {});
  for (const Section& step : sample().steps) EXPECT_THAT(text, HasSubstr("── " + std::to_string(step.number)));
  EXPECT_THAT(text, HasSubstr("S = Q · Kᵀ"));
  EXPECT_THAT(text, HasSubstr("[H, Tq, Tk] = [2, 5, 5]"));
}

TEST(ExplainText, MakesControlCharactersVisible) {
  ExplainOptions options;
  options.text = "a\x1b[31mb c";
  options.whys = false;
  EXPECT_THAT(to_text(explain(options), {}), Not(HasSubstr("\x1b")));
}

// NaN is a number that went wrong, not a key that a mask hides: the text tells them apart as the page does.
TEST(ExplainText, TellsNanFromWhatIsHidden) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  NamedHeatmap scores;
  scores.heatmap.title = "scores";
  scores.heatmap.values = Tensor(std::vector<double>{kNan, kHidden, 0.25, 2, 3, 4, 5, 6}, {1, 8});
  Section step;
  step.heatmaps = {scores};
  Explanation explanation;
  explanation.steps = {step};
  ExplainTextOptions options;
  options.terminal.width = 20;  // too narrow for numbers in the cells of a picture: they stand in a table
  EXPECT_THAT(to_text(explanation, options), testing::AllOf(HasSubstr("NaN"), HasSubstr("hidden")));
}

/// What stands between each '<' and the next '>'.
std::vector<std::string> tags_of(const std::string& html) {
  std::vector<std::string> tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    tags.push_back(html.substr(at + 1, html.find('>', at) - at - 1));
  }
  return tags;
}

std::string name_of_tag(const std::string& tag) { return tag.substr(0, tag.find_first_of(" /", 1)); }

// Every element that opens closes, in order.
std::string unbalanced(const std::string& html) {
  static const std::set<std::string> kVoid = {"mspace"};
  std::vector<std::string> open;
  for (const std::string& tag : tags_of(html)) {
    const std::string name = name_of_tag(tag);
    if (kVoid.contains(name) || tag.ends_with('/')) continue;
    if (!name.starts_with('/')) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name.substr(1)) {
      return "<" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " stays open";
}

TEST(ExplainFormulas, AreWellFormed) {
  for (const Section& step : sample().steps) {
    for (const Formula& formula : step.formulas) EXPECT_EQ(unbalanced(formula.mathml), "") << formula.text;
  }
}

TEST(ExplainNumbers, HaveFixedDecimalsAndNoExponents) {
  Explanation explanation;
  Section step;
  step.number = 1;
  step.heatmaps.resize(1);
  step.heatmaps[0].heatmap.values = Tensor(std::vector<double>{0, 1e-9, -1e-9, 0.5, 1, -12.25}, {2, 3});
  step.heatmaps[0].heatmap.decimals = 3;
  explanation.steps = {step};
  ExplainTextOptions options;
  options.terminal.width = 100;
  const std::string text = to_text(explanation, options);
  for (const char* part : {"~0", "0.500", "-12.250"}) EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(testing::ContainsRegex("[0-9]e-")));
}

TEST(ExplainPictures, AreNamedByStepAndUnique) {
  std::set<std::string> names;
  for (const NamedPicture& picture : pictures(sample())) {
    EXPECT_TRUE(names.insert(picture.name).second) << picture.name;
    EXPECT_NE(picture.panel.has_value(), picture.chart.has_value());
  }
  EXPECT_TRUE(names.contains("13-softmax-head0"));
  EXPECT_TRUE(names.contains("why-variance"));
}

TEST(ExplainPictures, OfLongTextsAreMeansOverBlocks) {
  ExplainOptions options;
  options.whys = false;
  for (int i = 0; i < 300; ++i) options.text += std::to_string(i) + " ";
  const Explanation explanation = explain(options);
  for (const Section& step : explanation.steps) {
    if (step.id != "softmax") continue;
    const Heatmap& heatmap = step.heatmaps.front().heatmap;
    EXPECT_EQ(heatmap.values.shape(), (Shape{100, 100}));
    EXPECT_THAT(heatmap.title, HasSubstr("mean of 3 × 3"));
    double sum = 0;
    for (const double value : heatmap.values.to_vector()) sum += value;
    EXPECT_NEAR(sum * 9, 300.0, 1e-9);  // 300 rows that sum to 1
  }
}

}  // namespace
}  // namespace qkv::render_test
