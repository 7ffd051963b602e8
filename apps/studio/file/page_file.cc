#include "page_file.h"

#include <fmt/format.h>

#include <utility>

#include "encodings.h"
#include "qkv/error.h"

namespace qkv::studio {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The element that ends at the first `end` after `begin` becomes `element`.
void replace_element(std::string& page, std::string_view begin, std::string_view end, std::string_view element) {
  const std::size_t from = page.find(begin);
  const std::size_t to = from == std::string::npos ? from : page.find(end, from);
  if (to == std::string::npos) throw Error(fmt::format("the studio's page has no {} … {}", begin, end));
  page.replace(from, to + end.size() - from, element);
}

// In a script these can only be parts of a text, where the backslash changes nothing.
std::string inside_script(std::string text) {
  return replaced(replaced(std::move(text), "</script", "<\\/script"), "<!--", "<\\!--");
}

std::string as_text(std::string text) {
  return replaced(replaced(replaced(std::move(text), "&", "&amp;"), "<", "&lt;"), "\"", "&quot;");
}

std::string policy_of(std::string_view script, std::string_view style, const PageFile& file) {
  const std::string_view live = file.live ? " 'wasm-unsafe-eval'" : "";
  const std::string_view worker = file.live ? "blob:" : "'none'";
  return fmt::format(
      "default-src 'none'; script-src '{}'{}; style-src '{}'; img-src data: blob:; connect-src 'none'; font-src data:; "
      "worker-src {}; base-uri 'none'; form-action 'none'",
      csp_hash(script), live, csp_hash(style), worker);
}

std::string data_element(std::string_view type, std::string_view id, std::string_view text) {
  return fmt::format("<script type=\"{}\" id=\"{}\">{}</script>\n", type, id, text);
}

// In a line of its own.
template <class Value>
std::string json_element(std::string_view id, const Value& value) {
  std::string line = reply_as_line(value);
  line.pop_back();  // the line break
  return data_element("application/json", id, replaced(std::move(line), "<", "\\u003c"));
}

std::string data_of(const PageFile& file, const Frozen& frozen) {
  std::string data = json_element("starts", file.starts);
  if (file.live) {
    data += data_element("text/plain", "engine", base85(file.live->engine));
    data += data_element("text/plain", "worker", inside_script(file.live->worker));
    Named<std::string> models;
    for (const auto& [name, bytes] : file.live->models) models.emplace_back(name, base85(bytes));
    data += json_element("models", models);
  }
  if (!file.host.empty()) data += json_element("host", Named<std::string>{{"where", file.host}});
  if (frozen.size() > 0) data += data_element("text/plain", "frozen", base85(frozen.packed()));
  return data;
}

}  // namespace

void require_pages() {
  const std::string why(why_without_pages());
  if (why.empty()) return;
  throw Error("this qkv has no studio: " + why +
              ". To have it, install nodejs (18 or newer) and npm, and build it again with -D QKV_STUDIO=ON");
}

std::string page_file(const Pages& pages, const PageFile& file, const Frozen& frozen) {
  const std::string script = inside_script(gunzipped(pages.script));
  const std::string style = replaced(gunzipped(pages.style), "</", "<\\/");
  std::string page = gunzipped(pages.page);
  replace_element(page, "<script ", "</script>", "");
  replace_element(page, "<link rel=\"stylesheet\"", ">", "");
  replace_element(page, "<title>", "</title>", "<title>" + as_text(file.title) + "</title>");
  // The policy holds for what follows it.
  replace_element(page, "<meta charset=", ">",
                  "<meta charset=\"utf-8\" />\n    <meta http-equiv=\"Content-Security-Policy\" content=\"" +
                      policy_of(script, style, file) + "\" />");
  replace_element(page, "</head>", ">", "<style>" + style + "</style>\n  </head>");
  replace_element(page, "</body>", ">", data_of(file, frozen) + "<script>" + script + "</script>\n  </body>");
  return page;
}

}  // namespace qkv::studio
