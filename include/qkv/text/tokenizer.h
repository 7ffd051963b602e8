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

/// A text as tokens, and the bytes that each of them stands for.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<TextRange> offsets;  // as many as ids
};

/// A list of pieces, numbered from 0, and a rule that cuts texts into them. Immutable: any thread may use it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// How many pieces there are.
  [[nodiscard]] virtual std::int64_t size() const noexcept = 0;
  /// Throws InvalidArgument unless 0 <= id < size().
  [[nodiscard]] virtual const std::string& piece(std::int32_t id) const = 0;
  /// The token of a whole piece.
  [[nodiscard]] virtual std::optional<std::int32_t> find(std::string_view piece) const noexcept = 0;
  /// The tokens of a text in UTF-8. Throws InvalidArgument for other bytes and, if there is no token for what is
  /// unknown, for a part that is no piece; the message names it and the piece that is nearest.
  [[nodiscard]] virtual Encoding encode(std::string_view text) const = 0;
  /// The text of the tokens. Throws as piece().
  [[nodiscard]] virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
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
};

/// The same pieces under the same numbers.
[[nodiscard]] bool have_same_pieces(const Tokenizer& a, const Tokenizer& b);

/// The tokenizer of these words. Throws InvalidArgument naming the word that is missing or has no meaning.
[[nodiscard]] std::shared_ptr<const Tokenizer> make_tokenizer(const std::map<std::string, std::string>& config);

}  // namespace qkv
