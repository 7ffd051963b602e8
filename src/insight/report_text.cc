#include "insight/report_text.h"

#include "qkv/picture/terminal.h"

namespace qkv::insight {

std::string left_in(const std::string& text, int width) {
  const std::string shown = fit_to_width(one_line(text), width);
  return shown + std::string(static_cast<std::size_t>(width - display_width(shown)), ' ');
}

}  // namespace qkv::insight
