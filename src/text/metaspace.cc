// Pre-tokenisers that write a text anew: bytes as characters (GPT-2) and spaces as "▁" (SentencePiece).
#include "text/byte_level.h"
#include "text/pre_tokenizer.h"

namespace qkv::text {
namespace {

class ByteLevelPieces final : public PreTokenizer {
 public:
  ByteLevelPieces(bool add_prefix_space, bool use_regex, const std::string& place)
      : add_prefix_space_(add_prefix_space) {
    if (use_regex) pattern_.emplace(kGpt2Pattern, place);
  }

  void apply(Pieces& pieces) const override {
    if (add_prefix_space_) {
      rewrite_pieces(pieces, [&](AlignedText& changed, const Piece& piece) {
        if (!pieces.text_of(piece).starts_with(' ')) changed.append(" ", pieces.text.origin(piece.begin));
        changed.append(pieces.text, piece.begin, piece.end);
      });
    }
    if (pattern_) {
      cut_pieces(pieces, SplitBehavior::isolated,
                 [&](std::string_view text, std::vector<Part>& parts) { pattern_->find_all(text, parts); });
    }
    rewrite_pieces(pieces, [&](AlignedText& changed, const Piece& piece) {
      append_byte_level(changed, pieces.text, piece.begin, piece.end);
    });
  }

 private:
  bool add_prefix_space_;
  std::optional<Regex> pattern_;
};

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(const MetaspaceOptions& options) : options_(options), replacement_(to_utf8(options.replacement)) {}

  void apply(Pieces& pieces) const override {
    rewrite_pieces(pieces, [&](AlignedText& changed, const Piece& piece) {
      const std::string_view text = pieces.text_of(piece);
      const bool has_one = text.starts_with(' ') || text.starts_with(replacement_);
      if (!has_one && wants_one(pieces.text.origin(piece.begin))) {
        changed.append(replacement_, pieces.text.origin(piece.begin));
      }
      for (std::size_t n = 0; n < text.size(); ++n) {
        const std::size_t at = piece.begin + n;
        const std::string_view byte = text[n] == ' ' ? std::string_view(replacement_) : text.substr(n, 1);
        changed.append(byte, pieces.text.origin(at));
      }
    });
    if (!options_.split) return;
    cut_pieces(pieces, SplitBehavior::merged_with_next, [&](std::string_view text, std::vector<Part>& parts) {
      find_characters(text, parts, [&](char32_t c) { return c == options_.replacement; });
    });
  }

 private:
  bool wants_one(OriginalRange first) const noexcept {
    return options_.prepend == PrependScheme::always || (options_.prepend == PrependScheme::first && first.begin == 0);
  }

  MetaspaceOptions options_;
  std::string replacement_;
};

}  // namespace

PreTokenizerPtr read_byte_level(const JsonField& field) {
  field.require_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  const auto use_regex = field.find("use_regex");
  static_cast<void>(field.at("trim_offsets").boolean());  // is for the post-processor of this name
  return std::make_shared<ByteLevelPieces>(field.at("add_prefix_space").boolean(), !use_regex || use_regex->boolean(),
                                           field.place());
}

MetaspaceOptions read_metaspace_options(const JsonField& field) {
  field.require_only({"type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split"});
  MetaspaceOptions options{.replacement = field.at("replacement").character()};
  if (const auto scheme = field.find("prepend_scheme")) {
    const std::string name = scheme->string();
    if (name != "always" && name != "first" && name != "never") scheme->fail("always, first or never");
    options.prepend = name == "always"  ? PrependScheme::always
                      : name == "first" ? PrependScheme::first
                                        : PrependScheme::never;
  }
  const auto add_prefix_space = field.find("add_prefix_space");
  if (add_prefix_space && !add_prefix_space->boolean()) {
    const bool disagrees = field.find("prepend_scheme") && options.prepend != PrependScheme::never;
    if (disagrees) add_prefix_space->fail("true beside a prepend_scheme that is not never");
    options.prepend = PrependScheme::never;
  }
  if (const auto split = field.find("split")) options.split = split->boolean();
  return options;
}

PreTokenizerPtr read_metaspace(const JsonField& field) {
  return std::make_shared<Metaspace>(read_metaspace_options(field));
}

}  // namespace qkv::text
