#include "token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "qkv/picture/terminal.h"

namespace qkv::cli {
namespace {

std::string padded(std::string text, int width) {
  const int missing = width - display_width(text);
  if (missing > 0) text.append(static_cast<std::size_t>(missing), ' ');
  return text;
}

}  // namespace

std::string table_of(const Encoding& encoding, const Tokenizer& tokenizer, std::string_view text,
                     std::string_view pair) {
  constexpr int kWidestPiece = 24;
  std::vector<std::string> pieces;
  int width = display_width("piece");
  for (const std::int32_t id : encoding.ids) {
    pieces.push_back(one_line(tokenizer.piece(id)));
    width = std::min(kWidestPiece, std::max(width, display_width(pieces.back())));
  }
  std::string table = fmt::format("{:>5}  {:>7}  {}  {:<12}  text\n", "n", "id", padded("piece", width), "bytes");
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const auto [begin, end] = encoding.offsets[n];
    const TokenSource source = encoding.sources[n];
    const std::string_view whole = source == TokenSource::pair ? pair : text;
    const bool added = source == TokenSource::added;
    const std::string bytes = added ? "" : fmt::format("{} to {}", begin, end);
    const std::string part = added ? "(added)" : "\"" + one_line(whole.substr(begin, end - begin)) + "\"";
    table += fmt::format("{:>5}  {:>7}  {}  {:<12}  {}{}\n", n, encoding.ids[n], padded(pieces[n], width), bytes,
                         source == TokenSource::pair ? "pair: " : "", part);
  }
  return table + fmt::format("{} tokens\n", pieces.size());
}

}  // namespace qkv::cli
