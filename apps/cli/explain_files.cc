#include "explain_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "file/page_file.h"
#include "qkv/explain/files.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

std::string parent_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

void ExplainFiles::require_writable() const {
  if (html.empty()) return;
  if (!prints_page()) {
    const std::string parent = parent_of(html);
    if (!std::filesystem::is_directory(parent)) {
      throw Error(fmt::format("cannot write {}: there is no directory {}", html, parent));
    }
    qkv::require_writable(html);
  }
  studio::require_pages();
}

void ExplainFiles::write(const Explanation& explanation, const std::string& page) const {
  write_explanation(explanation, {.page_path = prints_page() ? "" : html, .page = page, .svg = svg, .png = png});
}

std::string ExplainFiles::report() const {
  std::string text;
  if (!html.empty() && !prints_page()) text += fmt::format("page      {}\n", html);
  if (!svg.empty()) text += fmt::format("pictures  {}/*.svg\n", svg);
  if (!png.empty()) text += fmt::format("pictures  {}/*.png\n", png);
  return text;
}

Fields<ExplainFiles> explain_file_fields(const char* page) {
  Fields<ExplainFiles> fields;
  fields.add(&ExplainFiles::html, {.name = "html", .form = "FILE", .meaning = page});
  fields.add(&ExplainFiles::svg,
             {.name = "svg", .form = "DIR", .meaning = "Write every picture as SVG into this directory"});
  fields.add(&ExplainFiles::png,
             {.name = "png", .form = "DIR", .meaning = "Write every picture as PNG into this directory"});
  fields.give_examples({{"html", "page.html"}, {"svg", "pictures"}, {"png", "pictures"}});
  return fields;
}

}  // namespace qkv::cli
