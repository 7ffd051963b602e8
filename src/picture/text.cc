#include "picture/text.h"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

struct Range {
  char32_t first, last;
};

// Wide and Fullwidth blocks of EastAsianWidth.txt, Unicode 15, joined where only unassigned points lie between.
constexpr std::array<Range, 34> kWide{
    {{0x1100, 0x115F}, {0x231A, 0x231B}, {0x2329, 0x232A}, {0x23E9, 0x23EC}, {0x23F0, 0x23F0}, {0x23F3, 0x23F3},
     {0x25FD, 0x25FE}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267F, 0x267F}, {0x2693, 0x2693}, {0x26A1, 0x26A1},
     {0x26AA, 0x26AB}, {0x26BD, 0x26BE}, {0x26C4, 0x26C5}, {0x26CE, 0x26CE}, {0x26D4, 0x26D4}, {0x26EA, 0x26EA},
     {0x26F2, 0x26F3}, {0x26F5, 0x26F5}, {0x26FA, 0x26FA}, {0x26FD, 0x26FD}, {0x2705, 0x2705}, {0x270A, 0x270B},
     {0x2728, 0x2728}, {0x274C, 0x274C}, {0x2753, 0x2757}, {0x2795, 0x2797}, {0x2B1B, 0x2B1C}, {0x2E80, 0x303E},
     {0x3041, 0xA4CF}, {0xA960, 0xA97F}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}}};
constexpr std::array<Range, 14> kWideAbove{{{0xFE10, 0xFE19},
                                            {0xFE30, 0xFE6F},
                                            {0xFF01, 0xFF60},
                                            {0xFFE0, 0xFFE6},
                                            {0x16FE0, 0x18AFF},
                                            {0x1AFF0, 0x1B2FF},
                                            {0x1F004, 0x1F004},
                                            {0x1F0CF, 0x1F0CF},
                                            {0x1F18E, 0x1F19A},
                                            {0x1F200, 0x1F320},
                                            {0x1F32D, 0x1F64F},
                                            {0x1F680, 0x1F6FC},
                                            {0x1F7E0, 0x1FAFF},
                                            {0x20000, 0x3FFFD}}};
// Combining marks (Mn, Me), joiners and variation selectors of the scripts in common use.
constexpr std::array<Range, 40> kZeroWidth{
    {{0x00AD, 0x00AD}, {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},  {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
     {0x05C4, 0x05C5}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670},  {0x06D6, 0x06DC}, {0x06DF, 0x06E4},
     {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x0900, 0x0902}, {0x093A, 0x093A},  {0x093C, 0x093C}, {0x0941, 0x0948},
     {0x094D, 0x094D}, {0x0951, 0x0957}, {0x0962, 0x0963}, {0x0981, 0x0981},  {0x09BC, 0x09BC}, {0x09C1, 0x09C4},
     {0x09CD, 0x09CD}, {0x0B82, 0x0B82}, {0x0BC0, 0x0BC0}, {0x0BCD, 0x0BCD},  {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
     {0x0E47, 0x0E4E}, {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},  {0x200B, 0x200F}, {0x20D0, 0x20FF},
     {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}}};

bool within(std::span<const Range> ranges, char32_t point) {
  const auto* const next = std::upper_bound(ranges.data(), ranges.data() + ranges.size(), point,
                                            [](char32_t value, const Range& range) { return value < range.first; });
  return next != ranges.data() && point <= std::prev(next)->last;
}

/// Line and paragraph separators and the controls of writing direction: they would break or reorder a line.
bool breaks_a_line(char32_t point) {
  return (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069) || point == 0x061C ||
         point == 0x200E || point == 0x200F || point == 0xFEFF;
}

void append_visibly(std::string& out, char32_t point) {
  switch (point) {
    case U'\n':
      out += "\\n";
      return;
    case U'\t':
      out += "\\t";
      return;
    case U'\r':
      out += "\\r";
      return;
    default:
      break;
  }
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned>(point));
  } else if (breaks_a_line(point)) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(point));
  } else {
    utf8::append(point, std::back_inserter(out));
  }
}

}  // namespace

namespace picture {

std::u32string decode(std::string_view text) {
  std::string valid;
  utf8::replace_invalid(text.begin(), text.end(), std::back_inserter(valid));
  std::u32string points;
  utf8::utf8to32(valid.begin(), valid.end(), std::back_inserter(points));
  return points;
}

std::string encode(std::u32string_view points) {
  std::string text;
  utf8::utf32to8(points.begin(), points.end(), std::back_inserter(text));
  return text;
}

int width_of(char32_t point) {
  if (point < 0x300) return point == 0xAD ? 0 : 1;
  if (within(kZeroWidth, point)) return 0;
  return within(kWide, point) || within(kWideAbove, point) ? 2 : 1;
}

std::string padded(std::string_view text, int width, Side side) {
  const int room = std::max(0, width - display_width(text));
  int before = 0;
  if (side == Side::right) before = room;
  if (side == Side::centre) before = room / 2;
  std::string out(static_cast<std::size_t>(before), ' ');
  return out.append(text).append(static_cast<std::size_t>(room - before), ' ');
}

}  // namespace picture

int display_width(std::string_view text) {
  int width = 0;
  for (const char32_t point : picture::decode(text)) width += picture::width_of(point);
  return width;
}

std::string fit_to_width(std::string_view text, int width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const int room = width - display_width(ellipsis);
  if (room < 0) return {};
  int used = 0;
  std::u32string kept;
  for (const char32_t point : picture::decode(text)) {
    used += picture::width_of(point);
    if (used > room) break;
    kept += point;
  }
  return picture::encode(kept).append(ellipsis);
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char32_t point : picture::decode(text)) append_visibly(out, point);
  return out;
}

}  // namespace qkv
