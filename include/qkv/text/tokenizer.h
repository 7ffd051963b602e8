// Text to tokens and back: what every tokenizer can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// The bytes [begin, end) of a text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const TextRange&, const TextRange&) = default;
};

/// Where a token comes from.
enum class TokenSource : std::uint8_t {
  text,
  pair,   // the second text
  added,  // neither: a special token such as "[CLS]" that the tokenizer's template puts in
};

/// A text, or two, as tokens, and the bytes that each of them stands for. All lists have the length of ids.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<TextRange> offsets;   // bytes of the text that `sources` names; {0, 0} of tokens that were added
  std::vector<std::int32_t> types;  // which segment the token is of, as the template says (BERT's token type ids)
  std::vector<TokenSource> sources;
};

/// Whether special tokens are there: those of a template in encode(), any in decode().
enum class SpecialTokens : std::uint8_t { with, without };

struct EncodeOptions {
  SpecialTokens special = SpecialTokens::with;
  std::optional<std::string_view> pair = std::nullopt;  // a second text, such as the answer to a question
};

/// A list of pieces, numbered from 0, and a rule that cuts texts into them. Immutable: any thread may use it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// How many pieces there are.
  [[nodiscard]] virtual std::int64_t size() const noexcept = 0;
  /// Throws InvalidArgument unless 0 <= id < size().
  [[nodiscard]] virtual const std::string& piece(std::int32_t id) const = 0;
  /// The bytes of text that a piece stands for by itself: those behind a byte-level piece ("Ġcat" is " cat"), of any
  /// other its own. Throws as piece().
  [[nodiscard]] virtual std::string bytes(std::int32_t id) const { return piece(id); }
  /// The token of a whole piece.
  [[nodiscard]] virtual std::optional<std::int32_t> find(std::string_view piece) const noexcept = 0;
  /// The tokens of a text. Throws Error, or InvalidArgument, for a part that is no piece if there is no token for what
  /// is unknown; Vocabulary throws InvalidArgument for bytes that are no UTF-8 and for a pair.
  [[nodiscard]] Encoding encode(std::string_view text, const EncodeOptions& options = {}) const {
    return encode_text(text, options);
  }
  /// The text of the tokens. Throws as piece().
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids,
                                   SpecialTokens special = SpecialTokens::without) const {
    return decode_ids(ids, special);
  }
  /// All of it in words for a file, "kind" among them: the counterpart of make_tokenizer().
  [[nodiscard]] virtual std::map<std::string, std::string> config() const = 0;

  /// find(), or InvalidArgument with the nearest piece.
  [[nodiscard]] std::int32_t id(std::string_view piece) const;

  /// Fills the end of shorter texts in a batch.
  static constexpr std::int32_t kPadding = 0;

 protected:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = default;
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;

 private:
  [[nodiscard]] virtual Encoding encode_text(std::string_view text, const EncodeOptions& options) const = 0;
  [[nodiscard]] virtual std::string decode_ids(std::span<const std::int32_t> ids, SpecialTokens special) const = 0;
};

/// A token for people: its bytes as UTF-8 on one line, a space as "␣", a line end as "⏎", other control characters and
/// what is no UTF-8 as "<0x0A>". Throws as Tokenizer::piece().
[[nodiscard]] std::string shown_token(const Tokenizer& tokenizer, std::int32_t id);

/// The same pieces under the same numbers.
[[nodiscard]] bool have_same_pieces(const Tokenizer& a, const Tokenizer& b);

/// The tokenizer of these words. Throws InvalidArgument naming the word that is missing or has no meaning.
[[nodiscard]] std::shared_ptr<const Tokenizer> make_tokenizer(const std::map<std::string, std::string>& config);

}  // namespace qkv
