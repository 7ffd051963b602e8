#include "text/added_tokens.h"

#include <algorithm>
#include <unordered_set>

#include "text/growth.h"

namespace qkv::text {
namespace {

bool stands_alone(std::string_view valid, std::size_t begin, std::size_t end) {
  const bool word_before = begin > 0 && is_word(character_at(valid, begin_of_last(valid, begin)));
  const bool word_behind = end < valid.size() && is_word(character_at(valid, end));
  return !word_before && !word_behind;
}

std::size_t begin_of_space(std::string_view valid, std::size_t end, std::size_t least) {
  while (end > least && is_space(character_at(valid, begin_of_last(valid, end)))) end = begin_of_last(valid, end);
  return end;
}

std::size_t end_of_space(std::string_view valid, std::size_t begin) {
  while (begin < valid.size() && is_space(character_at(valid, begin))) begin += character_length(valid[begin]);
  return begin;
}

std::uint64_t token_key(std::uint64_t node, char byte) noexcept {
  constexpr unsigned kByte = 8;
  return node << kByte | static_cast<unsigned char>(byte);
}

}  // namespace

void AddedTokens::Finder::add(std::string_view text, const AddedToken& token) {
  if (text.empty()) return;
  constexpr std::size_t kBytes = 256;
  if (ends_.empty()) ends_.push_back(nullptr);
  begins_.resize(kBytes);
  begins_[static_cast<unsigned char>(text[0])] = true;
  std::uint64_t node = 0;
  for (const char byte : text) {
    const std::uint64_t key = token_key(node, byte);
    const std::uint64_t* next = children_.find(key);
    node = next != nullptr ? *next : ends_.size();
    if (next != nullptr) continue;
    children_.set(key, node);
    ends_.push_back(nullptr);
  }
  ends_[node] = &token;
}

AddedTokens::Found AddedTokens::Finder::longest_at(std::string_view valid, std::size_t begin) const noexcept {
  Found found{.begin = begin, .end = begin};
  std::uint64_t node = 0;
  for (std::size_t at = begin; at < valid.size(); ++at) {
    const std::uint64_t* next = children_.find(token_key(node, valid[at]));
    if (next == nullptr) break;
    node = *next;
    if (ends_[node] != nullptr) found = {.begin = begin, .end = at + 1, .token = ends_[node]};
  }
  return found;
}

std::vector<AddedTokens::Found> AddedTokens::Finder::cover(std::string_view valid) const {
  std::vector<Found> found;
  std::size_t covered = 0;
  for (std::size_t at = 0; !ends_.empty() && at < valid.size();) {
    if (!begins_[static_cast<unsigned char>(valid[at])]) {
      ++at;
      continue;
    }
    Found next = longest_at(valid, at);
    at = next.token == nullptr ? at + 1 : next.end;
    if (next.token == nullptr || next.begin < covered) continue;
    if (next.token->single_word && !stands_alone(valid, next.begin, next.end)) continue;
    if (next.token->lstrip) next.begin = begin_of_space(valid, next.begin, covered);
    if (next.token->rstrip) next.end = end_of_space(valid, next.end);
    if (covered < next.begin) found.push_back({.begin = covered, .end = next.begin});
    found.push_back(next);
    covered = next.end;
  }
  if (covered < valid.size()) found.push_back({.begin = covered, .end = valid.size()});
  return found;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, NormalizerPtr normalizer)
    : tokens_(std::move(tokens)), normalizer_(std::move(normalizer)) {
  for (std::size_t n = 0; n < tokens_.size(); ++n) {
    AddedToken& token = tokens_[n];
    token.shown = token.content;
    by_id_.set(static_cast<std::uint64_t>(token.id), n);
    if (!token.normalized) {
      raw_.add(token.content, token);
      continue;
    }
    const GrowthLimit limit(token.content.size());
    AlignedText content(token.content, 0, token.content.size());
    if (normalizer_) normalizer_->apply(content);
    token.shown = content.text();
    normalized_.add(token.shown, token);
  }
}

Pieces AddedTokens::cut(std::string_view original) const {
  Pieces pieces;
  const auto add = [&](const AlignedText& text, const Found& part) {
    if (part.begin == part.end) return;
    const auto begin = static_cast<std::uint32_t>(pieces.text.size());
    pieces.text.append(text, part.begin, part.end);
    Piece piece{.begin = begin, .end = static_cast<std::uint32_t>(pieces.text.size())};
    if (part.token != nullptr) piece.added = part.token->id;
    pieces.list.push_back(piece);
  };
  const AlignedText whole(original, 0, original.size());
  pieces.text.reserve(whole.size());
  for (const Found& part : raw_.cover(whole.text())) {
    if (part.token != nullptr) {
      add(whole, part);
      continue;
    }
    AlignedText normal;
    normal.append(whole, part.begin, part.end);
    if (normalizer_) normalizer_->apply(normal);
    for (const Found& inner : normalized_.cover(normal.text())) add(normal, inner);
  }
  return pieces;
}

const AddedToken* AddedTokens::find(std::int32_t id) const noexcept {
  const std::uint64_t* place = by_id_.find(static_cast<std::uint64_t>(id));
  return place == nullptr ? nullptr : &tokens_[*place];
}

std::vector<AddedTokens::Found> AddedTokens::cover(std::string_view valid) const {
  std::vector<Found> found = raw_.cover(valid);
  if (found.empty() && !valid.empty()) found.push_back({.begin = 0, .end = valid.size()});
  return found;
}

std::vector<AddedToken> read_added_tokens(const JsonField& field) {
  std::vector<AddedToken> tokens;
  for (const JsonField& next : field.elements()) {
    next.require_only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    tokens.push_back({.id = static_cast<std::int32_t>(next.at("id").whole(0, INT32_MAX - 1)),
                      .content = next.at("content").string(),
                      .single_word = next.at("single_word").boolean(),
                      .lstrip = next.at("lstrip").boolean(),
                      .rstrip = next.at("rstrip").boolean(),
                      .normalized = next.at("normalized").boolean(),
                      .special = next.at("special").boolean()});
  }
  return tokens;
}

std::vector<AddedToken> read_added_tokens(const JsonField& field, const PieceTable& pieces) {
  std::vector<AddedToken> tokens = read_added_tokens(field);
  const std::vector<JsonField> all = field.elements();
  const std::int64_t highest = highest_id(static_cast<std::size_t>(pieces.size()) + all.size());
  std::unordered_set<std::int32_t> taken;
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    const AddedToken& token = tokens[n];
    const JsonField id = all[n].at("id");
    static_cast<void>(id.whole(0, highest));
    const auto known = pieces.find(token.content);
    if (known && *known != token.id) id.fail(std::to_string(*known) + ", the number of this piece");
    const bool is_other = !known && token.id < pieces.size() && !pieces.piece(token.id).empty();
    if (!taken.insert(token.id).second) id.fail("a number that no other added token has");
    if (is_other) id.fail("a number that no piece of the model has");
  }
  return tokens;
}

}  // namespace qkv::text
