#include "text/sentence_piece.h"

#include <utf8.h>

#include <optional>

#include "qkv/error.h"
#include "text/aligned_text.h"
#include "text/base64.h"
#include "text/sentence_piece_decoder.h"
#include "text/sentence_piece_file.h"
#include "text/sentence_piece_model.h"
#include "text/sentence_piece_normalizer.h"

namespace qkv::text {
namespace {

using SpaceAt = SentencePieceNormalizer::Space;

// A text as valid UTF-8: itself, or with U+FFFD for what is none.
class ValidText {
 public:
  explicit ValidText(std::string_view text) : text_(text) {
    if (!utf8::is_valid(text.begin(), text.end())) written_.emplace(text, 0, text.size());
  }
  [[nodiscard]] std::string_view text() const noexcept { return written_ ? std::string_view(written_->text()) : text_; }
  /// The bytes of the text as it came.
  [[nodiscard]] TextRange origin(std::size_t begin, std::size_t end) const noexcept {
    if (!written_) return {.begin = begin, .end = end};
    if (begin < end) {
      const OriginalRange range = written_->origin(begin, end);
      return {.begin = range.begin, .end = range.end};
    }
    const std::size_t at = begin < written_->size() ? written_->origin(begin).begin : text_.size();
    return {.begin = at, .end = at};
  }

 private:
  std::string_view text_;
  std::optional<AlignedText> written_;
};

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string bytes, SentencePieceEnds ends, const std::string& source)
      : bytes_(std::move(bytes)),
        ends_(ends),
        file_(read_sentence_piece_file(bytes_, source)),
        marks_(tree_of(file_, {Type::unknown, Type::control, Type::byte})),
        texts_(tree_of(file_, {Type::normal, Type::user_defined, Type::unused})),
        normalizer_(file_.normalizer, file_.whitespace_as_suffix ? SpaceAt::suffix : SpaceAt::prefix,
                    tree_of(file_, {Type::user_defined}), source + ": normalizer_spec"),
        model_(sentence_piece_model(file_)),
        decoder_(file_, source) {
    const auto control = [&](bool wanted, const std::string& piece) -> std::optional<std::int32_t> {
      const auto id = find(piece);
      if (id && type_of(*id) == Type::control) return id;
      if (wanted) throw Error(source + ": expected a control piece " + piece + " to put around texts, got none");
      return std::nullopt;
    };
    bos_ = control(ends.bos, file_.bos);
    eos_ = control(ends.eos, file_.eos);
  }

  [[nodiscard]] std::int64_t size() const noexcept override { return static_cast<std::int64_t>(file_.pieces.size()); }
  [[nodiscard]] const std::string& piece(std::int32_t id) const override {
    if (id < 0 || id >= size()) {
      throw InvalidArgument("Tokenizer::piece", "id", "from 0 to " + std::to_string(size() - 1), std::to_string(id));
    }
    return file_.pieces[static_cast<std::size_t>(id)].text;
  }
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept override {
    const auto mark = marks_.find(piece);
    return mark ? mark : texts_.find(piece);
  }
  [[nodiscard]] std::map<std::string, std::string> config() const override {
    return {{"kind", kSentencePieceKind},
            {"model", to_base64(bytes_)},
            {"add_bos_token", ends_.bos ? "true" : "false"},
            {"add_eos_token", ends_.eos ? "true" : "false"}};
  }

 private:
  using Type = SentencePieceType;
  [[nodiscard]] Type type_of(std::int32_t id) const noexcept { return file_.pieces[static_cast<std::size_t>(id)].type; }

  [[nodiscard]] Encoding encode_text(std::string_view text, const EncodeOptions& options) const override {
    Encoding all;
    add(all, text, TokenSource::text, options.special);
    if (options.pair) add(all, *options.pair, TokenSource::pair, options.special);
    return all;
  }

  void add(Encoding& all, std::string_view text, TokenSource source, SpecialTokens special) const {
    require_short(text);
    const bool with = special == SpecialTokens::with;
    const auto push_end = [&](std::int32_t id) {
      all.ids.push_back(id);
      all.offsets.emplace_back();
      all.sources.push_back(TokenSource::added);
    };
    if (with && ends_.bos) push_end(*bos_);
    add_tokens(all, text);
    all.sources.resize(all.ids.size(), source);
    if (with && ends_.eos) push_end(*eos_);
    all.types.resize(all.ids.size(), source == TokenSource::pair ? 1 : 0);
  }

  void add_tokens(Encoding& all, std::string_view text) const {
    const ValidText valid(text);
    const SentencePieceText made = normalizer_.apply(valid.text());
    std::vector<SubwordToken> tokens;
    model_->cut(made.text, tokens);
    all.ids.reserve(all.ids.size() + tokens.size());
    all.offsets.reserve(all.offsets.size() + tokens.size());
    const std::size_t first = all.ids.size();
    bool was_unknown = false;
    for (const SubwordToken& token : tokens) {
      const TextRange range = valid.origin(made.origins[token.begin], made.origins[token.end]);
      const bool is_unknown = token.id == kNoPiece;
      if (is_unknown && file_.byte_fallback) {
        add_bytes(all, std::string_view(made.text).substr(token.begin, token.end - token.begin), range);
      } else if (is_unknown && was_unknown) {
        all.offsets.back().end = range.end;
      } else {
        all.ids.push_back(is_unknown ? *file_.unknown : token.id);
        all.offsets.push_back(range);
      }
      was_unknown = is_unknown;
    }
    if (file_.byte_fallback) give_bytes_a_place(all, first);
  }

  void add_bytes(Encoding& all, std::string_view text, TextRange range) const {
    for (const char byte : text) {
      all.ids.push_back(file_.bytes[static_cast<unsigned char>(byte)]);
      all.offsets.push_back(range);
    }
  }

  // A character that a table put in has no bytes of its own: it goes with what follows.
  void give_bytes_a_place(Encoding& all, std::size_t first) const {
    for (std::size_t n = all.ids.size(); n-- > first + 1;) {
      TextRange& range = all.offsets[n - 1];
      if (range.begin == range.end && type_of(all.ids[n - 1]) == Type::byte) range = all.offsets[n];
    }
  }

  [[nodiscard]] std::string decode_ids(std::span<const std::int32_t> ids, SpecialTokens special) const override {
    std::string text;
    std::vector<std::int32_t> held;
    for (const std::int32_t id : ids) {
      const std::string& shown = piece(id);
      if (special == SpecialTokens::without || type_of(id) != Type::control) {
        held.push_back(id);
        continue;
      }
      text += decoder_.text_of(held) + shown;
      held.clear();
    }
    return text + decoder_.text_of(held);
  }

  std::string bytes_;
  SentencePieceEnds ends_;
  SentencePieceFile file_;
  PieceTree marks_;  // which may have the text of a piece that stands in texts
  PieceTree texts_;
  SentencePieceNormalizer normalizer_;
  SentencePieceModelPtr model_;
  SentencePieceDecoder decoder_;
  std::optional<std::int32_t> bos_;
  std::optional<std::int32_t> eos_;
};

}  // namespace

std::shared_ptr<const Tokenizer> read_sentence_piece(std::string model, SentencePieceEnds ends,
                                                     const std::string& source) {
  return std::make_shared<SentencePieceTokenizer>(std::move(model), ends, source);
}

std::shared_ptr<const Tokenizer> sentence_piece_of(const std::map<std::string, std::string>& config) {
  constexpr const char* kFunction = "make_tokenizer";
  const auto word = [&](const char* name) {
    const auto found = config.find(name);
    if (found == config.end()) throw InvalidArgument(kFunction, name, "a value", "none");
    return found->second;
  };
  std::optional<std::string> model = from_base64(word("model"));
  if (!model) throw InvalidArgument(kFunction, "model", "base64", "another text");
  const SentencePieceEnds ends{.bos = word("add_bos_token") == "true", .eos = word("add_eos_token") == "true"};
  return read_sentence_piece(std::move(*model), ends, std::string(kFunction) + ": model");
}

}  // namespace qkv::text
