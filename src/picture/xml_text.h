// Text inside XML: SVG, MathML and HTML alike.
#pragma once

#include <string>
#include <string_view>

namespace qkv::picture {

/// With entities for the characters that have a meaning in an element or in a quoted attribute.
[[nodiscard]] inline std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

}  // namespace qkv::picture
