#include "api/replies/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/api/saying.h"
#include "qkv/picture/terminal.h"

namespace qkv::api_detail {

std::string prose(std::string_view text, int width, int indent) {
  std::string out;
  for (const std::string& line : wrapped(one_line(text), width - indent)) {
    out += fmt::format("{:{}}{}\n", "", indent, line);
  }
  return out;
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string size_text(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.2f} GB", number / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{:.1f} kB", number / 1e3);
}

std::string named_lines(std::string_view name, std::string_view text, int width) {
  constexpr int kColumn = 10;
  const std::string line = one_line(text);
  if (display_width(line) <= width - kColumn) return fmt::format("{:<{}}{}\n", name, kColumn, line);
  return prose(text, width, kColumn).replace(0, kColumn, fmt::format("{:<{}}", name, kColumn));
}

std::string matrix_lines(const Tensor& matrix, const Tensor& hidden, std::int64_t row, std::int64_t column, int width) {
  constexpr int kLabel = 8;
  constexpr int kNumber = 10;
  const std::int64_t rows = matrix.dim(0);
  const std::int64_t columns = matrix.dim(1);
  const auto together = std::max<std::int64_t>(1, (width - kLabel) / kNumber);
  std::string text;
  for (std::int64_t first = 0; first < columns; first += together) {
    const std::int64_t last = std::min(first + together, columns);
    text += fmt::format("{}{:>{}}", first > 0 ? "\n" : "", "", kLabel);
    for (std::int64_t j = first; j < last; ++j) text += fmt::format("{:>{}}", column + j, kNumber);
    text += '\n';
    for (std::int64_t i = 0; i < rows; ++i) {
      text += fmt::format("{:>{}}", row + i, kLabel);
      for (std::int64_t j = first; j < last; ++j) {
        const bool is_hidden = !hidden.empty() && hidden.at({i, j}) != 0;
        text += fmt::format("{:>{}}", is_hidden ? "·" : fmt::format("{:.4g}", matrix.at({i, j})), kNumber);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace qkv::api_detail

namespace qkv {

std::string duration_text(double seconds) {
  const auto whole = std::lround(std::ceil(seconds));
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace qkv
