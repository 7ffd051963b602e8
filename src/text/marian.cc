#include "text/marian.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "files/place.h"
#include "qkv/error.h"
#include "text/added_tokens.h"
#include "text/base64.h"
#include "text/json_field.h"
#include "text/saved_words.h"
#include "text/sentence_piece_decoder.h"
#include "text/sentence_piece_model.h"
#include "text/sentence_piece_normalizer.h"
#include "text/valid_text.h"

namespace qkv::text {
namespace {

// The tokens by their names in the files beside: what ends a text, what is unknown, and what fills one.
struct MarianTokens {
  std::string end = "</s>";
  std::string unknown = "<unk>";
  std::string padding = "<pad>";
};

struct MarianParts {
  std::string model;  // the bytes of the SentencePiece file
  std::vector<std::string> pieces;
  MarianTokens tokens;
};

class MarianTokenizer final : public Tokenizer {
 public:
  MarianTokenizer(MarianParts parts, const std::string& source)
      : parts_(std::move(parts)),
        file_(read_sentence_piece_file(parts_.model, source)),
        normalizer_(file_.normalizer, SentencePieceNormalizer::Space::prefix,
                    tree_of(file_, {SentencePieceType::user_defined}), source + ": normalizer_spec"),
        model_(sentence_piece_model(file_)),
        ids_(numbered(parts_.pieces, source)),
        end_(required(parts_.tokens.end, source)),
        unknown_(required(parts_.tokens.unknown, source)),
        special_(special_tokens(), nullptr) {}

  [[nodiscard]] std::int64_t size() const noexcept override { return std::ssize(parts_.pieces); }
  [[nodiscard]] const std::string& piece(std::int32_t id) const override {
    if (id >= 0 && id < size()) return parts_.pieces[static_cast<std::size_t>(id)];
    throw InvalidArgument("Tokenizer::piece", "id", "from 0 to " + std::to_string(size() - 1), std::to_string(id));
  }
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept override {
    const auto found = ids_.find(std::string(piece));
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::map<std::string, std::string> config() const override {
    return {{"kind", kMarianKind},      {"model", to_base64(parts_.model)}, {"pieces", Json(parts_.pieces).dump()},
            {"end", parts_.tokens.end}, {"unknown", parts_.tokens.unknown}, {"padding", parts_.tokens.padding}};
  }

 private:
  using Numbers = std::unordered_map<std::string, std::int32_t>;

  static Numbers numbered(const std::vector<std::string>& pieces, const std::string& source) {
    Numbers ids;
    for (const std::string& piece : pieces) {
      if (ids.emplace(piece, static_cast<std::int32_t>(ids.size())).second) continue;
      throw FileError(source, "expected a vocabulary in which each piece is there once, got " + piece + " twice");
    }
    return ids;
  }

  [[nodiscard]] std::vector<AddedToken> special_tokens() const {
    std::vector<AddedToken> special;
    for (const std::string& token : {parts_.tokens.end, parts_.tokens.unknown, parts_.tokens.padding}) {
      if (const auto id = find(token)) special.push_back({.id = *id, .content = token, .special = true});
    }
    return special;
  }

  [[nodiscard]] std::int32_t required(const std::string& token, const std::string& source) const {
    const auto id = find(token);
    if (!id) throw FileError(source, "expected a vocabulary with the token " + token + ", got none");
    return *id;
  }

  [[nodiscard]] Encoding encode_text(std::string_view text, const EncodeOptions& options) const override {
    Encoding all;
    add(all, text, TokenSource::text);
    if (options.pair) add(all, *options.pair, TokenSource::pair);
    if (options.special == SpecialTokens::with) push(all, end_, {}, TokenSource::added);
    return all;
  }

  static void push(Encoding& all, std::int32_t id, TextRange range, TokenSource source) {
    all.ids.push_back(id);
    all.offsets.push_back(range);
    all.sources.push_back(source);
    all.types.push_back(0);
  }

  void add(Encoding& all, std::string_view text, TokenSource source) const {
    const ValidText valid(text);
    for (const AddedTokens::Found& part : special_.cover(valid.text())) {
      if (part.token != nullptr) {
        push(all, part.token->id, valid.origin(part.begin, part.end), source);
        continue;
      }
      const std::string_view own = valid.text().substr(part.begin, part.end - part.begin);
      const std::size_t code = length_of_code(own);
      if (code > 0) push(all, id_of(own.substr(0, code)), valid.origin(part.begin, part.begin + code), source);
      add_pieces(all, valid, {.begin = part.begin + code, .end = part.end}, source);
    }
  }

  // ">>fra<<" at the begin of a text says into which language.
  [[nodiscard]] static std::size_t length_of_code(std::string_view text) noexcept {
    const std::size_t end = text.find("<<");
    return text.starts_with(">>") && end != std::string_view::npos ? end + 2 : 0;
  }

  [[nodiscard]] std::int32_t id_of(std::string_view piece) const noexcept { return find(piece).value_or(unknown_); }

  // Pieces go by their text: that of a run of characters that are no piece here may be one of the other language.
  void add_pieces(Encoding& all, const ValidText& valid, TextRange part, TokenSource source) const {
    const SentencePieceText made = normalizer_.apply(valid.text().substr(part.begin, part.end - part.begin));
    std::vector<SubwordToken> tokens;
    model_->cut(made.text, tokens);
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      const std::uint32_t begin = tokens[n].begin;
      while (tokens[n].id == kNoPiece && n + 1 < tokens.size() && tokens[n + 1].id == kNoPiece) ++n;
      const std::uint32_t end = tokens[n].end;
      push(all, id_of(std::string_view(made.text).substr(begin, end - begin)),
           valid.origin(part.begin + made.origins[begin], part.begin + made.origins[end]), source);
    }
  }

  [[nodiscard]] std::string decode_ids(std::span<const std::int32_t> ids, SpecialTokens special) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      const bool is_special = special_.find(id) != nullptr;
      if (!is_special || special == SpecialTokens::with) append_with_spaces(text, piece(id));
    }
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  }

  MarianParts parts_;
  SentencePieceFile file_;
  SentencePieceNormalizer normalizer_;
  SentencePieceModelPtr model_;
  Numbers ids_;
  std::int32_t end_;
  std::int32_t unknown_;
  AddedTokens special_;
};

// Numbers 0, 1, 2, … by pieces.
std::vector<std::string> pieces_by_number(const Json& vocabulary, const std::string& source) {
  const JsonField root(vocabulary, source);
  if (!vocabulary.is_object() || vocabulary.empty()) root.fail("an object of pieces and their numbers");
  std::vector<std::string> pieces(vocabulary.size());
  std::vector<bool> is_there(vocabulary.size(), false);
  for (const auto& [piece, number] : vocabulary.items()) {
    const auto id = static_cast<std::size_t>(root.at(piece).whole(0, std::ssize(pieces) - 1));
    if (is_there[id]) throw FileError(source, "expected a number for each piece, got " + std::to_string(id) + " twice");
    is_there[id] = true;
    pieces[id] = piece;
  }
  return pieces;
}

}  // namespace

std::shared_ptr<const Tokenizer> read_marian(const std::filesystem::path& file, const FilesBeside& files) {
  if (files.flag("separate_vocabs", false)) {
    throw FileError(files.folder + "/tokenizer_config.json: separate_vocabs",
                    "expected false, one vocabulary for both languages, got true");
  }
  const std::string vocabulary = (file.parent_path() / "vocab.json").string();
  MarianParts parts{.model = files::read_bytes(file.string()), .pieces = {}, .tokens = {}};
  parts.pieces = pieces_by_number(parse_json(files::read_text(vocabulary), vocabulary), vocabulary);
  if (const auto token = files.token("eos_token")) parts.tokens.end = *token;
  if (const auto token = files.token("unk_token")) parts.tokens.unknown = *token;
  if (const auto token = files.token("pad_token")) parts.tokens.padding = *token;
  return std::make_shared<MarianTokenizer>(std::move(parts), file.string());
}

std::shared_ptr<const Tokenizer> marian_of(const std::map<std::string, std::string>& config) {
  MarianParts parts{.model = saved_bytes(config, "model"),
                    .pieces = {},
                    .tokens = {.end = saved_word(config, "end"),
                               .unknown = saved_word(config, "unknown"),
                               .padding = saved_word(config, "padding")}};
  const std::string source = std::string(kMakeTokenizer) + ": pieces";
  const Json pieces = parse_json(saved_word(config, "pieces"), source);
  if (!pieces.is_array()) JsonField(pieces, source).fail("a list of pieces");
  for (const Json& piece : pieces) {
    if (!piece.is_string()) JsonField(piece, source).fail("a piece");
    parts.pieces.push_back(piece.get<std::string>());
  }
  return std::make_shared<MarianTokenizer>(std::move(parts), std::string(kMakeTokenizer) + ": model");
}

}  // namespace qkv::text
