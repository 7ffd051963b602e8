#include <fmt/format.h>

#include <algorithm>

#include "core/counted.h"
#include "qkv/api/tokens.h"
#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

std::string padded(std::string text, int width) {
  const int missing = width - display_width(text);
  if (missing > 0) text.append(static_cast<std::size_t>(missing), ' ');
  return text;
}

// The bytes of a token, and the part of the text that they are.
std::pair<std::string, std::string> place_of(const TokensRequest& request, const TokensFigures& figures,
                                             std::size_t n) {
  const std::string& source = figures.sources[n];
  if (source == "added") return {"", "(added)"};
  const std::string_view whole = figures.rendered   ? *figures.rendered
                                 : source == "pair" ? *request.pair
                                                    : *request.text;
  const std::int64_t begin = figures.offsets[n].front();
  const std::int64_t end = figures.offsets[n].back();
  const auto part = whole.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  const std::string whose = figures.rendered || source == "pair" ? source + ": " : "";
  return {fmt::format("{} to {}", begin, end), whose + "\"" + one_line(part) + "\""};
}

std::string text_of(const TokensRequest& request, const TokensFigures& figures) {
  constexpr int kWidestPiece = 24;
  std::vector<std::string> pieces;
  int width = display_width("piece");
  for (const std::string& piece : figures.pieces) {
    pieces.push_back(one_line(piece));
    width = std::min(kWidestPiece, std::max(width, display_width(pieces.back())));
  }
  std::string table = fmt::format("{:>5}  {:>7}  {}  {:<12}  text\n", "n", "id", padded("piece", width), "bytes");
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const auto [bytes, part] = place_of(request, figures, n);
    table += fmt::format("{:>5}  {:>7}  {}  {:<12}  {}\n", n, figures.ids[n], padded(pieces[n], width), bytes, part);
  }
  return table + core::counted(pieces.size(), "token") + "\n";
}

std::string text_of(const TokensRequest& /*request*/, const TokensText& text) { return text.text + "\n"; }

std::string text_of(const TokensRequest& /*request*/, const VocabularyFigures& figures) {
  std::string text;
  for (const auto& [id, piece] : figures.pieces) text += fmt::format("{:>7}  {}\n", id, one_line(piece));
  return text + fmt::format("{} of {}\n", figures.pieces.size(), core::counted(figures.size, "piece"));
}

// Of a file, whose texts the request does not have, in lines.
std::string text_of(const TokensRequest& /*request*/, const std::vector<TokensFigures>& all) {
  std::string text;
  for (const TokensFigures& one : all) text += reply_as_line(one);
  return text;
}

}  // namespace

std::string as_text(const TokensRequest& request, const TokensFound& found) {
  return std::visit([&](const auto& one) { return text_of(request, one); }, found);
}

}  // namespace qkv
