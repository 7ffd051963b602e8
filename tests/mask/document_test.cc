// docs/masks.md: its pictures and figures are those of the masks that they name.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "qkv/bias.h"
#include "qkv/tile_plan.h"

namespace qkv::document_test {
namespace {

std::vector<std::string> lines_of_document() {
  std::ifstream file(QKV_SOURCE_DIR "/docs/masks.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The lines of each fenced block of plain text.
std::vector<std::vector<std::string>> text_blocks() {
  std::vector<std::vector<std::string>> blocks;
  bool inside = false;
  for (const std::string& line : lines_of_document()) {
    const bool fence = line.starts_with("```");
    if (fence && !inside && line == "```text") blocks.emplace_back();
    if (fence) {
      inside = !inside && line == "```text";
    } else if (inside) {
      blocks.back().push_back(line);
    }
  }
  return blocks;
}

bool is_picture(const std::vector<std::string>& block) {
  return block.size() > 1 && block[1].find_first_not_of("#. ") == std::string::npos;
}

// Where each heading of the first line begins: after three blanks.
std::vector<std::size_t> starts_of(const std::string& headings) {
  std::vector<std::size_t> starts{0};
  for (std::size_t gap = headings.find("   "); gap != std::string::npos; gap = headings.find("   ", starts.back())) {
    starts.push_back(headings.find_first_not_of(' ', gap));
  }
  return starts;
}

std::string up_to_gap(const std::string& line, std::size_t start) {
  const std::string rest = line.substr(start);
  return rest.substr(0, rest.find("   "));
}

TEST(MasksDocument, DrawsWhatTheMasksShow) {
  int pictures = 0;
  for (const auto& block : text_blocks()) {
    if (!is_picture(block)) continue;
    for (const std::size_t start : starts_of(block[0])) {
      const Mask mask = parse_mask(up_to_gap(block[0], start));
      const std::string first = up_to_gap(block[1], start);
      const MaskShape shape{.Tq = static_cast<std::int64_t>(block.size()) - 1,
                            .Tk = static_cast<std::int64_t>(first.size())};
      mask.validate(shape);
      for (std::int64_t i = 0; i < shape.Tq; ++i) {
        std::string row;
        for (std::int64_t j = 0; j < shape.Tk; ++j) row += mask.allows({.i = i, .j = j}, shape) ? '#' : '.';
        EXPECT_EQ(up_to_gap(block[static_cast<std::size_t>(i) + 1], start), row) << mask.to_string() << " query " << i;
      }
      ++pictures;
    }
  }
  EXPECT_GE(pictures, 18);
}

TEST(MasksDocument, PrintsWhatTheBiasesAdd) {
  int tables = 0;
  for (const auto& block : text_blocks()) {
    const bool is_bias = block[0].starts_with("alibi(") || block[0].starts_with("t5(") ||
                         (block[0].starts_with("dense(") && !is_picture(block));
    if (!is_bias) continue;
    const Bias bias = parse_bias(block[0]);
    const MaskShape shape{.Tq = 4, .Tk = 4};
    bias.validate(shape);
    for (std::int64_t i = 0; i < 4; ++i) {
      std::istringstream row(block[static_cast<std::size_t>(i) + 1]);
      for (std::int64_t j = 0; j < 4; ++j) {
        double number = 0;
        ASSERT_TRUE(row >> number) << block[0];
        EXPECT_EQ(number, bias.at({.i = i, .j = j}, shape)) << block[0] << " at " << i << ", " << j;
      }
    }
    ++tables;
  }
  EXPECT_EQ(tables, 3);
}

std::string without_backslashes(std::string text) {
  std::erase(text, '\\');
  return text;
}

TEST(MasksDocument, TabulatesWhatTheMasksCost) {
  int figures = 0;
  for (const std::string& line : lines_of_document()) {
    if (!line.starts_with("| `")) continue;
    const Mask mask = parse_mask(without_backslashes(line.substr(3, line.find('`', 3) - 3)));
    const TileCounts counts = TilePlan(mask, {.Tq = 4096, .Tk = 4096}).counts();
    EXPECT_THAT(line, testing::EndsWith(fmt::format("` | {:.2f} % | {} / {} / {} | {:.2f} % |", 100 * counts.coverage(),
                                                    counts.skip, counts.full, counts.partial, 100 * counts.cost())));
    ++figures;
  }
  EXPECT_EQ(figures, 9);
}

TEST(MasksDocument, HasAHeadingForEveryWord) {
  std::string headings;
  for (const std::string& line : lines_of_document()) {
    if (line.starts_with("### ")) headings += line.substr(4) + ", ";
  }
  for (const Word& word : mask_words()) EXPECT_THAT(headings, testing::HasSubstr(std::string(word.word) + ","));
  for (const Word& word : bias_words()) EXPECT_THAT(headings, testing::HasSubstr(std::string(word.word) + ","));
}

}  // namespace
}  // namespace qkv::document_test
