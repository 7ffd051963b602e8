#include "picture/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "picture/xml_text.h"

namespace qkv::picture {
namespace {

/// Every id renamed to `prefix` and a number in order of appearance. Cairo counts surfaces and images over the whole
/// run, so that its own names depend on what was drawn before.
std::string with_ids(std::string_view svg, std::string_view prefix) {
  constexpr std::array<std::string_view, 3> kBeforeId{" id=\"", "url(#", "href=\"#"};
  std::map<std::string, std::size_t, std::less<>> numbers;
  std::string out;
  while (!svg.empty()) {
    std::size_t begin = std::string_view::npos;
    for (const std::string_view mark : kBeforeId) {
      if (const std::size_t at = svg.find(mark); at != std::string_view::npos) {
        begin = std::min(begin, at + mark.size());
      }
    }
    if (begin == std::string_view::npos) break;
    const std::size_t end = svg.find_first_of("\")", begin);
    const auto [entry, is_new] = numbers.try_emplace(std::string(svg.substr(begin, end - begin)), numbers.size());
    out.append(svg.substr(0, begin)).append(fmt::format("{}{}", prefix, entry->second));
    svg.remove_prefix(end);
  }
  return out.append(svg);
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string finished_svg(std::string_view svg, std::string_view title, std::string_view description) {
  const std::string words =
      fmt::format("\n<title>{}</title>\n<desc>{}</desc>", xml_escaped(title), xml_escaped(description));
  const std::string prefix = fmt::format("q{:016x}-", fnv1a(with_ids(svg, "") + words));
  std::string out = with_ids(svg, prefix);
  const std::size_t root = out.find("<svg ");
  out.insert(out.find('>', root) + 1, words);
  out.insert(root + 4, " role=\"img\"");
  // Keeps the edges of cells sharp when a viewer enlarges them.
  replace_all(out, "<image ", "<image style=\"image-rendering:pixelated\" ");
  return out;
}

}  // namespace qkv::picture
