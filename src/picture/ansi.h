// Lines of terminal text with colours, and columns of such lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/picture/colour.h"
#include "qkv/picture/terminal.h"

namespace qkv::picture {

struct Paint {
  std::optional<Rgb> fore;  // the terminal's own where not given
  std::optional<Rgb> back;

  [[nodiscard]] bool operator==(const Paint&) const = default;
};

inline constexpr Rgb kQuiet{
    .red = 0x8a, .green = 0x8a, .blue = 0x8a};  // axis names and notes: readable on dark and on light terminals
inline constexpr Rgb kAlarm{.red = 0xd7, .green = 0x3a, .blue = 0x49};

/// One line, built from left to right. Escape sequences are written only where the paint changes, and not at all in
/// ASCII.
class Line {
 public:
  explicit Line(TerminalColour colour) : colour_(colour) {}

  Line& add(std::string_view text, const Paint& paint = {});
  Line& pad_to(int width);
  Line& append(const Line& other);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] std::string str() const;      // without '\n'; leaves no paint behind
  [[nodiscard]] std::string trimmed() const;  // and without blanks at its end

 private:
  void change_to(const Paint& paint);

  TerminalColour colour_;
  std::string text_;
  Paint current_;
  int width_ = 0;
};

using Block = std::vector<Line>;

[[nodiscard]] int width_of(const Block& block);

/// The blocks side by side, as many in a row as `width` allows, an empty line between rows.
[[nodiscard]] Block beside_one_another(const std::vector<Block>& blocks, const TerminalOptions& options);

/// xterm's palette entry (16 to 255) nearest to `colour` in OKLab.
[[nodiscard]] int palette_index(Rgb colour);

}  // namespace qkv::picture
