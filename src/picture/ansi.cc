#include "picture/ansi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "picture/oklab.h"
#include "picture/text.h"

namespace qkv::picture {
namespace {

constexpr int kGap = 3;  // columns between blocks
constexpr int kFirstOfCube = 16;
constexpr int kFirstGrey = 232;

Rgb palette_colour(int index) {
  if (index >= kFirstGrey) {
    const auto level = static_cast<std::uint8_t>(8 + 10 * (index - kFirstGrey));
    return {.red = level, .green = level, .blue = level};
  }
  constexpr std::array<std::uint8_t, 6> kLevels{0, 95, 135, 175, 215, 255};
  const int cube = index - kFirstOfCube;
  return {.red = kLevels[cube / 36], .green = kLevels[cube / 6 % 6], .blue = kLevels[cube % 6]};
}

std::string code(TerminalColour colour, int layer, const std::optional<Rgb>& rgb) {
  if (!rgb) return fmt::format("{}", layer + 1);  // 39 and 49: the terminal's own
  if (colour == TerminalColour::palette256) return fmt::format("{};5;{}", layer, palette_index(*rgb));
  return fmt::format("{};2;{};{};{}", layer, rgb->red, rgb->green, rgb->blue);
}

}  // namespace

int palette_index(Rgb colour) {
  static const std::array<Triple, 256> kPalette = [] {
    std::array<Triple, 256> lab{};
    for (int index = kFirstOfCube; index < 256; ++index) {
      lab[static_cast<std::size_t>(index)] = oklab_of(linear_of(palette_colour(index)));
    }
    return lab;
  }();
  const Triple wanted = oklab_of(linear_of(colour));
  const auto nearer = [&](const Triple& a, const Triple& b) { return distance(wanted, a) < distance(wanted, b); };
  return static_cast<int>(std::min_element(kPalette.begin() + kFirstOfCube, kPalette.end(), nearer) - kPalette.begin());
}

void Line::change_to(const Paint& paint) {
  if (colour_ == TerminalColour::ascii || paint == current_) return;
  if (paint == Paint{}) {
    text_ += "\x1b[0m";
  } else {
    std::string codes;
    if (paint.fore != current_.fore) codes = code(colour_, 38, paint.fore);
    if (paint.back != current_.back) {
      if (!codes.empty()) codes += ';';
      codes += code(colour_, 48, paint.back);
    }
    text_ += "\x1b[" + codes + "m";
  }
  current_ = paint;
}

Line& Line::add(std::string_view text, const Paint& paint) {
  if (text.empty()) return *this;
  change_to(paint);
  text_ += text;
  width_ += display_width(text);
  return *this;
}

Line& Line::pad_to(int width) { return add(std::string(static_cast<std::size_t>(std::max(0, width - width_)), ' ')); }

Line& Line::append(const Line& other) {
  change_to({});
  text_ += other.str();
  width_ += other.width_;
  return *this;
}

std::string Line::str() const { return current_ == Paint{} ? text_ : text_ + "\x1b[0m"; }

std::string Line::trimmed() const {
  std::string text = str();
  const std::size_t last = text.find_last_not_of(' ');
  text.resize(last == std::string::npos ? 0 : last + 1);
  return text;
}

int width_of(const Block& block) {
  int width = 0;
  for (const Line& line : block) width = std::max(width, line.width());
  return width;
}

Block beside_one_another(const std::vector<Block>& blocks, const TerminalOptions& options) {
  Block out;
  for (std::size_t begin = 0; begin < blocks.size();) {
    std::size_t end = begin;
    std::size_t height = 0;
    for (int used = 0; end < blocks.size(); ++end) {
      used += (end > begin ? kGap : 0) + width_of(blocks[end]);
      if (end > begin && used > options.width) break;
      height = std::max(height, blocks[end].size());
    }
    if (begin > 0) out.emplace_back(options.colour);
    for (std::size_t i = 0; i < height; ++i) {
      Line line(options.colour);
      for (std::size_t at = begin, left = 0; at < end; ++at) {
        line.pad_to(static_cast<int>(left));
        if (i < blocks[at].size()) line.append(blocks[at][i]);
        left += static_cast<std::size_t>(width_of(blocks[at]) + kGap);
      }
      out.push_back(std::move(line));
    }
    begin = end;
  }
  return out;
}

}  // namespace qkv::picture
