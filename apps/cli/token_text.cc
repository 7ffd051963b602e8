#include "token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "qkv/picture/terminal.h"

namespace qkv::cli {
namespace {

constexpr std::array<const char*, 3> kSources = {"text", "pair", "added"};

std::string padded(std::string text, int width) {
  const int missing = width - display_width(text);
  if (missing > 0) text.append(static_cast<std::size_t>(missing), ' ');
  return text;
}

}  // namespace

std::string shown_text(std::string_view bytes) {
  // nlohmann-json replaces what is no UTF-8 where it writes, not where it reads.
  const std::string quoted = nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

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

nlohmann::json json_of(const Encoding& encoding, const Tokenizer& tokenizer) {
  nlohmann::json json = {{"ids", encoding.ids}, {"types", encoding.types}};
  json["pieces"] = nlohmann::json::array();
  json["offsets"] = nlohmann::json::array();
  json["sources"] = nlohmann::json::array();
  for (std::size_t n = 0; n < encoding.ids.size(); ++n) {
    json["pieces"].push_back(shown_text(tokenizer.piece(encoding.ids[n])));
    json["offsets"].push_back({encoding.offsets[n].begin, encoding.offsets[n].end});
    json["sources"].push_back(kSources[static_cast<std::size_t>(encoding.sources[n])]);
  }
  return json;
}

bool holds(const Tokenizer& tokenizer, std::int32_t id, std::string_view text) {
  if (tokenizer.piece(id).find(text) != std::string::npos) return true;
  const std::array one = {id};
  return tokenizer.decode(one, SpecialTokens::with).find(text) != std::string::npos;
}

}  // namespace qkv::cli
