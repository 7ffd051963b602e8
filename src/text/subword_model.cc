#include "text/subword_model.h"

#include "qkv/error.h"
#include "text/characters.h"

namespace qkv::text {
namespace {

class WordLevel final : public SubwordModel {
 public:
  WordLevel(PieceTable pieces, const std::string& unknown)
      : pieces_(std::move(pieces)), unknown_(pieces_.find(unknown)) {}

  void cut(std::string_view piece, std::vector<SubwordToken>& tokens) const override {
    const auto found = pieces_.find(piece);
    if (!found && !unknown_) fail_unknown("WordLevel", piece);
    tokens.push_back({.id = found ? *found : *unknown_, .begin = 0, .end = static_cast<std::uint32_t>(piece.size())});
  }
  [[nodiscard]] const PieceTable& pieces() const noexcept override { return pieces_; }

 private:
  PieceTable pieces_;
  std::optional<std::int32_t> unknown_;
};

// The longest piece that begins the rest of a word, then the longest of what is left (Wu et al. 2016, section 4.1).
class WordPiece final : public SubwordModel {
 public:
  WordPiece(PieceTable pieces, const WordPieceOptions& options)
      : pieces_(std::move(pieces)),
        unknown_(pieces_.find(options.unknown)),
        prefix_(options.prefix),
        longest_word_(static_cast<std::size_t>(options.longest_word)) {
    for (std::int32_t id = 0; id < pieces_.size(); ++id) longest_ = std::max(longest_, pieces_.piece(id).size());
  }

  void cut(std::string_view piece, std::vector<SubwordToken>& tokens) const override {
    const std::size_t before = tokens.size();
    if (piece.size() <= longest_word_ || count_characters(piece) <= longest_word_) {
      if (cut_greedily(piece, tokens)) return;
    }
    if (!unknown_) fail_unknown("WordPiece", piece);
    tokens.resize(before);
    tokens.push_back({.id = *unknown_, .begin = 0, .end = static_cast<std::uint32_t>(piece.size())});
  }
  [[nodiscard]] const PieceTable& pieces() const noexcept override { return pieces_; }

 private:
  bool cut_greedily(std::string_view piece, std::vector<SubwordToken>& tokens) const {
    std::string behind = prefix_;
    for (std::size_t begin = 0; begin < piece.size();) {
      std::string_view rest = piece.substr(begin, longest_);
      if (begin + rest.size() < piece.size()) rest = whole_characters(piece, begin, rest.size());
      std::optional<std::int32_t> found;
      while (!rest.empty()) {
        found = begin == 0 ? pieces_.find(rest) : pieces_.find(behind.replace(prefix_.size(), std::string::npos, rest));
        if (found) break;
        rest.remove_suffix(rest.size() - begin_of_last(rest, rest.size()));
      }
      if (!found) return false;
      const auto end = static_cast<std::uint32_t>(begin + rest.size());
      tokens.push_back({.id = *found, .begin = static_cast<std::uint32_t>(begin), .end = end});
      begin = end;
    }
    return true;
  }

  // At most `size` bytes of whole characters.
  static std::string_view whole_characters(std::string_view piece, std::size_t begin, std::size_t size) {
    while (size > 0 && continues_character(piece[begin + size])) --size;
    return piece.substr(begin, size);
  }

  PieceTable pieces_;
  std::optional<std::int32_t> unknown_;
  std::string prefix_;
  std::size_t longest_word_;
  std::size_t longest_ = 0;  // bytes of a piece
};

}  // namespace

void fail_unknown(std::string_view model, std::string_view piece) {
  throw InvalidArgument(model, "text", "pieces of the vocabulary, which has no token for what is unknown",
                        "\"" + std::string(piece) + "\"");
}

SubwordModelPtr read_word_level(const JsonField& field) {
  field.require_only({"type", "vocab", "unk_token"});
  return std::make_shared<WordLevel>(read_pieces(field.at("vocab")), field.at("unk_token").string());
}

SubwordModelPtr make_word_piece(PieceTable pieces, const WordPieceOptions& options) {
  return std::make_shared<WordPiece>(std::move(pieces), options);
}

SubwordModelPtr read_word_piece(const JsonField& field) {
  field.require_only({"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"});
  return make_word_piece(read_pieces(field.at("vocab")),
                         {.unknown = field.at("unk_token").string(),
                          .prefix = field.at("continuing_subword_prefix").string(),
                          .longest_word = field.at("max_input_chars_per_word").whole(0, INT32_MAX)});
}

SubwordModelPtr read_subword_model(const JsonField& field) {
  // Files of old releases name no type: theirs follows from the options.
  const auto named = field.find("type");
  const std::string type = named                                     ? named->string()
                           : field.find("merges")                    ? "BPE"
                           : field.find("continuing_subword_prefix") ? "WordPiece"
                           : field.find("unk_id")                    ? "Unigram"
                                                                     : "";
  if (type == "BPE") return read_bpe(field);
  if (type == "Unigram") return read_unigram(field);
  if (type == "WordPiece") return read_word_piece(field);
  if (type == "WordLevel") return read_word_level(field);
  field.at("type").fail("BPE, Unigram, WordPiece or WordLevel");
}

}  // namespace qkv::text
