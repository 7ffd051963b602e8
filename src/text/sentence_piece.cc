#include "text/sentence_piece.h"

#include <algorithm>
#include <optional>

#include "qkv/error.h"
#include "text/aligned_text.h"
#include "text/base64.h"
#include "text/characters.h"
#include "text/clean_up.h"
#include "text/saved_words.h"
#include "text/sentence_piece_decoder.h"
#include "text/sentence_piece_file.h"
#include "text/sentence_piece_model.h"
#include "text/sentence_piece_normalizer.h"
#include "text/siglip_text.h"
#include "text/valid_text.h"

namespace qkv::text {
namespace {

using SpaceAt = SentencePieceNormalizer::Space;

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string bytes, SentencePieceFile file, const SentencePieceOptions& options,
                         const std::string& source)
      : bytes_(std::move(bytes)),
        options_(options),
        file_(std::move(file)),
        marks_(tree_of(file_, {Type::unknown, Type::control, Type::byte})),
        texts_(tree_of(file_, {Type::normal, Type::user_defined, Type::unused})),
        normalizer_(file_.normalizer, space_of(file_), tree_of(file_, {Type::user_defined}),
                    source + ": normalizer_spec"),
        model_(sentence_piece_model(file_)),
        decoder_(file_, source),
        added_(not_normalized(options.added), nullptr),
        size_(static_cast<std::int64_t>(file_.pieces.size())) {
    for (const AddedToken& token : added_.all()) {
      if (!added_pieces_.find(token.content)) added_pieces_.set(token.id, token.content);
      size_ = std::max<std::int64_t>(size_, token.id + 1);
    }
    if ((options.blank_once || options.blank_if_none) && file_.normalizer.add_dummy_prefix) {
      SentencePieceRules rules = file_.normalizer;
      rules.add_dummy_prefix = false;
      within_.emplace(rules, space_of(file_), tree_of(file_, {Type::user_defined}), source + ": normalizer_spec");
    }
    if (options.cleaning != TextCleaning::none) unknown_length_ = pieces_of(unknown_text()).size();
    bos_ = control(options.ends.bos, file_.bos, source);
    eos_ = control(options.ends.eos, file_.eos, source);
  }

  [[nodiscard]] std::int64_t size() const noexcept override { return size_; }
  [[nodiscard]] const std::string& piece(std::int32_t id) const override {
    if (id < 0 || id >= size()) {
      throw InvalidArgument("Tokenizer::piece", "id", "from 0 to " + std::to_string(size() - 1), std::to_string(id));
    }
    if (is_of_file(id)) return file_.pieces[static_cast<std::size_t>(id)].text;
    static const std::string kGap;
    const AddedToken* const token = added_.find(id);
    return token == nullptr ? kGap : token->content;
  }
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept override {
    if (piece.empty()) return std::nullopt;
    if (const auto added = added_pieces_.find(piece)) return added;
    const auto mark = marks_.find(piece);
    return mark ? mark : texts_.find(piece);
  }
  [[nodiscard]] std::map<std::string, std::string> config() const override {
    return {{"kind", kSentencePieceKind}, {"model", to_base64(bytes_)}, {"options", text_of(options_)}};
  }

 private:
  using Type = SentencePieceType;
  [[nodiscard]] static SpaceAt space_of(const SentencePieceFile& file) noexcept {
    return file.whitespace_as_suffix ? SpaceAt::suffix : SpaceAt::prefix;
  }
  // There is no normaliser here that gives back a text to look in.
  [[nodiscard]] static std::vector<AddedToken> not_normalized(std::vector<AddedToken> tokens) {
    for (AddedToken& token : tokens) token.normalized = false;
    return tokens;
  }
  [[nodiscard]] bool is_of_file(std::int32_t id) const noexcept {
    return id < static_cast<std::int64_t>(file_.pieces.size());
  }
  [[nodiscard]] Type type_of(std::int32_t id) const noexcept { return file_.pieces[static_cast<std::size_t>(id)].type; }
  [[nodiscard]] std::optional<std::int32_t> control(bool wanted, const std::string& piece,
                                                    const std::string& source) const {
    const auto id = find(piece);
    if (id && (!is_of_file(*id) || type_of(*id) == Type::control)) return id;
    if (wanted) throw FileError(source, "expected a control piece " + piece + " to put around texts, got none");
    return std::nullopt;
  }

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
    const bool has_eos_before = options_.eos_before_pair && source == TokenSource::pair;
    if (with && options_.ends.bos) push_end(has_eos_before ? *eos_ : *bos_);
    const std::size_t first = all.ids.size();
    if (options_.cleaning == TextCleaning::none) {
      add_tokens(all, text);
    } else {
      add_cleaned(all, text);
    }
    all.sources.resize(all.ids.size(), source);
    // SigLIP's tokenizer leaves a text that ends with </s> as it is.
    const bool has_end = options_.cleaning != TextCleaning::none && all.ids.size() > first && all.ids.back() == eos_;
    if (with && options_.ends.eos && !has_end) push_end(*eos_);
    const bool is_second = source == TokenSource::pair && options_.order == PieceOrder::of_file;
    all.types.resize(all.ids.size(), is_second ? 1 : 0);
  }

  void add_tokens(Encoding& all, std::string_view text) const {
    const ValidText valid(text);
    for (const AddedTokens::Found& part : added_.cover(valid.text())) {
      if (part.token != nullptr) {
        all.ids.push_back(part.token->id);
        all.offsets.push_back(valid.origin(part.begin, part.end));
        continue;
      }
      const std::string_view own = valid.text().substr(part.begin, part.end - part.begin);
      const bool gets_none =
          (options_.blank_once && part.begin > 0) || (options_.blank_if_none && own.starts_with(' '));
      const SentencePieceText made = (within_ && gets_none ? *within_ : normalizer_).apply(own);
      std::vector<SubwordToken> tokens;
      model_->cut(made.text, tokens);
      add_part(all, made.text, tokens, [&](const SubwordToken& token) {
        return valid.origin(part.begin + made.origins[token.begin], part.begin + made.origins[token.end]);
      });
    }
  }

  // SigLIP's own way: what lies between added tokens is cleaned, and cut behind an unknown token, which is dropped.
  void add_cleaned(Encoding& all, std::string_view text) const {
    const AlignedText whole(text, 0, text.size());
    const std::size_t first = all.ids.size();
    const std::string unknown = unknown_text();
    std::size_t of_first = 0;  // tokens of the first part
    bool is_first = true;
    const std::vector<AddedTokens::Found> parts = added_.cover(whole.text());
    for (const AddedTokens::Found& part : parts) {
      if (part.token != nullptr) {
        all.ids.push_back(part.token->id);
        const OriginalRange range = whole.origin(part.begin, part.end);
        all.offsets.push_back({.begin = range.begin, .end = range.end});
      } else {
        const bool lowers = options_.cleaning == TextCleaning::siglip;
        const AlignedText clean = siglip_text(whole, part.begin, part.end, lowers, is_first);
        std::vector<SubwordToken> tokens;
        const SentencePieceText made = normalizer_.apply(unknown + clean.text());
        model_->cut(made.text, tokens);
        tokens.erase(tokens.begin(),
                     tokens.begin() + static_cast<std::ptrdiff_t>(std::min(unknown_length_, tokens.size())));
        add_part(all, made.text, tokens, [&](const SubwordToken& token) {
          const auto place = [&](std::uint32_t at) {
            return std::max<std::size_t>(at, unknown.size()) - unknown.size();
          };
          const std::size_t begin = place(made.origins[token.begin]);
          const std::size_t end = std::min(place(made.origins[token.end]), clean.size());
          if (begin >= end) return TextRange{.begin = text.size(), .end = text.size()};
          const OriginalRange range = clean.origin(begin, end);
          return TextRange{.begin = range.begin, .end = range.end};
        });
      }
      if (is_first) of_first = all.ids.size() - first;
      is_first = false;
    }
    const bool begins_with_token = parts.size() > 1 && parts[0].token == nullptr && parts[1].token != nullptr;
    if (!begins_with_token || !parts[1].token->special || of_first != 1 || piece(all.ids[first]) != kBlankMark) return;
    all.ids.erase(all.ids.begin() + static_cast<std::ptrdiff_t>(first));
    all.offsets.erase(all.offsets.begin() + static_cast<std::ptrdiff_t>(first));
  }

  [[nodiscard]] std::string unknown_text() const { return file_.unknown ? piece(*file_.unknown) : "<unk>"; }
  [[nodiscard]] std::vector<SubwordToken> pieces_of(const std::string& text) const {
    const SentencePieceText made = normalizer_.apply(text);
    std::vector<SubwordToken> tokens;
    model_->cut(made.text, tokens);
    return tokens;
  }

  template <class RangeOf>
  void add_part(Encoding& all, std::string_view made, const std::vector<SubwordToken>& tokens,
                const RangeOf& range_of) const {
    all.ids.reserve(all.ids.size() + tokens.size());
    all.offsets.reserve(all.offsets.size() + tokens.size());
    const std::size_t first = all.ids.size();
    bool was_unknown = false;
    for (const SubwordToken& token : tokens) {
      const TextRange range = range_of(token);
      const bool is_unknown = token.id == kNoPiece;
      if (is_unknown && file_.byte_fallback) {
        add_bytes(all, made.substr(token.begin, token.end - token.begin), range);
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
    bool is_first = true;  // a blank at the begin of what follows goes
    const auto flush = [&] {
      text += decoder_.text_of(held, is_first);
      held.clear();
    };
    for (const std::int32_t id : ids) {
      const std::string& shown = piece(id);
      const AddedToken* const token = added_.find(id);
      const bool is_control = is_of_file(id) && type_of(id) == Type::control;
      const bool is_special = is_control || (token != nullptr && token->special);
      const bool is_hidden = special == SpecialTokens::without && is_special;
      if (is_of_file(id) && (is_control ? is_hidden : token == nullptr)) {
        held.push_back(id);
        continue;
      }
      flush();
      is_first = is_hidden ? is_first && text.empty() : token == nullptr;
      if (!is_hidden) text += shown;
    }
    flush();
    if (options_.cleans_up) clean_up(text);
    return text;
  }

  std::string bytes_;
  SentencePieceOptions options_;
  SentencePieceFile file_;
  PieceTree marks_;  // which may have the text of a piece that stands in texts
  PieceTree texts_;
  SentencePieceNormalizer normalizer_;
  std::optional<SentencePieceNormalizer> within_;  // for what follows an added token
  SentencePieceModelPtr model_;
  SentencePieceDecoder decoder_;
  AddedTokens added_;
  PieceTable added_pieces_;  // texts of added tokens
  std::int64_t size_;
  std::size_t unknown_length_ = 0;
  std::optional<std::int32_t> bos_;
  std::optional<std::int32_t> eos_;
};

}  // namespace

std::shared_ptr<const Tokenizer> read_sentence_piece(std::string model, const SentencePieceOptions& options,
                                                     const std::string& source) {
  SentencePieceFile file = with_order(read_sentence_piece_file(model, source), options.order, source);
  return std::make_shared<SentencePieceTokenizer>(std::move(model), std::move(file), options, source);
}

std::shared_ptr<const Tokenizer> read_sentence_piece(std::string model, const FilesBeside& files,
                                                     const std::string& source) {
  SentencePieceFile file = read_sentence_piece_file(model, source);
  const SentencePieceOptions options = options_beside(file, files);
  file = with_order(std::move(file), options.order, source);
  return std::make_shared<SentencePieceTokenizer>(std::move(model), std::move(file), options, source);
}

std::shared_ptr<const Tokenizer> sentence_piece_of(const std::map<std::string, std::string>& config) {
  std::string model = saved_bytes(config, "model");
  const std::string source = std::string(kMakeTokenizer) + ": model";
  if (config.contains("options")) {
    const std::string place = std::string(kMakeTokenizer) + ": options";
    return read_sentence_piece(std::move(model), options_from(saved_word(config, "options"), place), source);
  }
  const SentencePieceEnds ends{.bos = saved_word(config, "add_bos_token") == "true",
                               .eos = saved_word(config, "add_eos_token") == "true"};
  return read_sentence_piece(std::move(model), SentencePieceOptions{.ends = ends}, source);
}

}  // namespace qkv::text
