// Byte-pair encoding, with the options of the `tokenizers` library.
#include <algorithm>
#include <span>

#include "qkv/error.h"
#include "text/bpe_merges.h"
#include "text/characters.h"
#include "text/subword_model.h"

namespace qkv::text {
namespace {

struct BpeOptions {
  std::optional<std::int32_t> unknown = std::nullopt;
  std::string prefix = {};  // of symbols that are not the first of a word
  std::string suffix = {};  // of the last one
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};

class Bpe final : public SubwordModel {
 public:
  Bpe(PieceTable pieces, BpeMerges merges, BpeOptions options)
      : pieces_(std::move(pieces)), merges_(std::move(merges)), options_(std::move(options)) {}

  void cut(std::string_view piece, std::vector<SubwordToken>& tokens) const override {
    if (options_.ignore_merges) {
      if (const auto whole = pieces_.find(piece)) {
        tokens.push_back({.id = *whole, .begin = 0, .end = static_cast<std::uint32_t>(piece.size())});
        return;
      }
    }
    std::vector<Symbol> symbols = symbols_of(piece);
    merges_.apply(symbols);
    std::uint32_t begin = 0;
    for (const Symbol& symbol : symbols) {
      if (symbol.length == 0) continue;
      tokens.push_back({.id = symbol.id, .begin = begin, .end = begin + symbol.length});
      begin += symbol.length;
    }
  }
  [[nodiscard]] const PieceTable& pieces() const noexcept override { return pieces_; }

 private:
  [[nodiscard]] std::vector<Symbol> symbols_of(std::string_view piece) const {
    std::vector<Symbol> symbols;
    symbols.reserve(piece.size());
    std::optional<Symbol> unknown;  // held back, as what follows may belong to it
    const auto add = [&](const Symbol& symbol) { symbols.push_back(symbol); };
    std::string decorated;
    for (std::uint32_t at = 0; at < piece.size();) {
      const std::uint32_t length = character_length(piece[at]);
      const std::string_view character = decorate(piece, at, length, decorated);
      at += length;
      if (const auto id = pieces_.find(character)) {
        if (unknown) add(*unknown);
        unknown.reset();
        add({.id = *id, .length = length});
      } else if (!(options_.byte_fallback && add_bytes(character, symbols)) && options_.unknown) {
        if (unknown && !options_.fuse_unknown) add(*unknown);
        const std::uint32_t held = unknown && options_.fuse_unknown ? unknown->length : 0;
        unknown = {.id = *options_.unknown, .length = held + length};
      }
    }
    if (unknown) add(*unknown);
    return symbols;
  }

  std::string_view decorate(std::string_view piece, std::uint32_t at, std::uint32_t length, std::string& out) const {
    const std::string_view character = piece.substr(at, length);
    const bool has_prefix = at > 0 && !options_.prefix.empty();
    const bool has_suffix = at + length == piece.size() && !options_.suffix.empty();
    if (!has_prefix && !has_suffix) return character;
    out = has_prefix ? options_.prefix : "";
    out += character;
    if (has_suffix) out += options_.suffix;
    return out;
  }

  bool add_bytes(std::string_view character, std::vector<Symbol>& symbols) const {
    const std::size_t before = symbols.size();
    for (const char byte : character) {
      const auto id = pieces_.find_byte(static_cast<unsigned char>(byte));
      if (!id) {
        symbols.resize(before);
        return false;
      }
      symbols.push_back({.id = *id, .length = 1});
    }
    return true;
  }

  PieceTable pieces_;
  BpeMerges merges_;
  BpeOptions options_;
};

using Parts = std::pair<std::string_view, std::string_view>;

std::optional<Parts> parts_of(std::string_view merge) {
  const std::size_t space = merge.find(' ');
  const bool two = space != std::string_view::npos && merge.find(' ', space + 1) == std::string_view::npos;
  return two ? std::optional(Parts(merge.substr(0, space), merge.substr(space + 1))) : std::nullopt;
}

// "a b" in older files, ["a", "b"] in newer ones.
std::optional<Parts> parts_of(const JsonValue& merge) {
  if (const auto text = merge.text()) return parts_of(*text);
  if (!merge.is_list() || merge.size() != 2) return std::nullopt;
  const auto first = merge[0].text();
  const auto second = merge[1].text();
  return first && second ? std::optional(Parts(*first, *second)) : std::nullopt;
}

std::string shown_merge(std::string_view merge) { return shown_text(merge); }
std::string shown_merge(const JsonValue& merge) { return merge.shown(); }

// Merges in the order of their list.
class MergeList {
 public:
  MergeList(const PieceTable& pieces, std::string prefix, MergePlace place, std::size_t count)
      : pieces_(pieces), prefix_(std::move(prefix)), place_(std::move(place)) {
    merges_.reserve(count);
  }

  // The n-th of the list, be it a text or JSON.
  template <class Merge>
  void add(std::size_t n, const Merge& merge) {
    const std::optional<Parts> parts = parts_of(merge);
    if (!parts) fail(n, "two pieces", shown_merge(merge));
    const auto& [first, second] = *parts;
    both_.assign(first).append(second.substr(second.starts_with(prefix_) ? prefix_.size() : 0));
    const std::int32_t both = id_of(n, both_);
    merges_.set(id_of(n, first), id_of(n, second), rank_++, both);
  }

  [[nodiscard]] BpeMerges take() { return std::move(merges_); }

 private:
  [[noreturn]] void fail(std::size_t n, const std::string& expected, const std::string& got) const {
    throw FileError(place_.list + "[" + std::to_string(n) + "]", "expected " + expected + ", got " + got);
  }
  [[nodiscard]] std::int32_t id_of(std::size_t n, std::string_view piece) const {
    const auto id = pieces_.find(piece);
    if (!id) fail(n, "pieces of " + place_.vocabulary, "\"" + std::string(piece) + "\"");
    return *id;
  }

  const PieceTable& pieces_;
  std::string prefix_;  // left out where pieces come together
  MergePlace place_;
  std::string both_;
  std::uint32_t rank_ = 0;
  BpeMerges merges_;
};

BpeMerges read_merges(const JsonField& field, const PieceTable& pieces, const std::string& prefix) {
  if (!field.is_list()) field.fail("a list");
  MergeList merges(pieces, prefix, {field.place(), "\"vocab\""}, field.size());
  for (std::size_t n = 0; n < field.size(); ++n) {
    const JsonValue merge = field.element(n);
    if (n == 0 && merge.text().value_or("").starts_with("#version")) continue;
    merges.add(n, merge);
  }
  return merges.take();
}

bool read_flag(const JsonField& field, const std::string& key) {
  const auto flag = field.find(key);
  return flag && flag->boolean();
}

std::string read_text(const JsonField& field, const std::string& key) {
  const auto text = field.find(key);
  return text ? text->string() : "";
}

}  // namespace

SubwordModelPtr make_bpe(PieceTable pieces, std::span<const std::string> list, bool ignore_merges,
                         const MergePlace& place) {
  MergeList merges(pieces, "", place, list.size());
  for (std::size_t n = 0; n < list.size(); ++n) merges.add(n, std::string_view(list[n]));
  return std::make_shared<Bpe>(std::move(pieces), merges.take(), BpeOptions{.ignore_merges = ignore_merges});
}

SubwordModelPtr read_bpe(const JsonField& field) {
  field.require_only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                      "byte_fallback", "ignore_merges", "vocab", "merges"});
  const auto dropout = field.find("dropout");
  if (dropout && dropout->number() != 0) dropout->fail("null or 0: tokens are not drawn at random");
  PieceTable pieces = read_pieces(field.at("vocab"));
  BpeOptions options{.prefix = read_text(field, "continuing_subword_prefix"),
                     .suffix = read_text(field, "end_of_word_suffix"),
                     .fuse_unknown = read_flag(field, "fuse_unk"),
                     .byte_fallback = read_flag(field, "byte_fallback"),
                     .ignore_merges = read_flag(field, "ignore_merges")};
  if (const auto unknown = field.find("unk_token")) {
    options.unknown = pieces.find(unknown->string());
    if (!options.unknown) unknown->fail("a piece of \"vocab\"");
  }
  BpeMerges merges = read_merges(field.at("merges"), pieces, options.prefix);
  return std::make_shared<Bpe>(std::move(pieces), std::move(merges), std::move(options));
}

}  // namespace qkv::text
