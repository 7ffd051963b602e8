// An explanation as one self-contained page: real text, MathML, tables, nothing loaded from anywhere else.
#include <fmt/format.h>

#include <algorithm>

#include "explain/html_heatmap.h"
#include "explain/html_style.h"
#include "qkv/explain.h"

namespace qkv {
namespace {

using namespace explain_detail;

constexpr std::size_t kLongTitle = 100;  // bytes

std::string anchor_of(const Section& section) {
  return section.number > 0 || section.id == "query" ? section.id : "why-" + section.id;
}

std::string formulas(const Section& section) {
  if (section.formulas.empty() && section.shape.empty()) return "";
  std::string html = "<div class=\"formulas\">";
  for (const Formula& formula : section.formulas) {
    html += fmt::format("<math display=\"block\" alttext=\"{}\">{}</math>", html_escaped(formula.text), formula.mathml);
  }
  if (!section.shape.empty()) html += fmt::format("<div class=\"shape\">{}</div>", html_escaped(section.shape));
  return html + "</div>\n";
}

std::string table(const Table& table) {
  std::string html = "<figure>";
  if (!table.title.empty()) html += fmt::format("<figcaption>{}</figcaption>", html_escaped(table.title));
  html += "<div class=\"scroll\"><table class=\"plain\"><thead><tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool is_number = std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
      return c < row.size() && row[c].number.has_value();
    });
    html += fmt::format("<th scope=\"col\"{}>{}</th>", is_number ? " class=\"n\"" : "", html_escaped(table.columns[c]));
  }
  html += "</tr></thead><tbody>";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const bool is_faint = std::ranges::find(table.faint_rows, r) != table.faint_rows.end();
    html += is_faint ? "<tr class=\"faint\">" : "<tr>";
    for (const Cell& cell : table.rows[r]) {
      html += cell.number
                  ? fmt::format("<td class=\"n\" title=\"{:.17g}\">{}</td>", *cell.number, html_escaped(cell.text))
                  : fmt::format("<td>{}</td>", html_escaped(cell.text));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></figure>\n";
}

std::string notes(const std::vector<std::string>& notes) {
  if (notes.empty()) return "";
  std::string html = "<ul class=\"notes\">";
  for (const std::string& note : notes) html += fmt::format("<li>{}</li>", html_escaped(note));
  return html + "</ul>\n";
}

std::string section_html(const Section& section) {
  const std::string anchor = html_escaped(anchor_of(section));
  const std::string mark = section.number > 0 ? fmt::format("<span>{}</span>", section.number) : "";
  std::string html =
      fmt::format("<section class=\"step\" id=\"{0}\"><h2><a href=\"#{0}\">{1}{2}</a></h2>\n<p>{3}</p>\n", anchor, mark,
                  html_escaped(section.title), html_escaped(section.text));
  if (!section.finding.empty()) {
    html += fmt::format("<p class=\"finding\">Found: {}.</p>\n", html_escaped(section.finding));
  }
  html += formulas(section);
  if (!section.thumbnails.empty()) html += html_thumbnails(section.thumbnails);
  if (!section.heatmaps.empty()) {
    html += section.is_folded ? html_folded(section.heatmaps) : html_heatmaps(section.heatmaps);
  }
  if (!section.images.empty()) html += html_images(section.images);
  for (const Table& part : section.tables) html += table(part);
  for (const NamedChart& chart : section.charts) {
    html += fmt::format("<figure>{}</figure>\n", html_image("image/svg+xml", to_svg(chart.chart), chart.chart.title));
  }
  for (const NamedDiagram& named : section.diagrams) {
    html +=
        fmt::format("<figure>{}</figure>\n", html_image("image/svg+xml", to_svg(named.diagram), named.diagram.text));
  }
  return html + notes(section.notes) + "</section>\n";
}

void add_link(std::string& html, const Section& section, std::string_view text) {
  html += fmt::format("<li><a href=\"#{}\">{}</a></li>", html_escaped(anchor_of(section)), html_escaped(text));
}

std::string navigation(const Explanation& explanation) {
  std::string html = "<nav aria-label=\"Steps\"><ol>";
  for (const Section& step : explanation.steps) add_link(html, step, fmt::format("{} {}", step.number, step.id));
  if (explanation.query) add_link(html, *explanation.query, "query");
  for (const Section& why : explanation.whys) add_link(html, why, "why: " + why.id);
  return html + "</ol></nav>\n";
}

std::string header(const Explanation& explanation) {
  std::string html =
      fmt::format("<header><h1{}>{}</h1><dl class=\"settings\">",
                  explanation.title.size() > kLongTitle ? " class=\"long\"" : "", html_escaped(explanation.title));
  for (const Setting& setting : explanation.settings) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", html_escaped(setting.name), html_escaped(setting.value));
  }
  html += "</dl>\n";
  for (const std::string& note : explanation.notes) html += fmt::format("<p>{}</p>", html_escaped(note));
  return html + "</header>\n";
}

}  // namespace

std::string to_html(const Explanation& explanation) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<title>{} · qkv explain</title><style>{}</style></head>\n<body>\n",
      html_escaped(explanation.title), kHtmlStyle);
  html += header(explanation) + navigation(explanation) + "<main>\n";
  for (const Section& step : explanation.steps) html += section_html(step);
  if (explanation.query) html += section_html(*explanation.query);
  if (!explanation.whys.empty()) {
    html += "<h2 class=\"part\">Why?</h2><p>Each from numbers computed for this page.</p>\n";
  }
  for (const Section& why : explanation.whys) html += section_html(why);
  html += "</main>\n<footer>Hover a cell for its full value. ← and → go from step to step.</footer>\n<script>";
  html += kHtmlScript;
  return html + "</script></body></html>\n";
}

}  // namespace qkv
