#include <algorithm>
#include <array>
#include <cmath>

#include "core/listed.h"
#include "picture/ansi.h"
#include "picture/veiled.h"
#include "qkv/picture/image.h"

namespace qkv {
namespace {

using namespace picture;

constexpr std::int64_t kColumns = 24;       // of a terminal that shows colours
constexpr std::int64_t kColumnsAlone = 48;  // of a single image
constexpr std::int64_t kLetters = 16;       // across an image in ASCII

Block half_blocks(const Pixels& pixels, TerminalColour colour) {
  Block block;
  for (std::int64_t row = 0; row < pixels.height; row += 2) {
    Line line(colour);
    for (std::int64_t column = 0; column < pixels.width; ++column) {
      Paint paint{.fore = pixels.at(row, column), .back = {}};
      if (row + 1 < pixels.height) paint.back = pixels.at(row + 1, column);
      line.add("▀", paint);
    }
    block.push_back(std::move(line));
  }
  return block;
}

constexpr std::string_view kLetterNames[] = {"k black",  "b blue",   "g green", "c cyan", "r red",
                                             "p purple", "y yellow", "w white", ". grey"};

// The corner of the cube of colours that is nearest, or a dot for a grey in the middle.
char letter_of(Rgb colour) {
  constexpr std::string_view kNames = "kbgcrpyw";  // red, green, blue as bits
  const std::array<int, 3> channels = {colour.red, colour.green, colour.blue};
  const int low = std::min({channels[0], channels[1], channels[2]});
  const int high = std::max({channels[0], channels[1], channels[2]});
  constexpr int kGreyish = 40;
  if (high - low < kGreyish) return high < 64 ? 'k' : low > 191 ? 'w' : '.';
  std::size_t bits = 0;
  for (const int channel : channels) bits = 2 * bits + (2 * channel > high + low ? 1 : 0);
  return kNames[bits];
}

Block letters(const Pixels& pixels) {
  Block block;
  for (std::int64_t row = 0; row < pixels.height; ++row) {
    Line line(TerminalColour::ascii);
    for (std::int64_t column = 0; column < pixels.width; ++column) {
      line.add(std::string(1, letter_of(pixels.at(row, column))) + " ");
    }
    block.push_back(std::move(line));
  }
  return block;
}

bool has_patches(const Image& image) { return !image.weights.empty() || !image.marked.empty(); }

// What the letters and digits of the images stand for: those that are there.
std::string legend_of(const Gallery& gallery) {
  std::string used;
  for (const Image& image : gallery.images) {
    if (has_patches(image)) continue;
    const Pixels pixels = pixels_of(image.pixels, kLetters);
    for (std::int64_t row = 0; row < pixels.height; ++row) {
      for (std::int64_t column = 0; column < pixels.width; ++column) used += letter_of(pixels.at(row, column));
    }
  }
  std::vector<std::string_view> letters;
  for (const std::string_view name : kLetterNames) {
    if (used.find(name.front()) != std::string::npos) letters.push_back(name);
  }
  std::string legend = core::joined(letters);
  if (std::ranges::any_of(gallery.images, [](const Image& image) { return !image.weights.empty(); })) {
    legend += std::string(legend.empty() ? "" : "; ") + "0 to 9: a patch's weight, 9 the largest in its image";
  }
  return legend;
}

Block digits(const Image& image) {
  const TensorView& patches = image.weights.empty() ? image.marked.view() : image.weights.view();
  double largest = 0;
  for (const double weight : patches.to_vector()) largest = std::max(largest, weight);
  Block block;
  for (std::int64_t row = 0; row < patches.dim(0); ++row) {
    Line line(TerminalColour::ascii);
    for (std::int64_t column = 0; column < patches.dim(1); ++column) {
      const auto digit = largest > 0 ? std::lround(9 * patches.at({row, column}) / largest) : 0;
      const bool is_marked = !image.marked.empty() && image.marked.at({row, column}) != 0;
      line.add((is_marked ? "[" : " ") + std::to_string(digit) + (is_marked ? "]" : " "));
    }
    block.push_back(std::move(line));
  }
  return block;
}

Block block_of(const Image& image, bool is_alone, const TerminalOptions& options) {
  Block block;
  if (options.colour == TerminalColour::ascii) {
    block = has_patches(image) ? digits(image) : letters(pixels_of(image.pixels, kLetters));
  } else {
    const Pixels pixels =
        pixels_of(image.pixels, std::min<std::int64_t>(is_alone ? kColumnsAlone : kColumns, options.width));
    std::vector<Block> parts;
    if (!image.weights.empty() || image.marked.empty()) {
      parts.push_back(half_blocks(image.weights.empty() ? pixels : veiled(pixels, image.weights), options.colour));
    }
    if (!image.marked.empty()) {
      parts.push_back(half_blocks(veiled(pixels, weights_of_marks(image.marked)), options.colour));
    }
    block = beside_one_another(parts, options);
  }
  if (!image.title.empty()) {
    Line title(options.colour);
    title.add(fit_to_width(one_line(image.title), std::max(width_of(block), 12)));
    block.insert(block.begin(), std::move(title));
  }
  return block;
}

}  // namespace

std::string to_terminal(const Gallery& gallery, const TerminalOptions& options) {
  require_sound("to_terminal", gallery);
  std::vector<Block> blocks;
  for (const Image& image : gallery.images) blocks.push_back(block_of(image, gallery.images.size() == 1, options));
  std::string text = gallery.title.empty() ? "" : fit_to_width(one_line(gallery.title), options.width) + "\n";
  for (const Line& line : beside_one_another(blocks, options)) text += line.trimmed() + "\n";
  if (options.colour != TerminalColour::ascii) return text;
  const std::string legend = legend_of(gallery);
  for (const std::string& line : wrapped(legend, options.width)) text += legend.empty() ? "" : line + "\n";
  return text;
}

}  // namespace qkv
