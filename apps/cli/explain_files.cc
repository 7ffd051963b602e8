#include "explain_files.h"

#include <fmt/format.h>

#include "qkv/explain/files.h"

namespace qkv::cli {
namespace {

std::string report_of(const Manner& how) {
  std::string text;
  if (how.quiet) return text;
  if (!how.page.empty()) text += fmt::format("page      {}\n", how.page);
  if (!how.pictures.svg.empty()) text += fmt::format("pictures  {}/*.svg\n", how.pictures.svg);
  if (!how.pictures.png.empty()) text += fmt::format("pictures  {}/*.png\n", how.pictures.png);
  return text;
}

}  // namespace

void give(const Manner& how, const Explanation& explanation, const std::string& page,
          const std::function<std::string()>& json, const std::function<std::string()>& text) {
  write_explanation(
      explanation,
      {.page_path = how.prints_page() ? "" : how.page, .page = page, .svg = how.pictures.svg, .png = how.pictures.png});
  if (how.json) return print(json());
  if (how.prints_page()) return print(page);
  const std::string told = text();
  const std::string report = report_of(how);
  print(told + (told.empty() || report.empty() ? "" : "\n") + report);
}

}  // namespace qkv::cli
