#include "insight/report_text.h"

#include "qkv/picture/terminal.h"

namespace qkv::insight {

std::string left_in(const std::string& text, int width) {
  const std::string shown = fit_to_width(one_line(text), width);
  return shown + std::string(static_cast<std::size_t>(width - display_width(shown)), ' ');
}

std::vector<std::string> numbers_to(std::int64_t count) {
  std::vector<std::string> labels;
  for (std::int64_t n = 0; n < count; ++n) labels.push_back(std::to_string(n));
  return labels;
}

std::string without_trailing_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      while (out.ends_with(' ')) out.pop_back();
    }
    out += c;
  }
  return out;
}

}  // namespace qkv::insight
