#include "text/pipeline_tokenizer.h"

#include <algorithm>

#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"
#include "text/byte_level.h"
#include "text/growth.h"

namespace qkv::text {
namespace {

Blanks blanks_of(std::string_view piece) {
  static const std::string kSpace(byte_character(' '));
  const auto is_blank = [&](std::size_t at) {
    return piece.substr(at).starts_with(kSpace) || is_space(character_at(piece, at));
  };
  Blanks blanks;
  for (std::size_t at = 0; at < piece.size() && is_blank(at); at += character_length(piece[at])) ++blanks.leading;
  for (std::size_t end = piece.size(); end > 0 && is_blank(begin_of_last(piece, end));) {
    ++blanks.trailing;
    end = begin_of_last(piece, end);
  }
  return blanks;
}

void append(Encoding& all, const Encoding& more) {
  all.ids.insert(all.ids.end(), more.ids.begin(), more.ids.end());
  all.offsets.insert(all.offsets.end(), more.offsets.begin(), more.offsets.end());
  all.types.insert(all.types.end(), more.types.begin(), more.types.end());
  all.sources.insert(all.sources.end(), more.sources.begin(), more.sources.end());
}

}  // namespace

PipelineTokenizer::PipelineTokenizer(PipelineStages stages, std::function<std::string()> json)
    : stages_(std::move(stages)),
      added_(stages_.added_tokens, stages_.normalizer),
      json_(std::move(json)),
      size_(stages_.model->pieces().size()) {
  for (const AddedToken& token : added_.all()) {
    if (!added_pieces_.find(token.content)) added_pieces_.set(token.id, token.content);
    size_ = std::max<std::int64_t>(size_, token.id + 1);
  }
}

const std::string& PipelineTokenizer::piece(std::int32_t id) const {
  if (id < 0 || id >= size_) {
    throw InvalidArgument("Tokenizer::piece", "id", "from 0 to " + std::to_string(size_ - 1), std::to_string(id));
  }
  if (const AddedToken* token = added_.find(id)) return token->content;
  static const std::string kGap;
  return id < stages_.model->pieces().size() ? stages_.model->pieces().piece(id) : kGap;
}

std::optional<std::int32_t> PipelineTokenizer::find(std::string_view piece) const noexcept {
  if (piece.empty()) return std::nullopt;
  const auto added = added_pieces_.find(piece);
  return added ? added : stages_.model->pieces().find(piece);
}

std::map<std::string, std::string> PipelineTokenizer::config() const {
  return {{"kind", kPipelineKind}, {"json", json_()}};
}

EncodedPart PipelineTokenizer::encode_part(std::string_view text, TokenSource source) const {
  require_short(text);
  Pieces pieces = added_.cut(text);
  if (stages_.pre_tokenizer) stages_.pre_tokenizer->apply(pieces);
  const bool trims = stages_.post_processor && stages_.post_processor->trims();
  EncodedPart part;
  part.original = text;
  const auto add = [&](std::int32_t id, OriginalRange range, std::string_view shown) {
    part.tokens.ids.push_back(id);
    part.tokens.offsets.push_back({.begin = range.begin, .end = range.end});
    if (trims) part.blanks.push_back(blanks_of(shown));
  };
  const BorrowedCache cache(caches_);
  const auto cut = [&](std::string_view word, std::vector<SubwordToken>& tokens) { stages_.model->cut(word, tokens); };
  for (const Piece& piece : pieces.list) {
    const std::string_view shown = pieces.text_of(piece);
    if (piece.added) {
      add(*piece.added, pieces.text.origin(piece.begin, piece.end), shown);
      continue;
    }
    for (const SubwordToken& token : (*cache).tokens_of(shown, cut)) {
      const OriginalRange range = pieces.text.origin(piece.begin + token.begin, piece.begin + token.end);
      add(token.id, range, stages_.model->pieces().piece(token.id));
    }
  }
  part.tokens.types.assign(part.tokens.ids.size(), source == TokenSource::pair ? 1 : 0);
  part.tokens.sources.assign(part.tokens.ids.size(), source);
  return part;
}

Encoding PipelineTokenizer::encode_text(std::string_view text, const EncodeOptions& options) const {
  const GrowthLimit limit(text.size() + options.pair.value_or("").size());
  std::vector<EncodedPart> parts;
  parts.push_back(encode_part(text, TokenSource::text));
  if (options.pair) parts.push_back(encode_part(*options.pair, TokenSource::pair));
  if (stages_.post_processor) stages_.post_processor->apply(parts, options.special);
  if (parts.empty()) return {};
  Encoding all = std::move(parts.front().tokens);
  for (std::size_t n = 1; n < parts.size(); ++n) append(all, parts[n].tokens);
  return all;
}

std::string PipelineTokenizer::bytes(std::int32_t id) const {
  const std::string& text = piece(id);
  return stages_.decoder && added_.find(id) == nullptr ? stages_.decoder->bytes(text) : text;
}

std::string PipelineTokenizer::decode_ids(std::span<const std::int32_t> ids, SpecialTokens special) const {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  std::size_t size = 0;
  for (const std::int32_t id : ids) {
    const AddedToken* token = added_.find(id);
    const std::string& text = token != nullptr ? token->shown : piece(id);
    const bool left_out = special == SpecialTokens::without && token != nullptr && token->special;
    if (left_out) continue;
    pieces.push_back(text);
    size += text.size();
  }
  const GrowthLimit limit(size);
  std::string joined;
  if (stages_.decoder) stages_.decoder->apply(pieces);
  for (const std::string& next : pieces) {
    if (!stages_.decoder && !joined.empty()) joined += ' ';
    joined += next;
  }
  return joined;
}

}  // namespace qkv::text
